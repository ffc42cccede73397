"""Fits constants of engines to calibration rows: python scripts/fit_engines.py [--engine NAME] [--only A,B|--judge]."""

import argparse
import csv
import time
from pathlib import Path

from volvelle.applications.serving.fit import as_rows, fit_engines
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.catalogue import Catalogue

FILE = Path(__file__).resolve().parent.parent / "src" / "volvelle" / "catalogue" / "data" / "engines.csv"


def main() -> None:
    """Read, fit, write; engines that are not fitted keep their constants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="")
    parser.add_argument("--judge", action="store_true", help="Keep constants, and find how far off they are.")
    parser.add_argument("--only", default="", help="Fit these again, with a comma between them, and keep the others.")
    asked = parser.parse_args()
    engine = asked.engine
    begun = time.perf_counter()
    rows = [row for row in serving_measurements().rows if row.head.split == "calibration"]
    fits = fit_engines(
        rows,
        Catalogue(),
        engine=engine,
        as_they_are=asked.judge,
        only=tuple(name for name in asked.only.split(",") if name),
        told=lambda line: print(line, flush=True),
    )
    kept = []
    if FILE.exists():
        fitted = {(fit.engine, fit.family) for fit in fits}
        kept = [row for row in csv.DictReader(FILE.open()) if (row["engine"], row["family"]) not in fitted]
    written = sorted([*kept, *as_rows(fits)], key=lambda row: (row["engine"], row["family"]))
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, ("engine", "family", "constant", "value", "rows"), lineterminator="\n")
        writer.writeheader()
        writer.writerows(written)
    for fit in fits:
        shown = ", ".join(f"{name} {factor:.2f}" for name, factor in fit.error.items())
        print(f"{fit.engine} {fit.family or 'all'}: {fit.rows} figures; 80 % within a factor of one deviation {shown}")
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
