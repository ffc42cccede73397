"""A machine as own logs have it: links, power and memory; what constants they changed comes with its software."""

from collections.abc import Mapping
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np

from volvelle.catalogue.own_calibrations import calibration_notes, read_calibration, this_version
from volvelle.economics.step_cost import CostAssumptions
from volvelle.estimators.calibration import fitted_constants, with_constants
from volvelle.quantities import BYTES, percent, show
from volvelle.system.cluster import Cluster
from volvelle.system.link import Link

_MOST_MARGIN = 0.9
_TINY = 1e-12


def as_calibrated(cluster: Cluster, path: Path, *, margin: object = None) -> Cluster:
    """The machine with what the file says beside constants, and with what is to be said of it.

    `margin` is one that is asked for, whatever ran; None: none is.
    """
    file = read_calibration(path)
    chip = cluster.chip
    if file.power is not None and chip.name == file.chip:
        # Money and energy are counted with the rated power, of which a busy chip draws a share.
        rated = file.power / float(CostAssumptions().load)
        figures = {**chip.figures}
        if "power" in figures:
            figures["power"] = figures["power"].set_to(rated)
        chip = replace(chip, power=rated, figures=figures)
    notes = calibration_notes(
        file, path.name, chip=cluster.chip.name, chips=cluster.accelerators, version=this_version()
    )
    machine = replace(with_own_links(cluster, file.links), chip=chip, notes=(*cluster.notes, *notes))
    if chip.name != file.chip:
        return machine
    usual = float(np.max(fitted_constants(machine, file.element, software=False).memory_margin))
    fullest = max(fitted_constants(machine, file.element).ran, key=lambda one: one.share, default=None)
    most = 0.0 if fullest is None else fullest.fitting
    if fullest is not None and most > 1.0 - usual and margin is None:
        note = (
            f"{fullest.run} needed {show(fullest.needed, BYTES)} of {show(fullest.capacity, BYTES)} by prediction, and "
            f"ran: layouts that need no more may leave less than the margin of {percent(usual, 0)}"
        )
        machine = replace(machine, notes=(*machine.notes, note))
    if file.memory is None:
        return machine
    # Reserved amounts say how far prediction is off; a run that ran says what fits, whatever it reserved.
    own = min(_MOST_MARGIN, max(0.0, 1.0 - (1.0 - usual) / file.memory), 1.0 - most)
    told = {"memory_margin": own, "memory_ratio": file.memory}
    if file.memory_error is not None:
        told |= _open_still(machine, file.element, file.memory_error)
    return with_constants(machine, told)


def with_own_links(cluster: Cluster, links: Mapping[str, Mapping[str, float]]) -> Cluster:
    """The machine with constants of its own for some links."""
    dimensions = tuple(
        replace(each, link=_link(each.link, links[each.link.name])) if each.link.name in links else each
        for each in cluster.dimensions
    )
    return replace(cluster, dimensions=dimensions)


def _open_still(machine: Cluster, element: str, error: float) -> dict[str, float]:
    """The error of memory after own runs, and how far it is still that of all of them: what is of each stays."""
    known = fitted_constants(machine, element)
    each = (1.0 - float(known.memory_alike)) * log(known.memory_error or 1.0) ** 2
    return {"memory_error": error, "memory_alike": max(0.0, 1.0 - each / max(log(error) ** 2, _TINY))}


def _link(link: Link, own: Mapping[str, float]) -> Link:
    """A link with constants of its own, and the figures behind them as they are set."""
    figures = {name: figure.set_to(own[name]) if name in own else figure for name, figure in link.figures.items()}
    return replace(link, figures=figures, **own)  # type: ignore[arg-type]
