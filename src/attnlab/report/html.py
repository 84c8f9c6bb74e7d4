"""A document as one self-contained page: no script, no external address, light and dark."""

import re
from collections.abc import Sequence
from html import escape

from attnlab.report.document import Block, Document, Figure, Heading, Sentences, Table
from attnlab.report.figure_output import as_inline_svg, for_a_phone

LONG_CELL = 40
STYLE = """
:root { color-scheme: light dark; --ink: #1a1b1c; --paper: #fdfdfc; --line: #d6d6d2;
        --soft: #f2f2ef; --warn: #a33a2c; --shadow: #0005; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e3; --paper: #17181a; --line: #3a3c40; --soft: #222427; --warn: #ff9a86;
          --shadow: #fff5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
       font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; overflow-wrap: anywhere; }
/* The shadows at the edges stay; the sheets of paper over them scroll with the content and leave
   a shadow bare wherever there is more to scroll to. */
.scroll { overflow-x: auto; background:
    linear-gradient(to right, var(--paper) 40%, transparent) left / 3rem 100% local,
    linear-gradient(to left, var(--paper) 40%, transparent) right / 3rem 100% local,
    linear-gradient(to right, var(--shadow), transparent) left / 1rem 100% scroll,
    linear-gradient(to left, var(--shadow), transparent) right / 1rem 100% scroll;
  background-repeat: no-repeat; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line);
         vertical-align: top; white-space: nowrap; }
td.long { white-space: normal; overflow-wrap: anywhere; min-width: 16rem; }
.scroll + .scroll { margin-top: 1rem; }
.facts th, .facts td { white-space: normal; overflow-wrap: anywhere; min-width: 6rem; }
.facts td:first-child { overflow-wrap: break-word; }
ul { padding-left: 1.2rem; }
li { overflow-wrap: anywhere; }
.warning { border-left: 4px solid var(--warn); background: var(--soft); padding: .5rem 1rem; }
.warning ul { margin: 0; }
figure { margin: 1rem 0; }
figure svg { display: block; max-width: 100%; height: auto; color: var(--ink); }
.phone { display: none; }
figcaption, footer { opacity: .8; }
@media screen and (max-width: 44rem) { .desk { display: none; } .phone { display: block; } }
@media print {
  :root { color-scheme: light; --ink: #000; --paper: #fff; --line: #bbb; --soft: #f4f4f4;
          --warn: #a33a2c; }
  html { font-size: 14px; }  /* every other size follows: 10.5 points on paper */
  body { font-size: 1rem; line-height: 1.4; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; background: none; }
  th, td, td.long { white-space: normal; overflow-wrap: break-word; min-width: 0; }
  td.long { overflow-wrap: anywhere; }
  table { font-size: .85rem; }
  /* a table is not torn apart unless it is longer than a page, and neither is one of its rows */
  figure, table, tr, .warning { break-inside: avoid; }
  h2 { break-after: avoid; } }
"""


def render(document: Document, *, footer: str) -> str:
    """Write the whole page."""
    body = "\n".join(_block(block) for block in document.blocks)
    title = escape(document.title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
<footer>{escape(footer)}</footer>
</main>
</body>
</html>
"""


def _block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"<h2>{escape(text)}</h2>"
        case Sentences(lines, warning):
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            listed = f"<ul>{items}</ul>" if lines else ""
            return f'<div class="warning">{listed}</div>' if warning else listed
        case Table(columns, rows):
            head = "".join(f"<th>{escape(column)}</th>" for column in columns)
            are_facts = len(columns) == 2
            lines = "".join(f"<tr>{(_fact if are_facts else _row)(row)}</tr>\n" for row in rows)
            kind = ' class="facts"' if are_facts else ""
            return (
                f'<div class="scroll" tabindex="0"><table{kind}><thead><tr>{head}</tr></thead>\n'
                f"<tbody>{lines}</tbody></table></div>"
            )
        case Figure(name, caption, figure):
            desk = as_inline_svg(figure, name)
            phone = as_inline_svg(for_a_phone(figure), f"{name}-phone")
            return (
                f'<figure><div class="desk">{desk}</div><div class="phone">{phone}</div>'
                f"<figcaption>{escape(caption)}</figcaption></figure>"
            )


def _row(cells: Sequence[str]) -> str:
    return "".join(map(_cell, cells))


def _fact(cells: Sequence[str]) -> str:
    """Write a key and its value; a long key breaks after a dot or an underscore, not in a word."""
    key, value = cells
    breakable = re.sub(r"([._])", r"\1<wbr>", escape(key))
    return f"<td>{breakable}</td>{_cell(value)}"


def _cell(text: str) -> str:
    long = ' class="long"' if len(text) > LONG_CELL else ""
    return f"<td{long}>{escape(text)}</td>"
