"""How fast the models of High-Performance Linpack answer: one point in closed form, panel by panel, a plan."""

import argparse
import json
import statistics
import time
from collections.abc import Callable

from volvelle import Catalogue, Cluster
from volvelle.applications.hpl.closed_forms import LayeredHpl, OriginalHpl
from volvelle.applications.hpl.constants import equivalent_core, hpl_constants
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.applications.hpl.plan import hpl_runs
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.workload.families.hpl import Hpl


def seconds(action: Callable[[], object], repeats: int) -> float:
    """Median wall-clock time of a call, after one that does not count."""
    action()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def planned(cluster: Cluster, model: PanelByPanel) -> object:
    """Every run worth trying, ranked."""
    machine, runs = hpl_runs(cluster)
    return model.rank(runs, machine)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--json", action="store_true", help="print JSON")
    asked = reader.parse_args()
    catalogue = Catalogue()
    frontier, summit = catalogue.cluster("frontier/75264"), catalogue.cluster("summit")
    run = Hpl(name="frontier", order=24_440_832, block=512)
    grid = ProcessGrid.for_nodes(256, 294, node=8)
    large = Hpl(name="large", order=10_000_000, block=384)
    wide = ProcessGrid.for_nodes(250, 400, node=8)
    panels = PanelByPanel(constants=hpl_constants("cdna2"))
    huge = catalogue.cluster("frontier/100000")
    layered = LayeredHpl(core=equivalent_core("v100-sxm2-16gb"))
    summit_run, summit_grid = Hpl(name="summit", order=16_473_600, block=384), ProcessGrid(rows=144, columns=192)
    found = {
        "closed form, one point": seconds(lambda: OriginalHpl().estimate(run, frontier, grid), 200),
        "layered, one point": seconds(lambda: layered.estimate(summit_run, summit, summit_grid), 200),
        "panel by panel, Frontier": seconds(lambda: panels.estimate(run, frontier, grid), 50),
        "panel by panel, N 10^7 on 10^5": seconds(lambda: panels.estimate(large, huge, wide), 50),
        "plan, Frontier": seconds(lambda: planned(frontier, panels), 3),
    }
    limits = {"closed form, one point": 1e-3, "panel by panel, Frontier": 2.0, "plan, Frontier": 5.0}
    if asked.json:
        print(json.dumps({"seconds": found, "limits": limits}, indent=2))
        return
    for name, value in found.items():
        limit = f"  (limit {limits[name] * 1e3:g} ms)" if name in limits else ""
        print(f"{name:32} {value * 1e3:10.3f} ms{limit}")


if __name__ == "__main__":
    main()
