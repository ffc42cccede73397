"""Layers of communication of any described machine, as MCL-HPL has them: memory, node, network.

The first layer is the accelerator's own memory, seen by one equivalent core. Its cores and memory words are those that
``data/benchmarks/hpl.yaml`` states for a chip; where none are stated they follow from the chip's vector rate and from
its memory's name and rate.
"""

from dataclasses import dataclass, replace

from volvelle.errors import DescriptionError
from volvelle.laws.hpl.layers import cores_of_rate, equivalent_core_rate, words_of_rate
from volvelle.mapping.process_grid import ProcessGrid, is_prime, nearly_square
from volvelle.quantities import BytesPerSecond, Count, Flop, FlopPerSecond, Seconds
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster

_CLOCK = 1.5e9
"""Hertz at which a chip is taken to run whose cores nobody states."""
_CYCLES = 1029.0
"""Cycles of latency that Kim et al. take for a P100, after Jia et al."""
_TRANSFERS = {
    "HBM2": 2.0e9,
    "HBM2e": 3.2e9,
    "HBM3": 5.2e9,
    "HBM3e": 8.0e9,
    "GDDR6": 16e9,
    "GDDR6X": 21e9,
    "GDDR7": 28e9,
    "DDR3": 1.333e9,
    "DDR4": 3.2e9,
    "DDR5": 4.8e9,
    "LPDDR5X": 8.5e9,
}
"""Transfers a second of one pin, by kind of memory."""
_USUAL_TRANSFERS = 3.2e9


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalentCore:
    """What makes one large core of an accelerator's many."""

    cores: Count
    words: Count
    """64-bit words that all memory controllers answer together."""
    cycles: Count
    """Of latency."""
    origin: str = "stated"
    """Where cores and words come from, in words."""


def derived_core(chip: Chip) -> EquivalentCore:
    """Any described chip as one equivalent core, from its vector rate and its memory.

    Within half of what is stated for GPUs, but for those whose cores start two operations at once (MI300): their cores
    are stated, and would come out 2.8 times too many.
    """
    transfers = _TRANSFERS.get(chip.memory.name, _USUAL_TRANSFERS)
    cores = max(1.0, round(float(cores_of_rate(chip.vector_rate(), operations=2.0, clock=_CLOCK))))
    words = max(1.0, round(float(words_of_rate(chip.memory.rate, transfers=transfers))))
    return EquivalentCore(
        cores=cores,
        words=words,
        cycles=_CYCLES,
        origin=(
            f"derived: cores of two operations a cycle at {_CLOCK * 1e-9:g} GHz, "
            f"{chip.memory.name} of {transfers * 1e-9:g} GT/s a pin, latency as of a P100"
        ),
    )


def with_given(core: EquivalentCore, **given: float | None) -> EquivalentCore:
    """The same core with the numbers that somebody gives of it."""
    known = {name: float(value) for name, value in given.items() if value is not None}
    if not known:
        return core
    origin = core.origin if len(known) < len(given) else ""
    return replace(core, **known, origin=f"{', '.join(known)} given" + (f"; {origin}" if origin else ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of communication, as one process sees it."""

    name: str
    latency: Seconds
    element: Seconds
    """Time of one 8-byte element."""
    row_parts: int
    column_parts: int
    """Units of this layer that share the matrix along its rows and columns; 1 and 1 for the last."""

    @property
    def rate(self) -> BytesPerSecond:
        """Of the link, as one process sees it."""
        return 8.0 / self.element


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTime:
    """What the panels of one layer take: those whose trailing matrix lies between two boundaries."""

    layer: Layer
    rows: tuple[float, float]
    """Rows of the trailing matrix where the layer below ends, and where this one does."""
    columns: tuple[float, float]
    """The same, of columns."""
    parts: tuple[tuple[str, float], ...]
    """Seconds by what they are for."""
    work: Flop

    @property
    def time(self) -> float:
        """Seconds of all parts."""
        return sum(seconds for _, seconds in self.parts)

    @property
    def rate(self) -> FlopPerSecond:
        """Of the whole machine while it is in this layer; 0 where nothing is done there."""
        return self.work / self.time if self.time > 0.0 else 0.0


def layers_of(
    cluster: Cluster, grid: ProcessGrid, core: EquivalentCore | None, *, prime_rule: bool = True
) -> list[Layer]:
    """Layers of a cluster, innermost first; the last spans the whole matrix."""
    found: list[Layer] = []
    if core is not None:
        rate = equivalent_core_rate(cluster.chip.memory.rate, cores=core.cores, words=core.words)
        found.append(
            Layer(
                name=cluster.chip.memory.name,
                latency=core.cycles / rate,
                element=8.0 / rate,
                row_parts=grid.rows,
                column_parts=grid.columns,
            )
        )
    joined = [(d, span) for d, span in zip(cluster.dimensions, cluster.spans, strict=True) if d.size > 1]
    for index, (dimension, span) in enumerate(joined):
        units = grid.processes // span
        last = index == len(joined) - 1 or units <= 1
        parts = (1, 1) if last else _units_of(grid, units, span, prime_rule=prime_rule)
        found.append(
            Layer(
                name=dimension.name,
                latency=dimension.link.latency,
                element=8.0 / dimension.link.sustained,
                row_parts=parts[0],
                column_parts=parts[1],
            )
        )
        if last:
            break
    if not found:
        raise DescriptionError(
            f"{cluster.name} has no network and no equivalent core was given: there is no layer to communicate over"
        )
    return found


def _units_of(grid: ProcessGrid, units: int, span: int, *, prime_rule: bool) -> tuple[int, int]:
    """How units of an intermediate layer share the matrix: as square as can be, smaller side first (equations 20, 21).

    If either side is prime, the paper follows the original P and Q: the grid of processes as units of so many cut it.
    """
    square = nearly_square(units)
    if not (prime_rule and any(map(is_prime, square))):
        return square
    inside = ProcessGrid.for_nodes(grid.rows, grid.columns, node=span)
    return max(1, grid.rows // inside.node_rows), max(1, grid.columns // inside.node_columns)
