"""The question of ``volvelle compare``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from volvelle.base.option_kinds import Named
from volvelle.base.question import Option, option
from volvelle.questions.machine import RANDOM_SEED, SYSTEM
from volvelle.questions.shared import PURPOSE_MODEL
from volvelle.questions.training import MODEL, RUN_TOKENS, StatedStep

if TYPE_CHECKING:
    from volvelle.presentable import Presentable
    from volvelle.system.cluster import Cluster
    from volvelle.workload.families.shape import Transformer
    from volvelle.workload.graph import Workload

_ANSWERS = ("Answer", "Plan", "Mapping")


class CompareQuestion(StatedStep):
    """Compare B and others with A: how much faster, in which parts, and whether the difference is significant.

    Each is a system (dgx-h100/64), a model, a layout ("tp8 pp4 zero1"), software (fsdp), a change of the machine
    (scale_up.rate=2x), or an answer saved as JSON. Without a layout, each runs its fastest layout.
    """

    subcommand = "compare"
    summary = "Systems, models, layouts, software or saved answers side by side."
    examples = (
        "dgx-h100/64 dgx-b200/64 --model llama3-70b --batch 512",
        "'tp8 pp4 zero1' 'tp4 pp8 zero1' --model llama3-70b --on dgx-h100/64 --batch 512",
    )

    alternatives: "tuple[str | Path | Mapping[str, Any] | Presentable, ...]" = option(
        Option(
            "ALTERNATIVES",
            "Two or more systems, models, layouts, software, changes or saved answers.",
            kind=Named("text, a path, a dictionary, or the answer of estimate or plan", _ANSWERS, file=True),
            several=True,
            metavar="A B",
        ),
        kw_only=False,
    )
    model: "Transformer | Workload | Path | str | None" = option(  # type: ignore[assignment]
        PURPOSE_MODEL, default=None, kind=MODEL.kind, help="Model, unless A and B are models."
    )
    on: "Cluster | str | None" = option(SYSTEM, default=None, help="Machine, unless A and B are systems.")  # type: ignore[assignment]
    tokens: str | float | None = option(RUN_TOKENS, default=None)
    seed: int = option(RANDOM_SEED, default=0, help="Seed of the samples of ranges.")
