"""How much of every trace of a folder is understood: a row a file, worst formats included; the last line is JSON.

Files that are no traces are refused and listed with the reason. An execution trace beside a profile of the same name
(`x_et.json` and `x_kineto.json`) is read alone and with it.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from volvelle import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.trace_replay.replayed import replayed
from volvelle.interchange.traces.reading import read_trace
from volvelle.workload.trace.values import coverage, not_understood

_ENDINGS = (".json", ".json.gz", ".et", ".pt2", ".onnx")


def files_of(folder: Path) -> list[tuple[Path, Path | None]]:
    """Traces of a folder, and pairs of them."""
    found: list[tuple[Path, Path | None]] = []
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.name.endswith(_ENDINGS) and not file.name.startswith("."):
            found.append((file, None))
            beside = file.with_name(file.name.replace("_et.json", "_kineto.json"))
            if beside != file and beside.is_file():
                found.append((file, beside))
    return found


def shown(share: float | None) -> str:
    return "     –" if share is None else f"{share:6.1%}"


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--on", default="dgx-h100/1024")
    asked.add_argument("--clock", type=float, default=1e9)
    told = asked.parse_args()
    machine = Catalogue().cluster(told.on)
    rows: list[dict[str, Any]] = []
    refused = 0
    titles = f"{'file':58} {'operations':>10} {'time':>6} {'ops':>6} {'bytes':>6} {'read s':>6} {'replay':>6}"
    print(f"{titles}  format; longest not understood")
    for file, profile in files_of(told.folder):
        name = str(file.relative_to(told.folder)) + (" + profile" if profile else "")
        start = time.perf_counter()
        try:
            trace = read_trace(file, profile, clock=told.clock)
            read = time.perf_counter() - start
            measured = replayed(trace)
            replayed(trace, machine)
        except VolvelleError as error:
            refused += 1
            print(f"{name[-58:]:58} refused: {str(error).replace(str(file), file.name)[:110]}")
            rows.append({"file": name, "refused": str(error)})
            continue
        found = coverage(trace)
        ratio = None if not trace.span else measured.time / trace.span
        missing = next(iter(not_understood(trace)), "")
        print(
            f"{name[-58:]:58} {len(trace.operations):>10,} {shown(found.time)} {shown(found.operations)} "
            f"{shown(found.bytes)} {read:6.2f} {'     –' if ratio is None else f'{ratio:6.3f}'}  {trace.format}"
            f"{f'; {missing[:50]}' if missing else ''}"
        )
        rows.append(
            {
                "file": name,
                "format": trace.format,
                "operations": len(trace.operations),
                **found._asdict(),
                "replay_over_span": ratio,
            }
        )
    print(json.dumps({"files": len(rows), "refused": refused, "rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
