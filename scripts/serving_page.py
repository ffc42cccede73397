"""Writes the tables of docs/validation/serving.md from what the validation prints.

    volvelle validate serving --json > scored.json
    python scripts/serving_page.py scored.json

The text around the tables is written by hand; a table stands between two comments that name it.
"""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "validation" / "serving.md"
MEASURES = {
    "ttft": "TTFT",
    "tpot": "TPOT",
    "latency": "latency",
    "throughput": "tokens/s",
    "ttft_p99": "TTFT, 99th percentile",
    "tpot_p99": "TPOT, 99th percentile",
}
WORST = 15
FEWEST = 3
"""Rows of a group from which on it is listed among the worst."""


def main() -> None:
    """Read, fill, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scored", type=Path)
    scored = json.loads(parser.parse_args().scored.read_text("utf-8"))
    tables = {
        "by table": by_table(scored["overall"]["files"]),
        "logs": by_group(scored["groups"], lambda one: one["group"].startswith("request_logs ")),
        "peers": peers(scored["peers"]),
        "worst": by_group(worst(scored["groups"]), lambda one: True),
        "refused": refused(scored["overall"]["files"]),
    }
    text = PAGE.read_text("utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- scored: {name} -->", f"<!-- scored: end of {name} -->"
        pattern = re.compile(f"{begin}.*?{end}", re.DOTALL)
        assert pattern.search(text), f"the page has no place for the table {name}"
        filled = f"{begin}\n\n{table}\n\n{end}"
        text = pattern.sub(filled.replace("\\", r"\\"), text)
    PAGE.write_text(text, "utf-8")


def by_table(files: Mapping[str, Any]) -> str:
    """Held-out rows of every table, by figure."""
    rows = [
        (kind.replace("_", " "), title, *_numbers(found[measure]))
        for kind, found in files.items()
        for measure, title in MEASURES.items()
        if measure in found
    ]
    return _table(("table", "figure"), rows)


def by_group(groups: Sequence[Mapping[str, Any]], wanted: Any) -> str:
    """Groups that are wanted, by figure."""
    rows = [
        (one["group"], title, *_numbers(one[measure]))
        for one in groups
        if wanted(one)
        for measure, title in MEASURES.items()
        if measure in one
    ]
    return _table(("group", "figure"), rows)


def worst(groups: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Groups furthest off, of enough rows, but for logs, each of which is a group."""
    return [one for one in groups if one["rows"] >= FEWEST and not one["group"].startswith("request_logs ")][:WORST]


def peers(found: Sequence[Mapping[str, Any]]) -> str:
    """Other tools and ours, on the same rows."""
    lines = ["| table | figure | tool | rows | its median | its mean | our median | our mean |"]
    lines.append("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for one in found:
        sides = [one[side][name] for side in ("of_peer", "ours") for name in ("median_abs_error", "mean_abs_error")]
        shown = " | ".join(f"{100 * side:.1f} %" for side in sides)
        title = MEASURES[one["measure"]]
        lines.append(f"| {one['table'].replace('_', ' ')} | {title} | {one['peer']} | {one['rows']} | {shown} |")
    return "\n".join(lines)


def refused(files: Mapping[str, Any]) -> str:
    """Figures that the model refuses, by table and reason."""
    lines = ["| table | figures | reason |", "| --- | ---: | --- |"]
    lines += [
        f"| {kind.replace('_', ' ')} | {count} | {reason} |"
        for kind, found in files.items()
        for reason, count in sorted(found["refused"]["reasons"].items(), key=lambda item: -item[1])
    ]
    return "\n".join(lines)


def _numbers(one: Mapping[str, float]) -> tuple[str, ...]:
    shares = [f"{100 * one[name]:.1f} %" for name in ("median_abs_error", "mean_abs_error")]
    return (str(one["rows"]), *shares, f"{100 * one['bias']:+.1f} %".replace("-", "−"), f"{100 * one['covered']:.0f} %")


def _table(words: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    numbers = ("rows", "median error", "mean error", "bias", "in the 80 % range")
    lines = [f"| {' | '.join((*words, *numbers))} |"]
    lines.append(f"|{' --- |' * len(words)}{' ---: |' * len(numbers)}")
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    main()
