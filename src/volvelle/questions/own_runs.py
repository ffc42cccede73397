"""The question of ``volvelle calibrate from``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from volvelle.base.option_kinds import InputFile, Named, Text
from volvelle.base.question import Option, Question, option
from volvelle.questions.applications import OWN_MODEL, SAVE
from volvelle.questions.layout import StatedLayout
from volvelle.questions.machine import CATALOGUE, STACK, SYSTEM
from volvelle.questions.training import BATCH, ELEMENT, SEQUENCE

if TYPE_CHECKING:
    from volvelle.questions.machine import Folder
    from volvelle.workload.families.shape import Transformer

_FROM_LOGS = "as logs state"


class CalibrateFromQuestion(StatedLayout, Question):
    """Fit the constants of your machine to logs of your own benchmarks and training runs.

    Logs of nccl-tests, rccl-tests, Megatron-LM, torchtitan, NeMo, DeepSpeed, Hugging Face's Trainer, MLPerf, HPL and
    rocblas-bench are recognised by their content. Steps at the start, checkpoints and evaluations are left out. Options
    state the model, batch and layout where a log does not. Only --save writes a file.
    """

    subcommand = "calibrate from"
    summary = "Constants of your machine, from logs of your own."
    examples = (
        "examples/logs/nemo-llama3-8b.log --on dgx-h100/8 --model llama3-8b --cp 2",
        "examples/logs/nemo-llama3-8b.log --on dgx-h100/8 --model llama3-8b --cp 2 --save mine.yaml",
    )

    logs: Sequence[Path | str] = option(
        Option("LOG", "Logs of benchmarks or training runs.", kind=InputFile(), several=True),
        kw_only=False,
    )
    on: str = option(SYSTEM, kind=Text(), help="Machine of the runs, like dgx-h100/64, or dgx-h100 alone.")
    model: "Transformer | Path | str | None" = option(
        OWN_MODEL,
        kind=Named("text, a path or a Transformer", ("Transformer",), file=True),
        usually=_FROM_LOGS,
        default=None,
    )
    batch: int | None = option(BATCH, default=None, usually=_FROM_LOGS)
    sequence: int | None = option(SEQUENCE, default=None, usually=f"{_FROM_LOGS}, or the model's context")
    element: str | None = option(ELEMENT, default=None, usually=f"{_FROM_LOGS}, or bf16")
    stack: str | None = option(STACK, default=None, usually=_FROM_LOGS)
    save: Path | str | None = option(
        SAVE, help="Write the constants, for --calibrated of other commands.", default=None
    )
    catalogue: "Folder" = option(CATALOGUE, default=None)
