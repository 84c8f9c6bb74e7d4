"""Figures as files and inside a page, where their text has the size of the text around them."""

import copy
import io
import re
import textwrap
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from attnlab.report.figures import INK, STYLE, legend_below, legend_height

PHONE_WIDTH = 3.6
"""Inches; what a screen of 400 pixels leaves between the margins."""
TITLE_LENGTH = 32
"""Characters of a bold title that fit this width."""


def as_png(figure: Figure) -> bytes:
    """Render for a slide or a document, on white."""
    return _render(figure, "png", dpi=160, facecolor="white")


def as_svg(figure: Figure) -> bytes:
    """Render as vectors, on white."""
    return _render(figure, "svg", facecolor="white", metadata={"Date": None})


def as_inline_svg(figure: Figure, name: str) -> str:
    """Render for a page: no background, the page's own ink and font, ids of its own."""
    text = _render(figure, "svg", facecolor="none", metadata={"Date": None}).decode()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"font-family: [^;\"]*", "font-family: inherit", text)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)


def for_a_phone(figure: Figure) -> Figure:
    """Lay a figure out again for a narrow screen: panels below each other, text as large."""
    narrow = copy.deepcopy(figure)
    width, height = figure.get_size_inches()
    if width <= PHONE_WIDTH:
        return narrow
    legends = [(found.legend_handles, found.get_texts()) for found in narrow.legends]
    looks = [look for found, _ in legends for look in found if look]
    names = [text.get_text() for _, found in legends for text in found]
    height -= legend_height(names, width=width)
    narrow.legends.clear()
    places = [axes.get_subplotspec() for axes in narrow.axes]
    if all(place and place.get_gridspec().nrows == 1 for place in places):
        grid = narrow.add_gridspec(len(places), 1)
        for number, axes in enumerate(narrow.axes):
            axes.set_subplotspec(grid[number])
        height *= len(places)
    narrow.set_size_inches(PHONE_WIDTH, height + legend_height(names, width=PHONE_WIDTH))
    with mpl.rc_context(STYLE):
        for axes in narrow.axes:
            axes.set_title(textwrap.fill(axes.get_title(loc="left"), TITLE_LENGTH), loc="left")
        legend_below(narrow, looks, names)
    return narrow


def _render(figure: Figure, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=kind, **options)
    return buffer.getvalue()
