"""The table of what the four documents have, item by item: command, verdict, and what is missing."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ruamel.yaml import YAML

__all__ = ["documents_pages", "listed_commands"]

LIST = Path(__file__).resolve().parent.parent / "docs" / "validation" / "documents.yaml"
VERDICTS = ("whole", "part", "missing")


def documents_pages() -> dict[str, str]:
    """Fragments of the page by file name: the counts, and a table for each document."""
    found = _items()
    counts = {name: Counter(item[1] for item in items.values()) for name, items in found.items()}
    rows = [(name, *(str(count[verdict]) for verdict in VERDICTS)) for name, count in counts.items()]
    whole = sum(counts.values(), Counter())
    rows.append(("**all**", *(f"**{whole[verdict]}**" for verdict in VERDICTS)))
    fragments = {"documents-counts.md": _table(("document", *VERDICTS), rows)}
    for name, items in found.items():
        listed = [
            (key, item[0], item[1], f"`volvelle {item[2]}`" if item[2] else "", *_remark(item))
            for key, item in items.items()
        ]
        table = _table(("", "item", "verdict", "command", "what is missing"), listed)
        fragments[f"documents-{name.lower()}.md"] = table
    return fragments


def listed_commands() -> tuple[str, ...]:
    """Every command once, in the order of the list."""
    return tuple(dict.fromkeys(item[2] for items in _items().values() for item in items.values() if item[2]))


def _items() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = YAML(typ="safe", pure=True).load(LIST.read_text("utf-8"))
    for items in found.values():
        for key, item in items.items():
            assert item[1] in VERDICTS, key
            assert (item[1] == "whole") == (len(item) == 3), f"{key}: what is missing is said, and nothing else"
            assert item[2] or item[1] != "whole", f"{key}: what is whole can be shown"
    return found


def _remark(item: list[str]) -> tuple[str]:
    return (item[3] if len(item) > 3 else "",)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)]
    return "\n".join(lines)
