"""What a measured transform states, and the question it puts to the model, with what had to be assumed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, log2
from pathlib import Path

from volvelle.applications.contract import Question
from volvelle.applications.fft.constants import fft_model_error
from volvelle.applications.fft.estimator import FftLayout, FftModel, FftProblem, fft_layouts
from volvelle.applications.measured_table import MeasuredTable, RowHead, read_columns
from volvelle.applications.model_error import ModelError
from volvelle.applications.table_cells import column
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.catalogue.loader import Catalogue
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.torus import nearly_cubic


@dataclass(frozen=True, slots=True, kw_only=True)
class FftMeasurement:
    """One timed transform, or one timed transposition, as its source states it."""

    head: RowHead
    library: str
    system: str
    accelerator: str = column("accel", needed=True)
    chips: int | None = column("n_accel", needed=True)
    chips_per_node: int | None = column("accel_per_node")
    transport: str
    """How data travel: one of `TRANSPORTS`; empty where not stated."""
    nx: int | None = column("nx", needed=True)
    ny: int | None = column("ny", needed=True)
    nz: int | None = column("nz", needed=True)
    stated_points: float | None = column("points")
    """Of the whole grid, where its sides are not stated."""
    transform: str = column("transform", needed=True)
    precision: str = column("precision", needed=True)
    decomposition: str
    stated_seconds: float | None = column("time_s_per_transform", measured=True)
    rate: float | None = column("tflops", scale=1e12, measured=True)

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """Sides of the grid, where all are stated."""
        return (self.nx, self.ny, self.nz) if self.nx and self.ny and self.nz else None

    @property
    def points(self) -> float | None:
        """Of the whole grid."""
        return float(self.shape[0] * self.shape[1] * self.shape[2]) if self.shape else self.stated_points

    @property
    def rounded(self) -> bool:
        """Whether the time was computed from a printed rate."""
        return self.stated_seconds is None and self.seconds is not None

    @property
    def seconds(self) -> float | None:
        """One transform, forward or backward."""
        if self.stated_seconds is not None or self.rate is None or self.points is None:
            return self.stated_seconds
        return 5.0 * self.points * log2(self.points) / self.rate


def fft_measurements(file: Path | None = None) -> MeasuredTable[FftMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    return read_columns("fft", FftMeasurement, file=file)


TRANSPORTS = ("nccl", "host-staged", "cuda-aware-mpi")
"""Ways in which data travel between accelerators."""
_EDGE = 1.2816
"""Standard deviations from the centre to the end of an 80 % range."""
_CUBE = 1024
"""Side of a grid whose points alone are stated, for two of its sides."""


FftQuestion = Question[FftProblem, FftLayout, ModelError]
"""A transform on a machine, by the layouts that a row's words allow."""


def fft_question(row: FftMeasurement, catalogue: Catalogue) -> FftQuestion | str:
    """The question a row puts, or why it puts none."""
    problem = _refusal(row)
    if problem:
        return problem
    assert row.chips is not None
    assert row.points is not None
    assumed = []
    names = _machines(row)
    if not names:
        return f"the catalogue has no cluster of {row.accelerator!r}" + (
            f" over {row.transport}" if row.transport else ""
        )
    if "?" in row.accelerator:
        assumed.append("accelerator")
    clusters = [_cluster(name, row, catalogue) for name in names]
    shape = row.shape or (_CUBE, _CUBE, max(1, round(row.points / _CUBE**2)))
    if row.shape is None:
        assumed.append("sides of the grid")
    single = "single" in row.precision or "fp32" in row.precision
    if "double real" in row.precision:
        single = row.transform == "C2C"
    if "same" in row.precision or "?" in row.precision:
        # The sample's default is complex of 64 bits.
        single = True
        assumed.append("precision")
    asks = FftProblem(
        shape=shape,
        element="fp32" if single else "fp64",
        real="real" in row.precision and row.transform != "C2C",
        transforms=row.transform != "transpose-only",
        bricks="bricks" in row.decomposition,
    )
    choice, group = _choice(row)
    if not row.decomposition:
        assumed.append(f"decomposition: {choice}")
    if row.rounded:
        assumed.append("time from a printed rate")
    candidates = tuple((asks, layout) for layout in _layouts(choice, group, row.chips))
    cluster, unstated = _middle(clusters, candidates)
    if len(clusters) > 1:
        assumed.append(f"transport: {', '.join(TRANSPORTS)} all considered")
    error = fft_model_error(cluster)
    return Question(
        candidates=candidates,
        system=cluster,
        calibration=error,
        assumed=tuple(assumed),
        unstated=unstated,
        outside=error.outside(cluster),
    )


def _machines(row: FftMeasurement) -> tuple[str, ...]:
    """Return the clusters that the accelerator and the transport of a row name; without a transport, one for each."""
    alias = accelerator_alias(row.accelerator)
    if alias is None:
        return ()
    way = row.transport or next((way for way in TRANSPORTS if way in row.library.lower()), "")
    if row.transport or way in alias.over:
        named = alias.over.get(way)
        return () if named is None else (named,)
    several = tuple(alias.over[way] for way in TRANSPORTS if way in alias.over)
    return several or (() if alias.cluster is None else (alias.cluster,))


def _cluster(name: str, row: FftMeasurement, catalogue: Catalogue) -> Cluster:
    cluster = catalogue.cluster(f"{name}/{row.chips}")
    if name == "hector-xe6" and row.chips_per_node:
        return _thinner(cluster, 24.0 / row.chips_per_node)
    return cluster


def _middle(clusters: Sequence[Cluster], candidates: Sequence[tuple[FftProblem, FftLayout]]) -> tuple[Cluster, float]:
    """Return the cluster whose best time is the median, and the standard deviation that the others leave open.

    The deviation is of the logarithm of the time. An 80 % range of that width reaches the furthest cluster.
    """
    if len(clusters) == 1:
        return clusters[0], 0.0
    timed = sorted((log(min(FftModel().ranked_by(candidates, each))), each.name, each) for each in clusters)
    middle = timed[len(timed) // 2]
    return middle[2], max(abs(time - middle[0]) for time, _, _ in timed) / _EDGE


def _layouts(choice: str, exchange: tuple[int, int] | None, ranks: int) -> tuple[FftLayout, ...]:
    """``slab``, ``pencil``, ``square`` (pencils over a grid that is nearly one), or ``best`` of all."""
    if exchange is not None:
        return (FftLayout(rows=ranks, exchange=exchange),)
    choices = fft_layouts(ranks)
    if choice == "square":
        short, long = nearly_cubic(ranks, 2)
        return (FftLayout(rows=long, columns=short),)
    return choices[:1] if choice == "slab" else choices[1:] if choice == "pencil" else choices


def _refusal(row: FftMeasurement) -> str:
    if row.head.split == "excluded":
        return f"excluded: {row.head.excluded_because}"
    if row.seconds is None:
        return "it states neither a time nor a rate with a size"
    if row.points is None:
        return "it does not state the size of the grid"
    if row.chips is None:
        return "it does not state how many accelerators there are"
    if "ROCm GPU" in row.accelerator:
        return "its source does not say which accelerator it ran on"
    if row.transform not in ("C2C", "R2C", "transpose-only"):
        return f"a transform {row.transform!r} is not of a three-dimensional grid"
    return ""


def _choice(row: FftMeasurement) -> tuple[str, tuple[int, int] | None]:
    """What is known of the decomposition: as stated, or by the library's habit."""
    stated = re.fullmatch(r"grid (\d+)x(\d+) transpose (\w\w)", row.decomposition)
    if stated:
        first, second = int(stated[1]), int(stated[2])
        # cuDECOMP numbers ranks along the second side of its grid first.
        return "pencil", (first, second) if stated[3] in ("XY", "YX") else (second, 1)
    by_habit = row.library.startswith(("HeFFTe", "AccFFT")) and row.transport != "host-staged"
    if "bricks" in row.decomposition or by_habit:
        return "square", None
    if "slab" in row.library.lower() or "slab" in row.decomposition or "cufft" in row.library.lower():
        return "slab", None
    if "pencil" in row.decomposition or row.transform == "transpose-only":
        return "pencil", None
    return "best", None


def _thinner(cluster: Cluster, factor: float) -> Cluster:
    """A machine whose nodes are only partly used: each rank has more of the node's memory and of its network."""
    memory = replace(cluster.chip.memory, rate=cluster.chip.memory.rate * factor)
    *inner, outer = cluster.dimensions
    inner = [replace(each, link=replace(each.link, rate=each.link.rate * factor)) for each in inner]
    outer = replace(outer, link=replace(outer.link, rate=outer.link.rate * factor))
    return replace(cluster, chip=replace(cluster.chip, memories=(memory,)), dimensions=(*inner, outer))
