"""Fits constants of engines to calibration rows: python scripts/fit_engines.py [--engine NAME] [--only A,B|--judge].

Then counts which rows tell the error of each figure; with ``--rows`` it does nothing else.

With ``--split FILE``, of what ``volvelle validate serving --kind disaggregated --json`` printed, it finds how far off
split pools are, and nothing else.
"""

import argparse
import csv
import json
import time
from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np

from volvelle.applications.serving.evidence.judged_rows import judged_rows
from volvelle.applications.serving.fit import as_rows, fit_engines
from volvelle.applications.serving.fit_errors import alike_deviation
from volvelle.applications.serving.measurements import ServingMeasurement, serving_measurements
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import ERROR_CELLS, SPLIT
from volvelle.catalogue.packaged_rows import packaged_rows

FILE = Path(__file__).resolve().parent.parent / "src" / "volvelle" / "catalogue" / "data" / "engines.csv"
FEWEST = 3
"""Rows from which on a group of split pools tells of a spread."""


def write(rows: Iterable[dict[str, str]], *, fitted: Collection[tuple[str, str]]) -> None:
    """Into the table, in place of those of the same engines and families."""
    kept = [row for row in csv.DictReader(FILE.open()) if (row["engine"], row["family"]) not in fitted]
    save(sorted([*kept, *rows], key=lambda row: (row["engine"], row["family"])))


def save(rows: Iterable[dict[str, str]]) -> None:
    """As the table; cells that say which rows tell an error are empty of constants."""
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, ("engine", "family", "constant", "value", *ERROR_CELLS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def count(calibration: list[ServingMeasurement]) -> None:
    """Write, beside every error of the table, which rows tell it."""
    packaged_rows.cache_clear()
    found = judged_rows(calibration, Catalogue())
    lines = list(csv.DictReader(FILE.open()))
    told = {line: rows.written() for line, rows in found.items()}
    save({**line, **told.get((line["engine"], line["family"], line["constant"]), {})} for line in lines)


def split_rows(scored: Iterable[dict[str, object]]) -> list[dict[str, str]]:
    """How far off calibration rows of split pools are, by measure.

    No constant is fitted to them, so their spread is that of runs which were not looked at; a chip, engine and model
    counts as much as another, for what is asked about next is another one.
    """
    off: dict[str, dict[str, list[float]]] = {}
    for row in scored:
        if row["split"] == "calibration":
            groups = off.setdefault(str(row["row_id"]).split()[-1], {})
            error = float(np.log(float(str(row["predicted"])) / float(str(row["measured"]))))
            groups.setdefault(str(row["group"]), []).append(error)
    return [
        {
            "engine": SPLIT,
            "family": "",
            "constant": f"error {measure}",
            "value": f"{alike_deviation([errors for errors in groups.values() if len(errors) >= FEWEST]):.4g}",
            "rows": str(sum(map(len, groups.values()))),
        }
        for measure, groups in off.items()
    ]


def main() -> None:
    """Read, fit, write; engines that are not fitted keep their constants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="")
    parser.add_argument("--judge", action="store_true", help="Keep constants, and find how far off they are.")
    parser.add_argument("--only", default="", help="Fit these again, with a comma between them, and keep the others.")
    parser.add_argument("--split", type=Path, help="Judge split pools by what their validation printed as JSON.")
    parser.add_argument("--rows", action="store_true", help="Count which rows tell errors, and fit nothing.")
    asked = parser.parse_args()
    rows = [row for row in serving_measurements().rows if row.head.split == "calibration"]
    if asked.split is not None:
        write(split_rows(json.loads(asked.split.read_text())["rows"]), fitted={(SPLIT, "")})
    if asked.split is not None or asked.rows:
        count(rows)
        return
    engine = asked.engine
    begun = time.perf_counter()
    fits = fit_engines(
        rows,
        Catalogue(),
        engine=engine,
        as_they_are=asked.judge,
        only=tuple(name for name in asked.only.split(",") if name),
        told=lambda line: print(line, flush=True),
    )
    write(as_rows(fits), fitted={(fit.engine, fit.family) for fit in fits})
    count(rows)
    for fit in fits:
        shown = ", ".join(f"{name} {factor:.2f}" for name, factor in fit.error.items())
        print(f"{fit.engine} {fit.family or 'all'}: {fit.rows} figures; 80 % within a factor of one deviation {shown}")
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
