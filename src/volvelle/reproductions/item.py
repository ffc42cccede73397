"""One piece of a published study, found again: a picture, tables, JSON, and words around them, however it is shown."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from volvelle.quantities import percent
from volvelle.report.figures.rendering import save
from volvelle.report.figures.theme import WIDE
from volvelle.report.page.builder import page, picture_and_sheets
from volvelle.report.page.parts import Drawing
from volvelle.report.sheet import Sheet

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Number:
    """A column of numbers: which field of a row it shows, and how."""

    key: str
    form: str = ".3f"
    """As :func:`format` takes it; ``change`` for ours over logged less one, ``yes`` for what holds or not."""
    per: float = 1.0

    def cell(self, value: Any) -> str:
        """A value; how many there are, of a list."""
        if value is None:
            return "–"
        if self.form == "yes":
            return "yes" if value else "no"
        if self.form == "change":
            return "0 %" if abs(value) < 5e-5 else f"{100 * value:+.2f} %".replace("-", "−")
        if self.form.endswith("%"):
            return percent(value, int(self.form[-2]), signed=self.form.startswith("+"))
        return format(
            len(value) if isinstance(value, list) else value if self.per == 1.0 else value / self.per, self.form
        )


Columns = Mapping[str, str | Number]
"""Columns of a table by name; those that are named fields of a row alone hold words."""


def sheet_of(title: str, rows: Iterable[Mapping[str, Any]], columns: Columns, *, note: str = "") -> Sheet:
    """A table of fields of a document's rows."""
    return Sheet(
        title=title,
        columns=tuple(columns),
        rows=tuple(
            tuple(at.cell(row[at.key]) if isinstance(at, Number) else str(row[at]) for at in columns.values())
            for row in rows
        ),
        numbers=frozenset(name for name, at in columns.items() if isinstance(at, Number)),
        note=note,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of the paper, found again."""

    name: str
    title: str
    lead: str
    sheets: tuple[Sheet, ...]
    document: Document
    picture: Drawing | None = None
    """None where a table says all; drawn when it is asked for."""


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
    html = page(title=item.title, lead=item.lead, sections=picture_and_sheets(item.picture, item.sheets))
    (folder / f"{item.name}.html").write_text(html, "utf-8")
    (folder / f"{item.name}.json").write_text(json.dumps(item.document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    for number, sheet in enumerate(item.sheets, 1):
        (folder / f"{item.name}{'' if number == 1 else f'-{number}'}.csv").write_text(csv_of(sheet), "utf-8")
