"""Distils the public tables of measured kernels: constants from all calibration rows, and a compact validation set.

    python scripts/distil_kernels.py FOLDER [--only rows] [--family experts]

FOLDER holds the tables (`gemm.csv.gz`, `attention_prefill.csv.gz`, …) and `split.csv.gz`, which tells calibration rows
from held-out ones. Written are `calibrations/kernels.csv.gz` and `measurements/kernels.csv.gz` of the catalogue.
Constants are fitted to calibration rows alone; held-out rows are only copied into the validation set.
"""

import argparse
import csv
import gzip
import io
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from volvelle.applications.kernels.constants import KernelKey
from volvelle.applications.kernels.fit import Tables, fit_tables, tables_of
from volvelle.applications.kernels.measurements import kernel_measurements
from volvelle.catalogue import Catalogue

TABLES = ("gemm", "attention_prefill", "attention_decode", "mla", "moe", "collectives_small")
COLUMNS = (
    *("row_id", "split", "group", "op", "system", "backend", "version", "dtype", "kv_cache_dtype", "kernel", "flag"),
    *("m", "n", "k", "batch", "query", "kv", "heads", "kv_heads", "head_dim", "window"),
    *("tokens", "hidden", "inter", "topk", "experts", "tp", "ep", "distribution", "gpus", "bytes"),
    *("microseconds", "source"),
)
SOURCE = "aiconfigurator2026"
KEPT = 25
"""Rows of each kind, chip, type, software and split in the validation set, drawn at random with a fixed seed."""
DATA = Path(__file__).resolve().parent.parent / "src" / "volvelle" / "catalogue" / "data"


def main() -> None:
    """Read, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=("rows", "constants"), help="write one of the two files")
    parser.add_argument("--family", default="", help="fit the constants of one kind of kernel and keep all others")
    given = parser.parse_args()
    folder = given.folder
    split = {(row["file"], row["id"]): row["split"] for row in rows_of(folder / "split.csv.gz")}
    tables: Tables = {}
    kept: list[dict[str, str]] = []
    draw = random.Random(0)
    for table in TABLES:
        file = folder / f"{table}.csv.gz"
        strata: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for key, (family, rows) in tables_of(kernel_measurements(file).rows).items():
            for row in rows:
                part = split[table, row.head.row_id]
                strata[key.family, key.chip, key.element, key.backend, part].append(row.head.row_id)
                if part == "calibration":
                    tables.setdefault(key, (family, []))[1].append(row)
        raw = {row["id"]: row for row in rows_of(file)}
        for (*_, part), names in sorted(strata.items()):
            for name in sorted(draw.sample(sorted(names), min(KEPT, len(names)))):
                head = {"row_id": name, "split": part.replace("-", ""), "group": "aiconfigurator"}
                kept.append({**{column: raw[name].get(column, "") for column in COLUMNS}, **head})
    if given.only != "constants":
        written(DATA / "measurements" / "kernels.csv.gz", kept)
    if given.only != "rows":
        file = DATA / "calibrations" / "kernels.csv.gz"
        fitted = {key: table for key, table in tables.items() if given.family in ("", key.family)}
        others = [line for line in rows_of(file) if line["family"] != given.family] if given.family else []
        written(file, sorted([*others, *constants(fitted)], key=lambda line: str(line["family"])))


def constants(tables: Tables) -> list[dict[str, object]]:
    """A line for each constant of each table of enough rows."""
    found: list[dict[str, object]] = []
    for key, table in sorted(fit_tables(tables, Catalogue()).items()):
        fitted, rows = table.found, tables[key][1]
        for name, value in fitted.constants.items():
            ends = {"low": value / fitted.spread[name], "high": value * fitted.spread[name]}
            told = {"constant": name, "value": f"{value:.4g}", **{end: f"{at:.3g}" for end, at in ends.items()}}
            whose = {part: getattr(key, part) for part in KernelKey.__dataclass_fields__}
            found.append({**whose, **told, "rows": len(rows), "error": f"{table.deviation:.3f}", "source": SOURCE})
    return found


def rows_of(file: Path) -> list[dict[str, str]]:
    """The rows of a packed table, as text."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def written(file: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Pack rows into a file, the same bytes for the same rows."""
    text = io.StringIO()
    table = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    file.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    print(f"{file.name}: {len(rows)} rows, {file.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
