"""What runs of Linpack of one's own change: a family's constants, with one factor drawn towards those runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import hypot, log
from pathlib import Path

import numpy as np

from volvelle.applications.hpl.panels import HplConstants, PanelByPanel
from volvelle.applications.hpl.plan import hpl_runs
from volvelle.applications.own_factor import OwnFactor, machine_spreads, own_factor
from volvelle.catalogue import Catalogue
from volvelle.catalogue.own_calibrations import read_calibration
from volvelle.catalogue.saved_file import is_yaml_name
from volvelle.errors import DescriptionError
from volvelle.interchange.logs.logged import Log
from volvelle.interchange.logs.readers import read_log
from volvelle.mapping.process_grid import Broadcast
from volvelle.quantities import FLOP_PER_SECOND, show
from volvelle.system.cluster import Cluster

_ELSEWHERE = 6.0
"""Standard deviations between machines and runs at which a run is of another kind of machine."""


def own_linpack(constants: HplConstants, logs: Sequence[Log], *, machine: Callable[[int], Cluster]) -> OwnFactor:
    """How own runs do against what is predicted of them, each on as many accelerators as it had processes."""
    between, within = machine_spreads("hpl", constants.family)
    errors = []
    for log_file in logs:
        for run in log_file.linpack:
            system, ((problem, grid), *_) = hpl_runs(
                machine(run.p * run.q),
                blocks=(run.nb,),
                broadcasts=(Broadcast.RING_MODIFIED,),
                depths=(1,),
                order=run.n,
                rows=run.p,
                columns=run.q,
            )
            predicted = PanelByPanel(constants=constants).estimate(problem, system, grid)
            errors.append(log(run.flop_rate / predicted.rate))
            if abs(errors[-1]) > _ELSEWHERE * hypot(between, within):
                raise DescriptionError(
                    f"{log_file.file}, line {run.line}: {show(run.flop_rate, FLOP_PER_SECOND)} by {run.p} × {run.q} "
                    f"processes, where {show(predicted.rate, FLOP_PER_SECOND)} is predicted of as many "
                    f"{system.chip.name}: another machine; give its name, one process an accelerator"
                )
    if not errors:
        why = "; ".join(f"{one.file}, line {row.line}: {row.why}" for one in logs for row in one.refused)
        files, tools = (", ".join(getattr(one, name) for one in logs) for name in ("file", "tool"))
        raise DescriptionError(f"{files}: no run of HPL that can be taken: {why or f'it is of {tools}'}")
    said = f"{len(errors)} own run{'' if len(errors) == 1 else 's'} of {', '.join(one.file for one in logs)}"
    return own_factor(np.array(errors), said, between=between, within=within)


def constants_by_runs(constants: HplConstants, system: Cluster, catalogue: Catalogue, file: Path) -> HplConstants:
    """The constants as own runs on such accelerators have them, by their reports or by what was kept of these."""
    if is_yaml_name(file.name):
        factor = _kept(file, chip=system.chip.name)
    else:
        template = system.name.partition("/")[0]
        factor = own_linpack(
            constants, (read_log(file),), machine=lambda count: catalogue.cluster(f"{template}/{count}")
        )
    return replace(constants, own_rate=factor.value, error=factor.error, tilt=0.0, own=factor.note)


def _kept(path: Path, *, chip: str) -> OwnFactor:
    """What a calibration of one's own says of Linpack on a chip."""
    file = read_calibration(path)
    if file.linpack is None:
        raise DescriptionError(
            f"{path.name} holds no run of HPL; make one with volvelle calibrate from HPL.out --on SYSTEM --save FILE, "
            "or give the report itself"
        )
    if file.chip != chip:
        raise DescriptionError(
            f"{path.name} is of {file.chip}, and the machine has {chip}: what runs of HPL say of one chip is not "
            "carried over to another"
        )
    return OwnFactor(
        value=file.linpack.rate,
        error=file.linpack.error,
        runs=file.linpack.runs,
        note=f"{path.name}: {file.linpack.note}",
    )
