"""Workloads of a study: what is asked at every point, one question class per kind of workload."""

from collections.abc import Mapping
from typing import Any, Literal

from volvelle.base.option_kinds import Number, Switch, Table, Text, Words
from volvelle.base.question import Option, Question, option
from volvelle.domains import FFT_SIDE, GRAPH_SIZE, SEQUENCES
from volvelle.errors import DescriptionError
from volvelle.questions.map import FORWARD, FORWARD_FIRST, GPT_LAYER_ONLY, MapFields
from volvelle.questions.serving import ServeQuestion
from volvelle.questions.training import BATCH, ELEMENT, GRADIENTS, SEQUENCE, Step, Tuned

MemoryLimit = Literal["enforced", "ignored"]
"""A layout that needs more memory than a GPU has cannot run, or runs nevertheless."""


class TrainedWork(Tuned, Step):
    """A model that is trained."""

    subcommand = "train"

    gradients: str | None = option(GRADIENTS, default=None, also=("gradient_element",))
    batch_per_replica: int | None = option(
        Option("", "Sequences per step and replica, so that the batch grows with replicas.", kind=Number(SEQUENCES)),
        default=None,
    )
    sizes: Mapping[str, float] | None = option(
        Option("", "Dimensions of the model that differ from the catalogue.", kind=Table(Number(GRAPH_SIZE))),
        default=None,
    )
    counting: Literal["derived", "comet"] = option(
        Option(
            "",
            "Kernels, bytes and collectives as declarations imply them, or as in COMET's tables.",
            kind=Words(("derived", "comet")),
        ),
        default="derived",
    )
    split_heads: bool = option(
        Option("", "Allow tensor-parallel degrees that do not divide the heads.", kind=Switch()), default=False
    )
    memory_limit: MemoryLimit = option(
        Option(
            "",
            "Whether a layout that needs more memory than a GPU has cannot run.",
            kind=Words(("enforced", "ignored")),
        ),
        default="enforced",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch is None and self.batch_per_replica is None:
            raise DescriptionError("a batch is needed: how many sequences or samples make a step")
        if self.batch is not None and self.batch_per_replica is not None:
            raise DescriptionError("give a batch, or a batch_per_replica that it grows with, not both")


class MappedWork(MapFields):
    """A graph that is mapped."""

    subcommand = "map"

    forward_first: bool | None = option(FORWARD_FIRST, default=None)
    forward: bool = option(FORWARD, default=False)
    gpt_layer_only: bool = option(GPT_LAYER_ONLY, default=False)


class PacedWork(Question):
    """Training at a measured pace."""

    subcommand = "pace"

    batch: int = option(BATCH)
    sequence: int = option(SEQUENCE)


class PlainWork(Question):
    """A benchmark without options: HPL, or HPCG."""

    subcommand = "run"


class FftWork(Question):
    """A fast Fourier transform."""

    subcommand = "fft"

    size: int = option(Option("", "Side of the cube.", kind=Number(FFT_SIDE)))


class DlrmWork(Question):
    """Training of a recommendation model."""

    subcommand = "dlrm"

    model: str = option(Option("", "Recommendation model.", kind=Text()))
    batch: int = option(BATCH, help="Samples per step, over all GPUs.")
    element: str = option(ELEMENT, default="bf16")


class MxpWork(Question):
    """HPL-MxP."""

    subcommand = "hpl-mxp"

    element: str = option(ELEMENT, default="fp16")


class StencilWork(FftWork):
    """A stencil on a cube."""

    subcommand = "stencil"

    points: Literal["7", "27"] = option(Option("", "Points of the stencil.", kind=Words(("7", "27"))), default="7")
    element: str = option(ELEMENT, default="fp64")


WORKLOADS: Mapping[str, type[Question]] = {
    "train": TrainedWork,
    "map": MappedWork,
    "serve": ServeQuestion,
    "pace": PacedWork,
    "hpl": PlainWork,
    "hpcg": PlainWork,
    "fft": FftWork,
    "dlrm": DlrmWork,
    "hpl-mxp": MxpWork,
    "stencil": StencilWork,
}
"""Kind of workload, or benchmark → the question that is asked."""
_OF_THE_STUDY = ("on", "catalogue", "emit", "checkpoint")
"""Fields of questions that a study states elsewhere, or that write files."""


def _is_key(question: type[Question], part: Option) -> bool:
    of_command = question is not ServeQuestion or part.in_command
    return of_command and not (part.is_argument or part.writes or part.name in _OF_THE_STUDY)


KEYS: Mapping[str, Mapping[str, Option]] = {
    kind: {part.name: part for part in question.options() if _is_key(question, part)}
    for kind, question in WORKLOADS.items()
}
"""Kind of workload → the fields of its question that a study may state, by name."""


def work_of(kind: str, subject: Any, stated: Mapping[str, Any]) -> Question:
    """Return the question of a workload; the machine of `serve` is filled in at every point."""
    question = WORKLOADS[kind]
    return question(subject, on="", **stated) if question is ServeQuestion else question(**stated)
