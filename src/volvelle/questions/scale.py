"""The question of ``volvelle scale``."""

from collections.abc import Callable
from typing import Literal

from volvelle.base.option_kinds import Number, Text, Words
from volvelle.base.question import Option, option
from volvelle.domains import ACCELERATORS
from volvelle.questions.machine import PROGRESS, SYSTEM
from volvelle.questions.training import SearchedStep

Growth = Literal["strong", "weak"]
"""Strong: the same batch on more GPUs. Weak: a batch that grows with them."""


class ScaleQuestion(SearchedStep):
    """Find the best layout of MODEL at every doubling of GPUs of SYSTEM.

    The answer shows where time goes at each size and where scaling breaks: too little memory, or less than half of the
    efficiency of the smallest size.
    """

    subcommand = "scale"
    summary = "The best layout at every GPU count: efficiency, where time goes, where scaling breaks."
    examples = (
        "llama3-70b --on dgx-h100 --from 64 --to 4096 --batch 2048",
        "llama3-8b --on dgx-b200 --weak --seq 8192",
    )

    any_size = True

    on: str = option(SYSTEM, kind=Text(), help="Kind of machine without a GPU count, like dgx-h100.")
    first: int = option(Option("--from", "Fewest GPUs.", kind=Number(ACCELERATORS)), default=8)
    last: int = option(Option("--to", "Most GPUs.", kind=Number(ACCELERATORS)), default=4096)
    growth: Growth = option(
        Option(
            "--strong",
            "Keep the batch at every size (strong), or let it grow with the GPUs (weak).",
            kind=Words(("strong", "weak")),
            word_flags=True,
        ),
        default="strong",
    )
    progress: Callable[[int], None] | None = option(PROGRESS, default=None)
