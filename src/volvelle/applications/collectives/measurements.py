"""Reads the measurements that ship with the package.

What every column means and where each row comes from is said in ``data/measurements/README.md``.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Literal, cast, get_args

from volvelle.errors import DescriptionError

__all__ = ["CollectiveMeasurement", "Split", "collective_measurements"]

Split = Literal["calibration", "heldout", "excluded"]
"""Constants may be fitted to calibration rows; held-out rows are only ever scored; excluded rows are neither."""

_FILES = ("collectives.csv", "collectives_peers.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveMeasurement:
    """One timed collective, or one timed message between two chips."""

    row_id: str
    group: str
    """Rows of one publication on one system."""
    split: Split
    operation: str
    system: str
    accelerator: str
    chips: int | None
    nodes: int | None
    cluster: str
    """The catalogue's entry for the system; empty where there is none."""
    library: str
    algorithm: str
    """As the source says; empty where the library chose."""
    size: float | None
    """Bytes, by the convention of :mod:`volvelle.laws.collectives`."""
    time: float | None
    """Seconds."""
    flags: str
    source: str


def collective_measurements(folder: Traversable | None = None) -> tuple[CollectiveMeasurement, ...]:
    """All rows, those of the package or those of a folder with files of the same names."""
    root = folder or resources.files("volvelle.catalogue") / "data" / "measurements"
    found = tuple(row for name in _FILES if (root / name).is_file() for row in _rows(root / name))
    if not found:
        raise DescriptionError(f"{str(root)!r} holds none of {', '.join(_FILES)}")
    return found


def _rows(file: Traversable) -> Iterator[CollectiveMeasurement]:
    with file.open("r", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            where = f"row {row.get('row_id')!r} of {file.name}"
            if row["split"] not in get_args(Split):
                raise DescriptionError(f"{where} is split {row['split']!r}; it may be {', '.join(get_args(Split))}")
            if not row["source"]:
                raise DescriptionError(f"{where} names no source; a measurement without one is not read")
            try:
                yield CollectiveMeasurement(
                    row_id=row["row_id"],
                    group=row["group"],
                    split=cast(Split, row["split"]),
                    operation=row["op"],
                    system=row["system"],
                    accelerator=row["accelerator"],
                    chips=int(row["chips"]) if row["chips"] else None,
                    nodes=int(row["nodes"]) if row["nodes"] else None,
                    cluster=row["cluster"],
                    library=row["library"],
                    algorithm=row["algorithm"],
                    size=float(row["size_bytes"]) if row["size_bytes"] else None,
                    time=float(row["time_us"]) * 1e-6 if row["time_us"] else None,
                    flags=row["flags"],
                    source=row["source"],
                )
            except ValueError as error:
                raise DescriptionError(f"{where} does not read: {error}") from None
