"""A step layer by layer and phase by phase, as a table."""

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from volvelle.estimators.training.layer_phases import PHASES, LayerPhase
from volvelle.quantities import SECONDS, show
from volvelle.report.terminal import plain_table


def layers_table(rows: Sequence[LayerPhase]) -> Table:
    """Seconds a step of every operation, and of the collectives that nothing hides and of those that are hidden."""
    phases = [phase for phase in PHASES if any(row.phase == phase for row in rows)]
    table = plain_table(
        "Layer by layer, phase by phase: seconds a step on a chip of the slowest stage",
        ("layer", *phases, "all"),
        numbers=(*phases, "all"),
        folded=phases,
    )

    def add(name: str, times: Mapping[str, float], style: str = "") -> None:
        if any(times.values()):
            told = [show(times[phase], SECONDS) if times.get(phase) else "" for phase in phases]
            table.add_row(Text(name), *told, show(sum(times.values()), SECONDS), style=style)

    for block in dict.fromkeys(row.block for row in rows):
        own = [row for row in rows if row.block == block]
        first = own[0]
        often = f"{block} × {first.layers:g}" + (f" × {first.micro_batches:g}" if first.micro_batches > 1 else "")
        exposed, hidden = ({p: _exchanged(own, p, exposed=shown) for p in phases} for shown in (True, False))
        add(often, {p: sum(row.step_time for row in own if row.phase == p) + exposed[p] for p in phases}, "bold")
        for layer in dict.fromkeys(row.layer for row in own):
            add(f"  {layer}", {row.phase: row.step_time for row in own if row.layer == layer})
        add("  collectives", exposed)
        add("  hidden: collectives", hidden, "dim")
    return table


def _exchanged(rows: Sequence[LayerPhase], phase: str, *, exposed: bool) -> float:
    return sum(row.exchange_time(exposed=exposed) for row in rows if row.phase == phase)
