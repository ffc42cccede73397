"""What a machine of a study does: it trains a model, runs a benchmark, or maps a graph; as the study's file says it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from volvelle.base.question import Option
from volvelle.domains import (
    ACCELERATORS,
    BYTE_RATE,
    DEGREE,
    ERROR_FACTOR,
    FFT_SIDE,
    GRAPH_SIZE,
    LIMIT,
    PACE,
    PACE_EXPONENT,
    SEQUENCES,
    SHARE,
    TOKENS,
    WEIGHT,
    WIDTH,
    NumberDomain,
)
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.interchange.yaml_file import read_fields
from volvelle.questions.serving import ServeQuestion


class Closed(BaseModel):
    """A form without other fields than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


MAPPED = frozenset(
    {
        "execution",
        "sharding",
        "micro_batches",
        "tensor",
        "pipeline",
        "data",
        "tiles",
        "fuse",
        "partitions",
        "forward_first",
        "overlap",
        "stream_weights",
        "tile_weights",
        "objective",
        "element",
        "limit",
    }
)
"""What may be said of how a graph is mapped."""
_LOOKED_AT = {
    "train": frozenset(
        {
            "batch",
            "batch_per_replica",
            "sequence",
            "sizes",
            "element",
            "gradient_element",
            "tokens",
            "counting",
            "split_heads",
            "memory_limit",
        }
    ),
    "map": MAPPED | {"forward", "gpt_layer_only", "assumptions"},
    "pace": frozenset({"batch", "sequence", "tokens"}),
    "dlrm": frozenset({"batch", "element", "model"}),
    "fft": frozenset({"size"}),
    "serve": frozenset({"tokens", "question"}),
    "hpl": frozenset[str](),
    "hpcg": frozenset[str](),
    "hpl-mxp": frozenset({"element"}),
    "stencil": frozenset({"size", "points", "element"}),
}
"""Fields that each kind of work has, besides name and weight."""
_KINDS = ("train", "map", "run", "pace", "serve")
SERVED: dict[str, Option] = {
    part.name: part
    for part in ServeQuestion.options()
    if part.in_command
    and not (part.is_argument or part.writes or part.name in ("on", "catalogue", "emit", "checkpoint"))
}
"""Fields that a workload which is served may state: options of ``volvelle serve``."""


def _tokens(given: object) -> object:
    """Text like ``2T`` as the number it stands for."""
    try:
        return TOKENS.read(float(given) if isinstance(given, int) else given, "tokens")
    except DescriptionError as error:
        raise ValueError(str(error)) from None


def in_domain(domain: NumberDomain, what: str) -> BeforeValidator:
    """A number with its unit, as text."""

    def read(given: object) -> object:
        try:
            return given if given is None else domain.read(given, what)
        except DescriptionError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(read)


def _several(given: object) -> object:
    """A single value is a list of one."""
    return given if isinstance(given, list | tuple) else (given,)


Several = BeforeValidator(_several)


class AssumptionsForm(Closed):
    """A mapping that is stated rather than searched, charged by plain laws: rates as links and memories state them."""

    split: Annotated[tuple[str, ...], Several] = ()
    """Dimensions that the tensor group splits: every operation the first of them that it can."""
    grid: bool = False
    """Rows over all network dimensions but the last, columns over that; panels are broadcast and handed on."""
    summed: Annotated[tuple[str, ...], Several] = ()
    """Kernels whose results the tensor group adds up, though the graph draws no reader."""
    tables_beside: Annotated[tuple[str, ...], Several] = ()
    """Kernels beside which rows of tables, spread over all chips, are fetched and exchanged."""
    gradient_rate: Annotated[float, in_domain(BYTE_RATE, "gradient_rate"), BYTE_RATE] | None = None
    """At which replicas exchange gradients; none: that of the network."""
    matrix_share: Annotated[float, in_domain(SHARE, "matrix_share"), SHARE] = 1.0
    """Of the peak, that every kernel reaches."""
    sram: bool = True
    """Kernels that run together must fit the SRAM."""
    element: str | None = None
    """In which all data are kept; none: as the graph has them."""


class PaceForm(Closed):
    """Training at a pace that somebody measured; nothing of the machine but its size moves it."""

    tokens_per_s: Annotated[float, PACE]
    """Of one accelerator."""
    accelerators: Annotated[int, ACCELERATORS] | None = None
    """Among which it was measured; none: it is the same among any."""
    exponent: Annotated[float, PACE_EXPONENT] = 0.0
    """By which it changes with their number; -0.06: a twelfth part less among four times as many."""
    error_factor: Annotated[float, ERROR_FACTOR] = 1.0
    """One standard deviation of it, as a factor."""

    @model_validator(mode="after")
    def _measured_somewhere(self) -> "PaceForm":
        if self.exponent and self.accelerators is None:
            raise ValueError("an exponent needs accelerators: among how many was the pace measured")
        return self


class WorkloadForm(Closed):
    """Something the machine does."""

    name: str | None = None
    train: str | None = None
    """A model of the catalogue."""
    map: str | dict[str, Any] | None = None
    """Or a graph, mapped anew at every point: a model of the catalogue, a workload of DFModel, or a graph's file."""
    run: Literal["hpl", "hpcg", "fft", "dlrm", "hpl-mxp", "stencil"] | None = None
    """Or one of these, planned anew at every point."""
    pace: PaceForm | None = None
    """Or training whose pace was measured."""
    serve: str | None = None
    """Or a model that is served, asked about at every point."""
    question: Mapping[str, Any] = {}
    """Of a model that is served: options of ``volvelle serve``, which stand beside the other fields in a file."""
    batch: Annotated[int, SEQUENCES] | None = None
    """Sequences, or samples, in the global batch."""
    batch_per_replica: Annotated[int, SEQUENCES] | None = None
    """Of training, in place of a batch: sequences of each replica, so that the batch grows with them (weak scaling)."""
    size: Annotated[int, FFT_SIDE] | None = None
    """Of a run: edge of the cube (fft, stencil)."""
    points: Literal[7, 27] = 7
    """Of a run: points of the stencil."""
    model: str | None = None
    """Of a run: the recommendation model (dlrm)."""
    sequence: Annotated[int, WIDTH] | None = None
    sizes: dict[str, Annotated[float, GRAPH_SIZE]] = {}
    """Of training: dimensions of the model that differ from its entry in the catalogue, like ``head_dim``."""
    counting: Literal["derived", "comet"] = "derived"
    """Of training: kernels, bytes and exchanges as declarations imply them, or as COMET's tables have them."""
    split_heads: bool = False
    """Of training: tensor parallelism may cut through heads; else degrees that do not divide them cannot run."""
    memory_limit: Literal["enforced", "ignored"] = "enforced"
    """Of training: whether a layout that holds more than a chip has counts as one that cannot run."""
    element: str = "bf16"
    """Of products; unless it is said, fp16 of hpl-mxp, and fp64 of the cells of a stencil."""
    gradient_element: str = "fp32"
    tokens: Annotated[float, BeforeValidator(_tokens), TOKENS] | None = None
    """Tokens to train on in all; days and the price of the run need them."""
    weight: Annotated[float, WEIGHT] = 1.0
    """Steps of this workload in one round of the mix."""
    execution: Literal["kernels", "dataflow"] | None = None
    """Of a graph, as all below: kernels one after another, or streaming on the chip; none: as each chip does."""
    sharding: Literal["any", "megatron"] = "any"
    micro_batches: Annotated[int, SEQUENCES] | None = None
    """Runs of the graph in a step; none: 8 a chip."""
    tensor: Annotated[tuple[Annotated[int, DEGREE], ...], Several] = ()
    """Degrees to consider, as of the pipeline and of replicas; none: all."""
    pipeline: Annotated[tuple[Annotated[int, DEGREE], ...], Several] = ()
    data: Annotated[tuple[Annotated[int, DEGREE], ...], Several] = ()
    tiles: Annotated[tuple[Annotated[int, WIDTH], ...], Several] = ()
    forward: bool = False
    """Of a model: the forward pass alone."""
    gpt_layer_only: bool = False
    """Of a model: a GPT layer of its width, as DFModel has it."""
    fuse: bool = True
    partitions: Annotated[int, WIDTH] | None = None
    forward_first: bool | None = None
    """Kernels of the backward pass run apart from forward ones; none: they do where there are any."""
    overlap: Overlap = Overlap.ALL
    stream_weights: bool = True
    tile_weights: bool = True
    objective: Literal["time", "bytes"] = "time"
    limit: Annotated[float, LIMIT] = 60.0
    """Seconds that the search may take at a point."""
    assumptions: AssumptionsForm | None = None
    """The mapping is stated, and charged so; none: it is searched."""

    @property
    def called(self) -> str:
        """Its name, or what it does."""
        if isinstance(self.map, dict):
            return self.name or str(self.map.get("name", "graph"))
        return self.name or self.train or self.map or self.run or self.serve or "training at a stated pace"

    @property
    def looks_at(self) -> frozenset[str]:
        """Fields that mean something for this kind of work."""
        kind = next(one for one in _KINDS if getattr(self, one) is not None)
        return _LOOKED_AT[str(self.run) if kind == "run" else kind]

    @model_validator(mode="before")
    @classmethod
    def _asked(cls, given: object) -> object:
        """Gather the options of serving, and check them as the command does."""
        if not isinstance(given, Mapping) or given.get("serve") is None or "question" in given:
            return given
        apart = {"serve", "name", "weight", "tokens"}
        kept = {key: value for key, value in given.items() if key in apart}
        try:
            question = ServeQuestion.named({key: value for key, value in given.items() if key not in apart})
            unknown = [name for name in question if name not in SERVED]
            if unknown:
                raise UnknownNameError.among("option of serving in a study", unknown[0], SERVED)
            for name, value in question.items():
                SERVED[name].read(value)
        except DescriptionError as error:
            raise ValueError(str(error)) from None
        return {**kept, "question": question}

    @model_validator(mode="after")
    def _one_kind(self) -> "WorkloadForm":
        if sum(getattr(self, one) is not None for one in _KINDS) != 1:
            raise ValueError(
                "say what is done: one of train: MODEL, map: GRAPH, serve: MODEL, pace: {tokens_per_s: 400}, or run: "
                "hpl, hpl-mxp, hpcg, stencil, fft or dlrm"
            )
        apart = self.looks_at | {"name", "weight", *_KINDS}
        known = type(self).model_fields
        idle = {name for name in known if name not in apart and getattr(self, name) != known[name].default}
        if idle:
            raise ValueError(f"{', '.join(sorted(idle))} means nothing to {self.called}; leave it out")
        if self.batch is None and self.batch_per_replica is None and (self.train is not None or self.run == "dlrm"):
            raise ValueError("a batch is needed: how many sequences or samples make a step")
        if self.pace is not None and (self.batch is None or self.sequence is None):
            raise ValueError("a pace needs a batch: and a sequence: how many tokens make a step")
        if self.batch is not None and self.batch_per_replica is not None:
            raise ValueError("give a batch, or a batch_per_replica that it grows with, not both")
        if self.run == "dlrm" and self.model is None:
            raise ValueError("run: dlrm needs a model: to be named")
        if self.run in ("fft", "stencil") and self.size is None:
            raise ValueError(f"run: {self.run} needs a size: the edge of the cube")
        return self


def with_graphs(stated: Mapping[str, object], beside: Path) -> Mapping[str, object]:
    """A study with the graphs whose files it names, beside its own file or from here: a worker need find no file."""
    works = stated.get("workloads")
    if not isinstance(works, list | tuple):
        return stated
    return {**stated, "workloads": [_with_graph(work, beside) for work in works]}


def _with_graph(work: object, beside: Path) -> object:
    named = work.get("map") if isinstance(work, Mapping) else None
    if not isinstance(work, Mapping) or not isinstance(named, str) or not named.endswith((".yaml", ".yml")):
        return work
    file = next((one for one in (beside / named, Path(named)) if one.exists()), Path(named))
    return {**work, "map": dict(read_fields(file, what="a graph", examples="examples/graphs"))}
