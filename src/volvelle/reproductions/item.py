"""One piece of a published study, found again: a picture, tables, JSON, and words around them, however it is shown."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

from volvelle.report.figures.rendering import save
from volvelle.report.figures.theme import WIDE
from volvelle.report.page import Drawing, page
from volvelle.report.sheet import Sheet

__all__ = ["Item", "csv_of", "item_page", "write_item"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of the paper, found again."""

    name: str
    title: str
    lead: str
    sheets: tuple[Sheet, ...]
    document: dict[str, object]
    picture: Drawing | None = None
    """None where a table says all; drawn when it is asked for."""


def item_page(item: Item) -> str:
    """One HTML file with the picture and the tables."""
    return page(title=item.title, lead=item.lead, picture=item.picture, sheets=item.sheets)


def csv_of(sheet: Sheet) -> str:
    """A table as comma-separated text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sheet.columns)
    writer.writerows(sheet.rows)
    return text.getvalue()


def write_item(item: Item, folder: Path) -> None:
    """Picture, page, JSON and tables as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if item.picture is not None:
        save(item.picture(WIDE), folder / f"{item.name}.svg")
    (folder / f"{item.name}.html").write_text(item_page(item), "utf-8")
    (folder / f"{item.name}.json").write_text(json.dumps(item.document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    for number, sheet in enumerate(item.sheets, 1):
        (folder / f"{item.name}{'' if number == 1 else f'-{number}'}.csv").write_text(csv_of(sheet), "utf-8")
