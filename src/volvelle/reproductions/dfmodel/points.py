"""Points of a published design space, evaluated as its authors describe: axes are its parts, by name."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.published.dfmodel import DesignPoint, dfmodel
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.reproductions.dfmodel.design_space import PointSolver
from volvelle.studies.design_space.points import Slice
from volvelle.studies.design_space.published_space import StudiedPoints

_PARTS = ("workload", "chip", "topology", "memory", "link")


def _part(point: DesignPoint, name: str) -> str:
    return str(getattr(point, "accelerator" if name == "chip" else name))


class PublishedPoints:
    """Evaluates points of DFModel's design space, each mapped to a proven optimum."""

    def __init__(self, study: StudiedPoints) -> None:
        self.study = study
        self.evaluated = 0
        missing = [part for part in _PARTS if part not in {path for axis in study.axes for path in axis.columns}]
        if missing:
            raise DescriptionError(
                f"a published machine has all of {', '.join(_PARTS)}; {', '.join(missing)} is on no axis: add it with "
                "one value or more"
            )

    @cached_property
    def _solver(self) -> PointSolver:
        return PointSolver(dfmodel())

    @cached_property
    def _known(self) -> dict[tuple[str, ...], DesignPoint]:
        return {tuple(_part(one, part) for part in _PARTS): one for one in dfmodel().design_space}

    def rows(self, start: int, stop: int) -> Slice:
        """Rows from `start` to `stop` of the study."""
        return self.points(self.study.grid.numbers(start, stop))

    def points(self, numbers: NDArray[np.int64]) -> Slice:
        """Some combinations by number."""
        positions = self.study.grid.positions(numbers)
        columns = {name: np.empty(len(numbers)) for name in self.study.measures}
        for row in range(len(numbers)):
            parts = {
                path: str(values[int(positions[axis.name][row])])
                for axis in self.study.axes
                for path, values in axis.columns.items()
            }
            found = self._solver.solve(self._known[tuple(parts[part] for part in _PARTS)])
            self.evaluated += 1
            values = {
                "time": found.answer.time,
                "mfu": found.utilisation,
                "machine_usd": found.machine.price,
                "power": found.machine.power,
                "flops_per_usd": found.measure("per_dollar"),
                "flops_per_joule": found.measure("per_watt"),
                "chips": float(found.machine.chips),
            }
            for name, column in columns.items():
                if name not in values:
                    raise DescriptionError(f"{UnknownNameError.among('measure of a published point', name, values)}")
                column[row] = values[name]
        return Slice(
            numbers=numbers, positions=positions, columns=columns, reason=np.zeros(len(numbers), dtype=np.int8)
        )


class _Space:
    """DFModel's 80 machines under four workloads."""

    package = "volvelle.reproductions.dfmodel"
    measures = ("mfu", "machine_usd", "power", "flops_per_usd", "flops_per_joule")

    def values(self, path: str, values: Sequence[object] | None, where: str) -> tuple[str, ...]:
        """Values of an axis, checked against what was published."""
        if path not in _PARTS:
            raise DescriptionError(f"{where}: {UnknownNameError.among('part of the published machines', path, _PARTS)}")
        if values is None:
            raise DescriptionError(f"{where}: give its values as a list of names")
        known = dict.fromkeys(_part(point, path) for point in dfmodel().design_space)
        for value in values:
            if value not in known:
                raise DescriptionError(f"{where}: {UnknownNameError.among(path, str(value), known)}")
        return tuple(str(value) for value in values)

    def source(self, study: StudiedPoints) -> PublishedPoints:
        """What evaluates the points of a study of it."""
        return PublishedPoints(study)


SPACE = _Space()
