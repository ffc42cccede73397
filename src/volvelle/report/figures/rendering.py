"""A chart as an SVG text that is the same whenever it is made, or as PNG."""

import hashlib
import re
from pathlib import Path
from xml.etree import ElementTree

from volvelle.report.figures.engine import Chart, vega_png, vega_svg
from volvelle.report.figures.theme import FONT, dark_rules

_SPACE = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", _SPACE)
_NUMBER = re.compile(r"-?\d+\.\d{2,}(?:e-?\d+)?")
_GEOMETRY = ("d", "transform", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "viewBox", "stroke-width")
_MOVED = re.compile(r"translate\(([-\d.]+),([-\d.]+)\)")
_MANY = 200
"""Marks of a group from which on their shapes are drawn once."""
_INHERITED = ("stroke", "stroke-width", "fill-opacity", "stroke-opacity", "font-size", "font-weight", "text-anchor")
_DROPPED = ("class", "role", "aria-hidden", "aria-roledescription", "aria-label", "pointer-events", "font-family")


def svg(chart: Chart, *, themed: bool = True) -> str:
    """The picture; `themed` adds what makes it dark on a dark screen, for a file of its own."""
    said = chart.to_dict(validate=False)
    root = ElementTree.fromstring(vega_svg(said))
    _tidy(root, in_page=not themed)
    title = str(said["usermeta"]["title"])
    root.set("role", "img")
    root.set("aria-label", title)
    root.set("font-family", FONT)
    described = ElementTree.Element(f"{{{_SPACE}}}desc")
    described.text = str(said.get("description", title))
    root.insert(0, described)
    text = _named_by_content(ElementTree.tostring(root, encoding="unicode"))
    if themed:
        text = re.sub(r"<desc>", lambda found: f"<style>{dark_rules(text)}</style>{found.group()}", text, count=1)
    # A line for each group, so that a change of one mark is a change of one line.
    return re.sub(r"(</g>|</desc>)", "\\1\n", text) + "\n"


def save(chart: Chart, file: Path) -> None:
    """Write a picture; its file's name ends in .svg or .png."""
    if file.suffix == ".png":
        file.write_bytes(vega_png(svg(chart, themed=False), scale=2.0))
    else:
        file.write_text(svg(chart), "utf-8")


def _tidy(element: ElementTree.Element, *, in_page: bool) -> None:
    """Without what draws nothing, what pointers read as titles, and coordinates to a tenth of a pixel.

    In a page its script finds legends by a mark.
    """
    if in_page and "role-legend-symbol" in element.attrib.get("class", ""):
        element.set("data-legend", "")
    for child in list(element):
        _tidy(child, in_page=in_page)
        if _draws_nothing(child):
            element.remove(child)
    tells = element.attrib.get("aria-label") if element.attrib.get("role") == "graphics-symbol" else None
    for name in _DROPPED:
        element.attrib.pop(name, None)
    for name in _GEOMETRY:
        if name in element.attrib:
            element.set(name, _NUMBER.sub(lambda found: f"{float(found.group()):.1f}", element.attrib[name]))
    if in_page and len(element) > 1:
        _hoist(element)
        if len(element) >= _MANY:
            _drawn_once(element)
    if element.attrib.get("opacity") == "1":
        del element.attrib["opacity"]
    if tells and not len(element) and element.tag != f"{{{_SPACE}}}g":
        ElementTree.SubElement(element, f"{{{_SPACE}}}title").text = tells


def _hoist(group: ElementTree.Element) -> None:
    """What all marks of a group have in common is said once, by the group."""
    for name in _INHERITED:
        values = {child.attrib.get(name) for child in group}
        value = next(iter(values))
        if len(values) == 1 and value is not None and name not in group.attrib:
            group.set(name, value)
            for child in group:
                del child.attrib[name]


def _drawn_once(group: ElementTree.Element) -> None:
    """Shapes of many marks are drawn once and used by each, which halves a picture of a thousand marks."""
    shapes: dict[str, str] = {}
    defined = ElementTree.Element(f"{{{_SPACE}}}defs")
    for mark in group:
        moved = _MOVED.fullmatch(mark.attrib.get("transform", ""))
        if mark.tag != f"{{{_SPACE}}}path" or moved is None:
            continue
        shape = mark.attrib.pop("d")
        if shape not in shapes:
            shapes[shape] = f"shape{len(shapes)}"
            ElementTree.SubElement(defined, f"{{{_SPACE}}}path", {"id": shapes[shape], "d": shape})
        del mark.attrib["transform"]
        mark.tag = f"{{{_SPACE}}}use"
        mark.attrib = {"href": f"#{shapes[shape]}", "x": moved[1], "y": moved[2], **mark.attrib}
    if shapes:
        group.insert(0, defined)


def _draws_nothing(element: ElementTree.Element) -> bool:
    kind = element.tag.removeprefix(f"{{{_SPACE}}}")
    if element.attrib.get("display") == "none" or element.attrib.get("opacity") == "0":
        return True
    if kind == "path":
        return element.attrib.get("d", "") in ("", "M0,0h0v0h0Z") or not {"fill", "stroke"} & set(element.attrib)
    return kind in ("g", "text") and not len(element) and not element.text


def _named_by_content(text: str) -> str:
    """Identifiers that do not depend on how many pictures were made before, and differ between pictures of a page."""
    names = {name: place for place, name in enumerate(dict.fromkeys(re.findall(r'id="([^"]+)"', text)))}
    for name, place in names.items():
        text = re.sub(rf'(id="|url\(#|href="#){re.escape(name)}(?=["\)])', rf"\g<1>@{place}", text)
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return re.sub(r'(id="|url\(#|href="#)@(?=\d+["\)])', rf"\g<1>v{mark}-", text)
