"""Where long names in code may be broken across lines: a hook of mkdocs.

Browsers break code anywhere, or after a hyphen, so `--lr` loses its hyphens and the name of a test
is cut in the middle of a word. Here a name may be broken after `_`, `/`, `=` and `:`, before the
dots of a setting such as `training.optimizer.name`, and a short word with a hyphen in it, such as a
flag, stays whole.
"""

import re
from typing import Any

BLOCK = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
CODE = re.compile(r"<code>(.*?)</code>", re.DOTALL)
BREAK = re.compile(r"(?<=\w)(_|/|=|::?)(?=\w)")
DOTTED = re.compile(r"[a-z_]+(?:\.[a-z_]+){2,}")
"""At least two dots: the one before the ending of a file's name is no place to break."""
HYPHENATED = re.compile(r"\S*-\S*")
LONGEST = 24
"""A longer word may be broken after its hyphens."""


def wrapped(code: str) -> str:
    """Return a piece of code with the places where it may, and may not, be broken."""
    dotted = DOTTED.sub(lambda name: name[0].replace(".", "<wbr>."), HYPHENATED.sub(_whole, code))
    return BREAK.sub(r"\1<wbr>", dotted)


def _whole(found: re.Match[str]) -> str:
    word = found[0]
    return word if len(word) > LONGEST else f'<span class="whole">{word}</span>'


def on_page_content(html: str, **_: Any) -> str:
    """Mark the code in sentences and tables, but not blocks of code."""
    parts = BLOCK.split(html)
    parts[::2] = [
        CODE.sub(lambda found: f"<code>{wrapped(found[1])}</code>", text) for text in parts[::2]
    ]
    return "".join(parts)
