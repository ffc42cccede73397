"""One HTML file that needs no other: light and dark, for a desk, a telephone and paper, with or without scripts.

A policy in its head forbids every request and every script but its own, which is named by its hash.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from html import escape
from importlib import metadata, resources

from volvelle.report.figures.theme import BLUE, FAINT, GREEN, GRID, INK, PAIRS, PAPER, RUST, dark_rules
from volvelle.report.page.parts import Command, Drawing, Grid, Part, Picture, Section, Words
from volvelle.report.sheet import Sheet

_CARD = ("#f5f7f9", "#1a2026")
_COLOURS = {"ink": INK, "faint": FAINT, "rule": GRID, "paper": PAPER, "deep": BLUE, "mark": RUST, "good": GREEN}


def page(
    *, title: str, lead: str = "", sections: Sequence[Section], verb: str = "", command: str = "", ends: str = ""
) -> str:
    """The file; `verb` and `command` say what made it, `ends` stands in its last line."""
    if command:
        again = f"With volvelle {metadata.version('volvelle')} it gives the same figures again."
        last = Section(
            title="The command that made this page", anchor="command", parts=(Command(command), Words(again))
        )
        sections = (*sections, last)
    body = "\n".join(section.html() for section in sections)
    style = _style() + dark_rules(body, within="figure ")
    script = _resource("page.js")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'"
    made = " ".join(word for word in (ends, f"Made by volvelle {metadata.version('volvelle')}.") if word)
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}; form-action \'none\'">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n<header>",
        f'<p class="kicker">{escape(verb)}</p>' if verb else "",
        f"<h1>{escape(title)}</h1>",
        f'<p class="lead">{escape(lead)}</p>' if lead else "",
        f"</header>\n{body}\n<footer>{escape(made)} Every figure is an estimate with the range it states.</footer>",
        f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def picture_and_sheets(picture: Drawing | None, sheets: Sequence[Sheet]) -> tuple[Section, ...]:
    """A picture, and a section for every table."""
    drawn: tuple[Part, ...] = () if picture is None else (Picture(draw=picture),)
    return (
        Section(title="", anchor="picture", parts=drawn),
        *(
            Section(title=sheet.title, anchor=f"table-{number}", parts=(Grid.of(sheet),))
            for number, sheet in enumerate(sheets, start=1)
        ),
    )


def _style() -> str:
    light, dark = (
        "".join(f"--{name}: {colour};" for name, colour in colours.items())
        for colours in (
            {**_COLOURS, "card": _CARD[0]},
            {**{name: PAIRS[colour] for name, colour in _COLOURS.items()}, "card": _CARD[1]},
        )
    )
    night = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return f":root {{ color-scheme: light dark; {light} }}\n{night}\n{_resource('page.css')}"


def _resource(name: str) -> str:
    return (resources.files("volvelle.report") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    """How a policy names a script or a style of the page itself."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def source_link(place: str) -> str:
    """The address of a reference, as far as its place says one; empty: it does not."""
    for pattern, address in (
        (r"(https?://[^\s,;)]+)", "{}"),
        (r"arXiv[: ](\d{4}\.\d{4,5})", "https://arxiv.org/abs/{}"),
        (r"doi:? ?(10\.\d+/[^\s,;)]+)", "https://doi.org/{}"),
        (r"GitHub ([\w.-]+/[\w.-]+)", "https://github.com/{}"),
        (r"^((?:[\w-]+\.)+[a-z]{2,}(?:/[^\s,;)]*)?)", "https://{}"),
    ):
        found = re.search(pattern, place)
        if found:
            return address.format(found.group(1).rstrip("."))
    return ""
