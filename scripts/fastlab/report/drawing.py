# SPDX-License-Identifier: GPL-2.0
"""Style, colours and output formats of all charts.

An inline chart takes ink, grid and ground from the page's theme. The colours of its data are the
same in every theme and in files. A marked element shows its numbers as an SVG title when a reader
points at it. Equal charts give equal bytes.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib
from matplotlib.artist import Artist
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure

# From few threads to many. Each colour is visible on a white page and on a dark one.
RAMP = ("#8ccf9e", "#2f9f9f", "#3f7fc4", "#7a62c9")
# GROUND surrounds a line that crosses other elements, so that it is visible on any colour.
INK, GRID, GROUND = "#1f2328", "#d0d4da", "#fefefe"
_MARK = "mark "

Form = Literal["svg", "png"]

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the layout is the same everywhere
    "font.size": 9,
    "svg.fonttype": "none",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.bottom": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@dataclass(frozen=True)
class Chart:
    """An inline SVG. `note` says how to read it."""

    name: str
    title: str
    svg: str
    note: str = ""


def ramp(count: int, anchors: Sequence[str] = RAMP) -> list[str]:
    """`count` colours, evenly spread over the anchors."""
    colours = LinearSegmentedColormap.from_list("ramp", list(anchors))
    return [to_hex(colours(i / max(count - 1, 1))) for i in range(count)]


def mark(artist: Artist, text: str) -> None:
    """Give a drawn element this tooltip."""
    artist.set_gid(f"{_MARK}{text}")


def render(
    name: str,
    size: tuple[float, float],
    draw: Callable[[Figure], None],
    form: Form,
) -> bytes:
    """The chart as a file. `size` is in inches."""
    # The salt makes the ids of an SVG depend on nothing but the chart; no date is written.
    settings: Any = {**_STYLE, "svg.hashsalt": name}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        out = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, dpi=150, facecolor="white", metadata=metadata)
    if form == "svg":
        return simplified(_titled(out.getvalue().decode())).encode()
    return out.getvalue()


_SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", _SVG[1:-1])
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def simplified(svg: str) -> str:
    """matplotlib's SVG without groups that group nothing, metadata and decimals that are not seen.
    A mark is one line."""
    root = ElementTree.fromstring(svg)
    _simplify(root, set(re.findall(r'#([^")]+)', svg)))
    ElementTree.indent(root, "")
    for mark in root.iter(f"{_SVG}g"):
        if mark.get("class") == "mark":
            for element in mark.iter():
                element.tail = "\n" if element is mark else ""
                element.text = element.text if element.tag == f"{_SVG}title" else ""
    return ElementTree.tostring(root, "unicode") + "\n"


def _simplify(element: ElementTree.Element, referred: set[str]) -> None:
    """Remove ids that nothing refers to, in a subtree, and put what they grouped in their place."""
    children: list[ElementTree.Element] = []
    for child in list(element):
        element.remove(child)
        if child.tag == f"{_SVG}metadata":
            continue
        _simplify(child, referred)
        if child.get("id") not in referred:
            child.attrib.pop("id", None)
        for name in ("d", "x", "y", "transform"):
            if name in child.attrib:
                child.set(name, _rounded(child.attrib[name]))
        if child.get("transform", "").startswith("rotate(-0 "):
            del child.attrib["transform"]
        children += list(child) if child.tag == f"{_SVG}g" and not child.attrib else [child]
    element.extend(children)


def _rounded(numbers: str) -> str:
    """On one line, with a tenth of a point."""
    tenths = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]) + 0.0:.1f}", numbers)
    return " ".join(tenths.split())


def _titled(svg: str) -> str:
    """matplotlib writes the text of mark() as the id of a group; turn it into a title. An element
    that is not painted has a tooltip, too."""
    group = rf"""<g id=(["']){_MARK}(.*?)\1>"""
    titled = r'<g class="mark" pointer-events="all"><title>\2</title>'
    return re.sub(group, titled, svg, flags=re.DOTALL)


def inline(
    name: str,
    title: str,
    size: tuple[float, float],
    draw: Callable[[Figure], None],
    note: str = "",
) -> Chart:
    """The chart as an <svg> element with ids of its own. The page sets its size, and the colours
    INK, GRID and GROUND by CSS variables."""
    return embedded(name, title, render(name, size, draw, "svg").decode(), note)


def embedded(name: str, title: str, file: str, note: str = "") -> Chart:
    """The chart of an SVG file that render() made, as inline() returns it."""
    svg = file[file.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Several charts share a page, and ids must not meet.
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    svg = svg.replace("fill: #ffffff", "fill: none")
    for colour, variable in ((INK, "--ink"), (GRID, "--grid"), (GROUND, "--ground")):
        svg = svg.replace(colour, f"var({variable})")
    return Chart(name, title, svg, note)
