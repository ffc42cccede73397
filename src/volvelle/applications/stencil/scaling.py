"""How a stencil scales: the best cut at every count of accelerators, of the same grid and of one that grows."""

from dataclasses import asdict, dataclass
from itertools import permutations, product

from volvelle.applications.stencil.estimator import Sides, Stencil, StencilConstants, StencilLayout, StencilModel
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.torus import nearly_cubic

GROWTHS = ("strong", "weak")


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


def scaled(
    work: Stencil, local: Sides, system: Cluster, constants: StencilConstants, catalogue: Catalogue, *, growth: str
) -> tuple[ScaledStep, ...]:
    """Steps from one accelerator to those of the system; counts at which nothing fits are left out.

    Strong: the same grid at every count. Weak: every process keeps `local` cells, in grids of processes that are
    nearly cubic.
    """
    model = StencilModel(constants=constants)
    template = system.name.partition("/")[0]
    found: list[ScaledStep] = []
    for chips in counts_up_to(system.accelerators):
        try:
            machine = system if chips == system.accelerators else catalogue.cluster(f"{template}/{chips}")
        except VolvelleError:
            continue
        cuts = layouts_of(chips) if growth == "strong" else cubic_layouts(chips)
        asked = [(_grown(work, local, layout) if growth == "weak" else work, layout) for layout in cuts]
        runs = model.rank(asked, machine, top=1).best
        if not runs:
            continue
        best = runs[0]
        rate = best.facts["cell_updates"]
        first = found[0].cell_updates / found[0].chips if found else rate / chips
        waited = sum(part.time for part in best.contributions if part.exposed and part.part == "communication")
        found.append(
            ScaledStep(
                chips=chips,
                grid=best.workload.grid,
                processes=best.decision.processes,
                time=best.time,
                cell_updates=rate,
                exposed_exchange=waited / best.time,
                scaling_efficiency=rate / chips / first,
            )
        )
    return tuple(found)


def _grown(work: Stencil, local: Sides, layout: StencilLayout) -> Stencil:
    x, y, z = (side * parts for side, parts in zip(local, layout.processes, strict=True))
    return Stencil(grid=(x, y, z), points=work.points, element=work.element)
