r"""Formulas in the manual, as MathML: a hook of mkdocs.

A page writes `$$…$$` on lines of its own, or `$…$` within a sentence, in a small part of LaTeX.
Every browser draws MathML by itself, so the site loads no script for it, works offline, and follows
the colors of the page. A command that is not in the tables below is an error.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^\$\$\n?(.+?)\n?\$\$$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<![\w$\\])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\w$])")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9.]+|[A-Za-z]|\S")
LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "lambda": "λ", "mu": "μ", "sigma": "σ",
    "theta": "θ", "tau": "τ", "Sigma": "Σ", "ell": "ℓ", "infty": "∞",
}  # fmt: skip
OPERATORS = {
    "cdot": "·", "times": "×", "in": "∈", "le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "to": "→",
    "sum": "∑", "top": "⊤", "ldots": "…", "sim": "∼", "pm": "±", "mid": "|", "quad": "\u2003",
    ",": "\u2009", "{": "{", "}": "}", "|": "‖",
}  # fmt: skip
FUNCTIONS = ("exp", "log", "ln", "max", "min")


def mathml(latex: str, *, block: bool) -> str:
    """Return a formula as a `<math>` element."""
    display = ' display="block"' if block else ""
    return f"<math{display}>{_row(iter(TOKEN.findall(latex)), until=None)}</math>"


def _row(tokens: Iterator[str], *, until: str | None) -> str:
    """Read tokens up to a closing one; scripts belong to what stands before them."""
    parts: list[str] = []
    scripts: dict[str, str] = {}
    for token in tokens:
        if token == until:
            until = None
            break
        if token in "_^":
            if not parts:
                raise ValueError(f"a formula begins with {token!r}")
            scripts[token] = _argument(tokens)
            continue
        _attach(parts, scripts)
        parts.append(_part(token, tokens))
    if until is not None:
        raise ValueError(f"a formula lacks {until!r}")
    _attach(parts, scripts)
    return f"<mrow>{''.join(parts)}</mrow>"


def _attach(parts: list[str], scripts: dict[str, str]) -> None:
    if not scripts:
        return
    kind = {"_": "sub", "^": "sup", "_^": "subsup"}["".join(sorted(scripts, reverse=True))]
    under = "∑" in parts[-1]
    name = {"sub": "munder", "sup": "mover", "subsup": "munderover"}[kind] if under else f"m{kind}"
    inner = "".join(scripts[mark] for mark in "_^" if mark in scripts)
    parts[-1] = f"<{name}>{parts[-1]}{inner}</{name}>"
    scripts.clear()


def _argument(tokens: Iterator[str]) -> str:
    token = next(tokens, None)
    if token is None:
        raise ValueError("a formula ends too early")
    return _part(token, tokens)


def _word(tokens: Iterator[str]) -> str:
    assert next(tokens) == "{", "a word stands in braces"
    return "".join(iter(lambda: next(tokens), "}"))


def _part(token: str, tokens: Iterator[str]) -> str:
    if token == "{":
        return _row(tokens, until="}")
    if token[0].isalpha():
        return f"<mi>{token}</mi>"
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    return _command(token[1:], tokens) if token[0] == "\\" else f"<mo>{escape(token)}</mo>"


def _command(name: str, tokens: Iterator[str]) -> str:
    if name == "frac":
        return f"<mfrac>{_argument(tokens)}{_argument(tokens)}</mfrac>"
    if name == "sqrt":
        return f"<msqrt>{_argument(tokens)}</msqrt>"
    if name == "mathbb":
        return f"<mi>{ {'R': 'ℝ', 'N': 'ℕ'}[_word(tokens)] }</mi>"
    if name == "operatorname":
        return f"<mi>{_word(tokens)}</mi><mo>&#8289;</mo>"
    if name in FUNCTIONS:
        return f"<mi>{name}</mi><mo>&#8289;</mo>"
    if name in LETTERS:
        return f"<mi>{LETTERS[name]}</mi>"
    if name in OPERATORS:
        return f"<mo>{OPERATORS[name]}</mo>"
    raise ValueError(f"docs/mathematics.py does not know \\{name}")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the formulas of a page, but not in code."""
    parts = CODE.split(markdown)
    parts[::2] = [
        INLINE.sub(
            lambda found: mathml(found[1], block=False),
            BLOCK.sub(lambda found: mathml(found[1], block=True), text),
        )
        for text in parts[::2]
    ]
    return "".join(parts)
