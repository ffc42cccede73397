"""Text that is written in place, in Markdown that reads the same in a repository, an editor and the site.

What is made stands between comments that no reader sees: a figure in a sentence between ``<!--=NAME-->`` and
``<!--/-->``; a block between a line that says what it is and ``<!-- end -->``::

    <!-- output: NAME -->                  what a command printed, in a fence
    <!-- file: PATH as python -->          a file of the repository, in a fence
    <!-- table: NAME -->                   Markdown, as it is

A block may be a part: ``from "…"`` begins at the first line that has these words, ``before "…"`` ends before the next,
``lines 1-32`` counts. What stands between ``<!-- site:`` and ``-->`` is for Sphinx alone, which leaves out
``<!-- names: … -->``, a table of what it has pages of its own for.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["ROOT", "Stale", "blocks", "figures_in", "filled", "on_the_site", "pages_with_marks"]

ROOT = Path(__file__).resolve().parent.parent
_FIGURE = re.compile(r"<!--=(?P<name>[\w-]+)-->(?P<text>.*?)<!--/-->", re.DOTALL)
_BLOCK = re.compile(
    r"^(?P<indent> *)<!-- (?P<kind>output|file|table|names): (?P<name>\S+)(?P<how>[^\n]*?) -->\n"
    r"(?P<text>.*?)^(?P=indent)<!-- end -->$",
    re.DOTALL | re.MULTILINE,
)
_HOW = re.compile(
    r'\s+(?:as (?P<language>\w+)|from "(?P<start>[^"]+)"|before "(?P<end>[^"]+)"|lines (?P<lines>\d+-\d+))'
)
_ANY = re.compile(r"<!--(?:=[\w-]+|/| (?:output|file|table|names): [^\n]*?| end )-->")
_SITE = re.compile(r"^<!-- site:\n(.*?)^-->$", re.DOTALL | re.MULTILINE)
_NAMES = re.compile(r"^<!-- names: [^\n]*-->\n.*?^<!-- end -->$", re.DOTALL | re.MULTILINE)


class Stale(Exception):  # noqa: N818 - a page is stale; nothing went wrong in here
    """A mark that asks for what nobody makes."""


def pages_with_marks(root: Path = ROOT) -> Iterator[Path]:
    """Every page of the repository that shows something made."""
    folders = (root, *(root / name for name in ("docs", "examples", "changelog.d")))
    for folder in folders:
        found = folder.glob("*.md") if folder in (root, root / "changelog.d") else folder.rglob("*.md")
        for page in sorted(found):
            text = page.read_text("utf-8") if "_build" not in page.parts else ""
            if _FIGURE.search(text) or _BLOCK.search(text):
                yield page


def figures_in(text: str) -> list[tuple[str, str]]:
    """Figures that a page quotes, as (name, what it says), in order."""
    return [(found["name"], found["text"]) for found in _FIGURE.finditer(text)]


def blocks(text: str) -> dict[str, str]:
    """Blocks of a page by name: what stands there, fences left off."""
    return {found["name"]: _bare(found["text"]) for found in _BLOCK.finditer(text)}


def filled(
    text: str,
    pieces: Mapping[str, str],
    figures: Mapping[str, str],
    *,
    made: Mapping[Path, str] | None = None,
    some: bool = False,
) -> str:
    """A page with all that it shows made again; with ``some``, what is not given stays as it stands."""

    def figure(found: re.Match[str]) -> str:
        if some and found["name"] not in figures:
            return found.group()
        return f"<!--={found['name']}-->{_known(figures, found['name'], 'figure')}<!--/-->"

    def block(found: re.Match[str]) -> str:
        if found["kind"] == "file":
            file = ROOT / found["name"]
            shown = (made or {}).get(file) or file.read_text("utf-8")
        elif some and found["name"] not in pieces:
            return found.group()
        else:
            shown = _known(pieces, found["name"], found["kind"])
        how = {key: value for each in _HOW.finditer(found["how"]) for key, value in each.groupdict().items() if value}
        shown = _part(shown, found["name"], **{key: value for key, value in how.items() if key != "language"})
        shown = f"\n{shown}\n\n" if found["kind"] in ("table", "names") else _fence(shown, how.get("language", "text"))
        lines = f"<!-- {found['kind']}: {found['name']}{found['how']} -->\n{shown}<!-- end -->".splitlines()
        return "\n".join(f"{found['indent']}{line}".rstrip() for line in lines)

    return _BLOCK.sub(block, _FIGURE.sub(figure, text))


def on_the_site(text: str) -> str:
    """A page as Sphinx reads it: without marks, as many lines as before."""
    text = _NAMES.sub(lambda found: "\n" * found.group().count("\n"), text)
    return _ANY.sub("", _SITE.sub(r"\n\1", text))


def _known(made: Mapping[str, str], name: str, kind: str) -> str:
    if name not in made:
        raise Stale(f"a page shows {kind} {name!r}, which scripts/generate_pages.py does not make")
    return made[name]


def _part(text: str, name: str, *, start: str = "", end: str = "", lines: str = "") -> str:
    """A part of a text, without empty lines around it."""
    all_lines = text.splitlines()
    first, last = 0, len(all_lines)
    if lines:
        first, last = int(lines.split("-", maxsplit=1)[0]) - 1, int(lines.split("-")[1])
    if start:
        first = _line_with(all_lines, start, 0, name)
    if end:
        last = _line_with(all_lines, end, first + 1 if start else 0, name)
    return "\n".join(all_lines[first:last]).strip("\n")


def _line_with(lines: list[str], words: str, after: int, name: str) -> int:
    for place, line in enumerate(lines[after:], after):
        if words in line:
            return place
    raise Stale(f"{name!r} has no line with {words!r}, where a page begins or ends")


def _fence(text: str, language: str) -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"^ *(`{3,})", text, re.MULTILINE)), default=0))
    return f"{ticks}{language}\n{text}\n{ticks}\n"


def _bare(text: str) -> str:
    lines = text.strip("\n").splitlines()
    return "\n".join(lines[1:-1] if lines and lines[0].lstrip().startswith("```") else lines)
