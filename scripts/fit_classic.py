"""What kernels cost classic Megatron beside their work: factors on a chip's launch and host times.

Fitted to calibration runs on A100 by two criteria together: how far times are off, and by how much the layout ranked
first is slower than the fastest where runs differ in their layout alone. Prints the best of a grid; `HELD` in
``applications/training/stack_fit.py`` has them. Takes a minute.
"""

import json
from collections import defaultdict
from itertools import product

import numpy as np

from volvelle import Catalogue
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.training.layouts import LAYOUT_GROUPS, alike_but_layout
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.rows import training_question
from volvelle.catalogue.stacks import stack_called, stack_entries
from volvelle.estimators.calibration import with_software
from volvelle.estimators.stack import Stack
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import MappingTable

LAUNCHES = (1.0, 1.5, 1.8, 2.1, 2.4, 2.7)
HOSTS = (0.95, 1.0, 1.05, 1.07, 1.08, 1.09, 1.1, 1.11, 1.13)
FAMILY = "ampere"
REGRET = 2.0
"""What a point of regret weighs in points of error."""


def main() -> None:
    """Every point of the grid in one go, question by question."""
    catalogue = Catalogue()
    grid = np.array(list(product(LAUNCHES, HOSTS)))
    names = ("kernel_launch_time", "host_dispatch_time")
    measured, sources, contests, found = [], [], defaultdict(list), []
    for row in calibration_rows(training_measurements(), shipped=True):
        stack = stack_called(row.framework)
        if not stack or stack_entries()[stack].parent != "classic" or row.seconds is None:
            continue
        asked = training_question(row, catalogue)
        if isinstance(asked, str) or asked.system.chip.family != FAMILY:
            continue
        factors = {(FAMILY, asked.work.element, name): grid[:, at] for at, name in enumerate(names)}
        system = with_software(asked.system, Stack(name="classic", factors=factors))
        table = MappingTable.of([asked.decision]).repeated(len(grid))
        if row.head.group in LAYOUT_GROUPS:
            contests[alike_but_layout(row)].append(len(found))
        found.append(ClosedForm().table(asked.work, system, table).time)
        measured.append(row.seconds)
        sources.append(row.head.group)
    times, seconds = np.array(found), np.array(measured)
    weights = np.array([sources.count(source) ** -0.5 for source in sources])
    errors = weights / weights.sum() @ np.abs(np.log(times / seconds[:, None]))
    regrets = [
        seconds[rows][np.argmin(times[rows], axis=0)] / seconds[rows].min() - 1.0
        for rows in contests.values()
        if len(rows) > 2
    ]
    regret = np.mean(regrets, axis=0)
    order = np.argsort(errors + REGRET * regret)
    for place in order[:8]:
        launch, host = grid[place]
        print(f"launch × {launch:.2f}, host × {host:.2f}: error {errors[place]:.4f}, regret {regret[place]:.4f}")
    launch, host = grid[order[0]]
    best = {"kernel_launch_time": launch, "host_dispatch_time": host}
    print(json.dumps({**best, "error": errors[order[0]], "regret": regret[order[0]], "runs": len(found)}))


if __name__ == "__main__":
    main()
