"""High-Performance Linpack panel by panel, with look-ahead: what the update hides, and what it cannot."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.hpl.contract import ELEMENT, AbstractHplModel, HplEstimate, check_grid
from volvelle.applications.hpl.layers import LayerTime, derived_core, layers_of
from volvelle.errors import OutsideDomainError
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.result import Contribution, Range
from volvelle.laws.hpl.closed_form import hpl_memory, hpl_work
from volvelle.laws.hpl.panels import (
    hidden_swap_time,
    panel_broadcast_time,
    panel_factorisation_time,
    panel_staging_time,
    power_limited_rate,
    row_swap_time,
    spilled_share,
    spilled_update_time,
    trailing_update_time,
)
from volvelle.mapping.process_grid import Broadcast, ProcessGrid
from volvelle.quantities import BytesPerSecond, Count, Fraction, Seconds
from volvelle.spread import LogStudent
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class HplConstants:
    """What is not in a data sheet: how one family of accelerators does in the benchmark."""

    family: str
    block: int
    """Columns of a panel, where none are given."""
    spilled_block: int
    """The same, for a matrix that does not fit the accelerators' memory."""
    efficiency: Fraction
    """Share of the peak that large products reach while power allows it."""
    work_per_joule: Count
    """Operations that a joule buys at the power limit."""
    waiting: Fraction
    """Share of reading and writing the trailing matrix that products do not hide."""
    column: Seconds
    """What each column of a panel costs, whatever its length."""
    panel_intensity: Count
    """Operations of a panel factorisation to a byte that memory could have moved."""
    swap_hidden: Fraction
    """Share of a row swap that may run behind the update."""
    staged: Fraction
    """Share of the copies between chip and host that nothing hides."""
    error: float
    """How far runs were off in calibration, one standard deviation as a factor."""
    fitted: bool
    """Whether calibration runs were on this family."""
    tilt: float = 0.0
    """By so much, as a logarithm, the range of a time reaches further above than half of it, and below less: that of
    rates (`ModelErrorRegime.tilt`) with the other sign."""
    own_rate: float = 1.0
    """Rate of own runs over what is predicted without them."""
    own: str = ""
    """What own runs say; nothing: there are none."""

    @property
    def doubt(self) -> LogStudent:
        """Factors by which a time may be off."""
        return LogStudent(1.0, self.error, self.tilt)


MOST_PANELS = 10**7
"""That are followed: a matrix of a billion rows in blocks of a hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelGroups:
    """Panels that are alike: the local share of the trailing matrix, and how many panels see it."""

    rows: Column
    columns: Column
    count: Column
    left: Column
    """Rows of the whole trailing matrix."""


@dataclass(frozen=True, slots=True)
class PanelLine:
    """What one thing takes in a panel of each group."""

    name: str
    part: str
    shown: Seconds
    hidden: Seconds
    resource: str
    law: str


def panel_groups(problem: Hpl, grid: ProcessGrid) -> PanelGroups:
    """All panels, those with the same local share taken together.

    Blocks are dealt out cyclically, so the share of the fullest process changes only every P-th and Q-th panel: ten
    million rows on a hundred thousand processes are some hundred groups.
    """
    panels = ceil(problem.order / problem.block)
    if panels > MOST_PANELS:
        raise OutsideDomainError(
            f"a matrix of {problem.order:,} rows has {panels:,} panels of {problem.block} columns, and no more than "
            f"{MOST_PANELS:,} are followed; check N, or take a larger NB"
        )
    changes = np.unique(
        np.concatenate(
            [
                np.arange(0, panels, 1) if grid.rows == 1 or grid.columns == 1 else np.arange(0, 1),
                panels - np.arange(0, panels, grid.rows),
                panels - np.arange(0, panels, grid.columns),
                [0],
            ]
        )
    )
    starts = changes[changes < panels]
    left = panels - starts
    return PanelGroups(
        rows=np.ceil(left / grid.rows) * problem.block,
        columns=np.ceil(left / grid.columns) * problem.block,
        count=np.diff(np.append(starts, panels)).astype(np.float64),
        left=np.minimum(left * float(problem.block), float(problem.order)),
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PanelByPanel(AbstractHplModel):
    """Each panel is factorised and broadcast while the update of the one before runs; row swaps hide in part."""

    constants: HplConstants
    level: float = 0.8
    """Share of runs that the range is meant to hold."""

    def estimate(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> HplEstimate:
        """How one run does."""
        groups, lines = self.steps(problem, cluster, grid)
        parts = tuple(
            Contribution(
                name=line.name, part=line.part, time=seconds, exposed=exposed, resource=line.resource, law=line.law
            )
            for line in lines
            for times, exposed in ((line.shown, True), (line.hidden, False))
            if (seconds := float(np.sum(times * groups.count))) > 0.0
        )
        time = sum(part.time for part in parts if part.exposed)
        least, most = self.constants.doubt.bounds(self.level)
        told = "the model, by calibration runs" if self.constants.fitted else "the model, not calibrated on this family"
        told = "the model, by own runs" if self.constants.own else told
        time_range = Range(low=time * least, high=time * most, level=self.level, varied=(told,))
        spilled = spilled_share(hpl_memory(float(problem.order)), kept=cluster.chip.memory.capacity * grid.processes)
        return self.answer(
            problem, cluster, grid, parts, time_range=time_range, facts={"in_host_memory": float(spilled)}
        )

    def by_layer(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> tuple[LayerTime, ...]:
        """What is exposed of panels whose trailing matrix ends within each layer; links as one process sees them."""
        groups, lines = self.steps(problem, cluster, grid)
        order = float(problem.order)
        found, above, beside = [], 0.0, 0.0
        for layer in layers_of(cluster, grid, derived_core(cluster.chip)):
            tall, wide = max(above, order / layer.row_parts), max(beside, order / layer.column_parts)
            own = groups.count * ((groups.left > above) & (groups.left <= tall))
            parts = [
                ("compute" if line.name == "update" else line.name, float(np.sum(line.shown * own))) for line in lines
            ]
            work = float(hpl_work(tall) - hpl_work(above))
            found.append(
                LayerTime(layer=layer, rows=(above, tall), columns=(beside, wide), parts=tuple(parts), work=work)
            )
            above, beside = tall, wide
        return tuple(found)

    def steps(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> tuple[PanelGroups, tuple[PanelLine, ...]]:
        """Groups of panels that are alike, and what one panel of each takes, line by line."""
        check_grid(cluster, grid)
        steps = panel_groups(problem, grid)
        own, chip, block = self.constants, cluster.chip, float(problem.block)
        power = chip.power if chip.power is not None else np.inf
        rate = power_limited_rate(
            chip.matrix_rate(ELEMENT), efficiency=own.efficiency, power=power, work_per_joule=own.work_per_joule
        )
        down, across = sending_rates(cluster, grid)
        latency = cluster.dimensions[-1].link.latency
        update = trailing_update_time(
            steps.rows,
            steps.columns,
            block=block,
            rate=rate,
            memory=chip.memory.rate * fitted_constants(cluster, ELEMENT, software=False).memory_efficiency,
            waiting=own.waiting,
            units=chip.units,
            tile=chip.tile,
        )
        matrix = hpl_memory(float(problem.order))
        spilled = float(spilled_share(matrix, kept=chip.memory.capacity * grid.processes))
        streamed: Seconds = np.zeros_like(update)
        if spilled > 0.0:
            if cluster.host_rate is None:
                raise OutsideDomainError(
                    f"a matrix of {problem.order} rows does not fit the memory of {grid.processes} {chip.name}, and "
                    f"{cluster.name} states no link to host memory"
                )
            streamed = spilled_update_time(steps.rows, steps.columns, share=spilled, host=cluster.host_rate)
        panel = panel_factorisation_time(
            steps.rows,
            float(grid.rows),
            block=block,
            column=own.column,
            rate=own.panel_intensity * chip.memory.rate,
            latency=latency,
            sending=down,
        )
        messages, copies = broadcast_shape(grid)
        broadcast = panel_broadcast_time(
            steps.rows, block=block, latency=latency, sending=across, messages=messages, copies=copies
        ) * float(grid.columns > 1)
        swap = row_swap_time(steps.columns, float(grid.rows), block=block, latency=latency, sending=down) * float(
            grid.rows > 1
        )
        host = np.inf if cluster.host_rate is None else cluster.host_rate
        staging = panel_staging_time(steps.rows, steps.columns, float(grid.columns), block=block, host=host)
        # What the update of the panel before hides, and what it cannot.
        longer, before = np.maximum(update, streamed), panel + broadcast
        share = (np.maximum(before - longer, 0.0) if grid.depth > 0 else before) / before
        swap_hidden: Seconds = np.zeros_like(swap)
        if grid.depth > 0:
            swap_hidden = hidden_swap_time(swap, longer, before, share=own.swap_hidden)
        waited, kept = longer - update, own.staged
        link = cluster.dimensions[-1].link.name
        lines = (
            ("update", "compute", update, 0.0 * update, chip.name, "trailing_update_time"),
            ("host memory", "communication", waited, streamed - waited, "host", "spilled_update_time"),
            ("panel factorisation", "panel", panel * share, panel * (1 - share), chip.name, "panel_factorisation_time"),
            (
                "panel broadcast",
                "communication",
                broadcast * share,
                broadcast * (1 - share),
                link,
                "panel_broadcast_time",
            ),
            ("row swap", "communication", swap - swap_hidden, swap_hidden, link, "row_swap_time"),
            ("staging", "communication", kept * staging, (1 - kept) * staging, "host", "panel_staging_time"),
        )
        return steps, tuple(
            PanelLine(name, part, shown / own.own_rate, hidden / own.own_rate, resource, law)
            for name, part, shown, hidden, resource, law in lines
        )


def exposed_of(whole: Mapping[str, Column], grid: ProcessGrid, own: HplConstants) -> Column:
    """What each panel takes, given what each of its parts takes, hidden or not."""
    longer = np.maximum(whole["update"], whole["host memory"])
    before, swap = whole["panel factorisation"] + whole["panel broadcast"], whole["row swap"]
    staged = own.staged * whole["staging"]
    if not grid.depth:
        return longer + before + swap + staged
    hidden = hidden_swap_time(swap, longer, before, share=own.swap_hidden)
    return longer + np.maximum(before - longer, 0.0) + swap - hidden + staged


def broadcast_shape(grid: ProcessGrid) -> tuple[float, float]:
    """Messages and copies of the panel until the next column has it."""
    columns = float(grid.columns)
    if grid.broadcast in (Broadcast.LONG, Broadcast.LONG_MODIFIED):
        return float(np.log2(columns)) + columns - 1.0, 2.0 * (columns - 1.0) / columns
    modified = grid.broadcast in (Broadcast.RING_MODIFIED, Broadcast.TWO_RINGS_MODIFIED)
    return 1.0, 1.0 if modified else 2.0


def sending_rates(cluster: Cluster, grid: ProcessGrid) -> tuple[BytesPerSecond, BytesPerSecond]:
    """Rates that one process sees along a column and along a row of the grid.

    Every process sends for itself: its share of the node's ports where the column or row leaves the node, the slowest
    link of the node where it does not.
    """
    network = cluster.dimensions[-1].link.sustained
    inner = [dimension.link.sustained for dimension in cluster.dimensions[:-1] if dimension.size > 1]
    inside = min(inner) if inner else network
    down = inside if grid.rows <= grid.node_rows else network
    across = inside if grid.columns <= grid.node_columns else network
    return down, across
