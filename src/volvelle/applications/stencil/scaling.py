"""How a stencil scales: the best cut at every count of accelerators, of the same grid and of one that grows."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, permutations, product

from volvelle.applications.stencil.estimator import Sides, Stencil, StencilConstants, StencilLayout, StencilModel
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.torus import nearly_cubic

GROWTHS = ("strong", "weak")
BREAKS = 0.5
"""Efficiency below which a grid is said to scale no further."""
_MOST = 2**20
"""Accelerators up to which a grid is followed that goes on scaling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledStep:
    """A step at one count of accelerators."""

    chips: int
    grid: Sides
    processes: Sides
    time: float
    cell_updates: float
    exposed_exchange: float
    """Share of the time that halos are waited for."""
    launch_share: float
    """Share of the time that goes into starting kernels on cells; those that pack and unpack are in the exchange."""
    scaling_efficiency: float
    """Cells a second and chip, over those of the fewest chips that run."""

    def fields(self) -> dict[str, object]:
        """As plain values."""
        return asdict(self)


def layouts_of(chips: int) -> tuple[StencilLayout, ...]:
    """Every way to cut three sides into so many processes."""
    divisors = [count for count in range(1, chips + 1) if chips % count == 0]
    return tuple(
        StencilLayout(processes=(x, y, chips // (x * y)))
        for x, y in product(divisors, divisors)
        if chips % (x * y) == 0
    )


def cubic_layouts(chips: int) -> tuple[StencilLayout, ...]:
    """Cuts into nearly cubic grids of processes, in every order of their sides."""
    orders = dict.fromkeys(permutations(nearly_cubic(chips, 3)))
    return tuple(StencilLayout(processes=(x, y, z)) for x, y, z in orders)


def counts_up_to(chips: int) -> tuple[int, ...]:
    """Doublings up to the count, and the count itself."""
    found = [1]
    while found[-1] * 2 < chips:
        found.append(found[-1] * 2)
    return tuple(dict.fromkeys((*found, chips)))


def counts_beyond(chips: int) -> Iterator[int]:
    """Doublings beyond a count, as far as anything is followed."""
    while chips * 2 <= _MOST:
        chips *= 2
        yield chips


def scaled(
    work: Stencil, local: Sides, system: Cluster, constants: StencilConstants, catalogue: Catalogue
) -> dict[str, tuple[ScaledStep, ...]]:
    """Steps by growth, from one accelerator on; counts at which nothing fits are left out.

    Strong: the same grid at every count, up to those of the system, and on larger ones of its kind until it scales no
    further. Weak: every process keeps `local` cells at the same counts, in grids of processes that are nearly cubic.
    """
    found: dict[str, list[ScaledStep]] = {growth: [] for growth in GROWTHS}
    own = counts_up_to(system.accelerators)
    for chips in chain(own, counts_beyond(system.accelerators)):
        strong = found["strong"]
        broken = strong and strong[-1].scaling_efficiency < BREAKS
        if chips > system.accelerators and (broken or not strong):
            break
        machine = _machine(system, chips, catalogue)
        if machine is None:
            continue
        for growth, steps in found.items():
            step = _step(work, local, machine, constants, growth=growth, first=steps[0] if steps else None)
            if step is not None:
                steps.append(step)
            elif chips > system.accelerators:
                return {growth: tuple(steps) for growth, steps in found.items()}
    return {growth: tuple(steps) for growth, steps in found.items()}


def broken_at(steps: Sequence[ScaledStep]) -> ScaledStep | None:
    """The first count at which a grid scales no further; None: it goes on as far as it was followed."""
    return next((step for step in steps if step.scaling_efficiency < BREAKS), None)


def _machine(system: Cluster, chips: int, catalogue: Catalogue) -> Cluster | None:
    """The system with another count, or None where it cannot have it."""
    if chips == system.accelerators:
        return system
    try:
        return catalogue.cluster(f"{system.name.partition('/')[0]}/{chips}")
    except VolvelleError:
        return None


def _step(
    work: Stencil, local: Sides, machine: Cluster, constants: StencilConstants, *, growth: str, first: ScaledStep | None
) -> ScaledStep | None:
    """The best step at one count; None where nothing fits."""
    chips = machine.accelerators
    cuts = layouts_of(chips) if growth == "strong" else cubic_layouts(chips)
    asked = [(_grown(work, local, layout) if growth == "weak" else work, layout) for layout in cuts]
    runs = StencilModel(constants=constants).rank(asked, machine, top=1).best
    if not runs:
        return None
    best = runs[0]
    rate = best.facts["cell_updates"]
    each = rate / chips if first is None else first.cell_updates / first.chips
    shares = {
        part: sum(line.time for line in best.contributions if line.exposed and line.part == part) / best.time
        for part in ("communication", "overhead")
    }
    return ScaledStep(
        chips=chips,
        grid=best.workload.grid,
        processes=best.decision.processes,
        time=best.time,
        cell_updates=rate,
        exposed_exchange=shares["communication"],
        launch_share=shares["overhead"],
        scaling_efficiency=rate / chips / each,
    )


def _grown(work: Stencil, local: Sides, layout: StencilLayout) -> Stencil:
    x, y, z = (side * parts for side, parts in zip(local, layout.processes, strict=True))
    return Stencil(grid=(x, y, z), points=work.points, element=work.element)
