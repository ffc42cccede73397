"""Gains of speculation against the batch, as a picture."""

from collections.abc import Mapping

from volvelle.applications.serving.speculation.gain import SpeculationGain
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.lines import line_chart
from volvelle.report.figures.theme import WIDE
from volvelle.report.speculation.text import drafts_text, loss_text


def gain_picture(found: SpeculationGain, *, width: float = WIDE) -> Chart | None:
    """Of one way to draft; None: no batch fits."""
    return gains_picture({drafts_text(found).partition(":")[0]: found}, width=width)


def gains_picture(found: Mapping[str, SpeculationGain], *, width: float = WIDE) -> Chart | None:
    """Of several ways to draft, at the batches that all of them have."""
    shared = set.intersection(*({row.batch for row in gain.batches} for gain in found.values()))
    batches = sorted(shared)
    if not batches:
        return None
    lines = {name: [row.gain for row in gain.batches if row.batch in shared] for name, gain in found.items()}
    return line_chart(
        lines,
        places=[f"{batch:,}" for batch in batches],
        title="Gain of speculation against the batch",
        about="; ".join(f"{name}: {loss_text(gain)}" for name, gain in found.items()),
        x_title="sequences at once",
        y_title="times as fast for each user",
        limits=((1.0, "no gain"),),
        width=width,
    )
