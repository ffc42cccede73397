"""Options about a training step that many questions share: the model, its batch, and what of it is trained."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from volvelle.base.option_kinds import Listed, Named, Number, Switch, Text, Words
from volvelle.base.question import Option, Question, option
from volvelle.domains import EXPERT_LOAD, NO_LAYERS, RANK, SEQUENCES, STEP_TIME, TOKENS, WIDTH
from volvelle.questions.layout import MAPPING, UNSTATED, ConsideredLayouts, OneLayout, StatedLayout
from volvelle.questions.machine import MARGIN_LEFT, SYSTEM, OtherMachine, Software
from volvelle.workload.families.shape import TRAINING_LENGTH
from volvelle.workload.optimisers import MASTERS, OPTIMISERS
from volvelle.workload.tuning import BASES, FROZEN_PARTS, TARGETS

if TYPE_CHECKING:
    from volvelle.mapping.parallelism import ParallelMapping
    from volvelle.system.cluster import Cluster
    from volvelle.workload.families.shape import Transformer
    from volvelle.workload.graph import Workload
    from volvelle.workload.packing import Lengths

MODEL = Option(
    "MODEL",
    "Name in the catalogue (volvelle catalogue models), or a Hugging Face config.json or its folder.",
    kind=Named("text, a path, a Transformer or a Workload", ("Transformer", "Workload"), file=True),
    metavar="MODEL",
)
BATCH = Option("--batch", "Sequences per step, over all GPUs.", kind=Number(SEQUENCES))
SEQUENCE = Option(
    "--seq",
    "Tokens per sequence.",
    kind=Number(WIDTH),
    usually=f"{TRAINING_LENGTH}, or the model's context if shorter",
)
ELEMENT = Option("--element", "Element type of matrix products, like bf16 or fp8.", kind=Text(lower=True))
EXPERT_LOAD_RATIO = Option(
    "--expert-load", "Tokens of the busiest expert over the mean of all experts.", kind=Number(EXPERT_LOAD)
)
RUN_TOKENS = Option(
    "--tokens",
    "Training tokens in all, like 2T or 15e12; adds days, cost and energy of the run.",
    kind=Number(TOKENS),
)
STEP = Option("--step", "Measured step time, like '9.8 s'.", kind=Number(STEP_TIME), metavar="TIME")
ANYWAY = Option(
    "--anyway",
    "Answer with a wide range where the question is far from every measured run.",
    kind=Switch(),
    group="Method",
)
_LORA = Option("--lora", "Rank of LoRA adapters; all other weights are frozen.", kind=Number(RANK), group="Fine-tuning")
_QLORA = Option(
    "--qlora", "Rank of LoRA adapters next to frozen 4-bit weights.", kind=Number(RANK), group="Fine-tuning"
)
_LORA_TARGETS = Option(
    "--lora-targets",
    f"Projections that get an adapter, with commas: {', '.join(TARGETS)}.",
    kind=Listed(Text()),
    group="Fine-tuning",
    usually="all",
    metavar="WORDS",
)
_BASE = Option("--base", "Element type of frozen matrices.", kind=Words(tuple(BASES)), group="Fine-tuning")
_FREEZE = Option(
    "--freeze",
    "Part of the model that is not trained. May be given several times.",
    kind=Words(tuple(FROZEN_PARTS)),
    group="Fine-tuning",
    several=True,
)
_FREEZE_LAYERS = Option(
    "--freeze-layers", "Layers at the start that are not trained.", kind=Number(NO_LAYERS), group="Fine-tuning"
)
_OPTIMIZER = Option(
    "--optimizer",
    "Optimizer; sets the optimizer-state bytes per parameter.",
    kind=Words(tuple(OPTIMISERS)),
    group="Fine-tuning",
    usually="adam",
)
_MASTER = Option(
    "--master", "Element type of the master weights.", kind=Words(MASTERS), group="Fine-tuning", usually="fp32"
)
_MOMENTS = Option(
    "--moments",
    "Element type of the optimizer's moments.",
    kind=Words(("fp32", "bf16")),
    group="Fine-tuning",
    usually="fp32",
)
GRADIENTS = Option(
    "--gradients",
    "Element type in which gradients are accumulated and reduced.",
    kind=Text(),
    group="Fine-tuning",
    usually="fp32",
    metavar="[fp32|bf16]",
)
DOCUMENT_LENGTHS = Option(
    "--lengths",
    "Document lengths packed into a sequence, with shares, like 512:0.7,4096:0.3, or a file.",
    kind=Named("text, a path or Lengths", ("Lengths",), file=True),
    group="Fine-tuning",
    metavar="LENGTHS|FILE",
)


class Step(Question):
    """The batch of a training step, and the element type of its products."""

    batch: int | None = option(BATCH, default=None)
    sequence: int | None = option(SEQUENCE, default=None)
    element: str = option(ELEMENT, default="bf16")
    if TYPE_CHECKING:
        seq: int | None = None  # the name of the command


class Tuned(Question):
    """What of a model is trained, by which optimizer and in which element types."""

    expert_load: float = option(EXPERT_LOAD_RATIO, default=1.0)
    lora: int | None = option(_LORA, default=None)
    qlora: int | None = option(_QLORA, default=None)
    lora_targets: str | Sequence[str] | None = option(_LORA_TARGETS, default=None)
    base: str | None = option(_BASE, default=None)
    freeze: str | Sequence[str] = option(_FREEZE, default=())
    freeze_layers: int | None = option(_FREEZE_LAYERS, default=None)
    optimizer: str | None = option(_OPTIMIZER, default=None)
    master: str | None = option(_MASTER, default=None)
    moments: str | None = option(_MOMENTS, default=None)
    gradients: str | None = option(GRADIENTS, default=None)
    lengths: "str | Path | Lengths | None" = option(DOCUMENT_LENGTHS, default=None)

    @property
    def recipe(self) -> dict[str, Any]:
        """The arguments of a training step that are stated."""
        values = {part.name: getattr(self, part.name) for part in Tuned.options() if part.group == "Fine-tuning"}
        return {name: value for name, value in values.items() if value not in (None, ())}


class TrainedModel(Tuned, Step, OtherMachine, Software):
    """A model that is trained on some machine with some software."""

    model: "Transformer | Workload | Path | str" = option(MODEL, kw_only=False)
    margin: str | float | None = option(MARGIN_LEFT, default=None)


class OneMapping(Question):
    """A layout that may be given as one value, in place of its fields."""

    mapping: "ParallelMapping | None" = option(MAPPING, default=None)

    def with_layout(self, **fields: Any) -> Self:
        """Return the question about another layout, by its fields or as one `mapping`."""
        unstated = {part.name: part.default for part in type(self).options() if part.name in UNSTATED}
        return self.changed(**{**unstated, "mapping": None, **fields})


class LaidOutStep(OneMapping, TrainedModel, OneLayout):
    """A training step with one layout on some machine."""

    on: "Cluster | str" = option(SYSTEM)


class StatedStep(OneMapping, TrainedModel, StatedLayout):
    """A training step on some machine; without a layout, the fastest is searched."""

    on: "Cluster | str" = option(SYSTEM)


class SearchedStep(TrainedModel, ConsideredLayouts):
    """A training step whose layout is searched."""

    offload: bool = option(
        Option("--offload", "Also search layouts that use host memory.", kind=Switch(), group="Layout"), default=False
    )
