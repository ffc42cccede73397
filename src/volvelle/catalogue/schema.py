"""What a catalogue file must look like. A number without a source does not load."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "ArchitectureFile",
    "CalibrationFile",
    "ChipFile",
    "ClusterFile",
    "Datum",
    "DimensionFile",
    "DomainFile",
    "ExpertsFile",
    "LatentFile",
    "LinkFile",
    "Mamba2File",
    "MambaFile",
    "MemoryFile",
    "ModelFile",
    "Reference",
    "SpreadFile",
]

Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpreadFile(_Strict):
    """How far a number may lie from its value: exactly one of these."""

    interval: tuple[str | float, str | float] | None = None
    normal: str | float | None = None
    """One standard deviation."""
    lognormal: float | None = None
    """One standard deviation, as a factor."""


class Datum(_Strict):
    """A number: value with unit, what kind of evidence, and who says so."""

    value: str | int | float
    kind: Literal["measured", "vendor", "derived", "assumed"]
    source: Text
    spread: SpreadFile | None = None
    note: str = ""
    date: str | None = None
    """Day, month or year that it holds for; every price has one."""


class MemoryFile(_Strict):
    """One tier of memory."""

    name: Text
    capacity: Datum
    rate: Datum


class ChipFile(_Strict):
    """An accelerator."""

    name: Text
    title: Text
    vendor: Text
    family: Text
    launched: str
    matrix_rate: dict[str, Datum]
    vector_rate: dict[str, Datum]
    buffer: Datum
    memories: Annotated[list[MemoryFile], Field(min_length=1)]
    dataflow: bool = False
    """Kernels stream tiles to each other on the chip, as on an RDU or a wafer."""
    units: Datum | None = None
    """Units that each work on one tile of a matrix product."""
    tile: Datum | None = None
    """Elements of such a tile."""
    power: Datum | None = None
    price: Datum | None = None
    notes: str = ""


class DomainFile(_Strict):
    """Which runs constants were fitted to."""

    runs: int
    chips: tuple[int, int]
    elements: list[Text]
    publications: list[Text]


class CalibrationFile(_Strict):
    """Constants fitted to runs: of a chip (in an element type, under a software stack), of a family, or of any chip."""

    name: Text
    title: str = ""
    chip: str = ""
    family: str = ""
    element: str = ""
    stack: str = ""
    domain: DomainFile | None = None
    """None: they were fitted to no run."""
    constants: dict[str, Datum]
    notes: str = ""


class LinkFile(_Strict):
    """An interconnect as one accelerator sees it."""

    name: Text
    title: Text
    rate: Datum
    latency: Datum
    efficiency: Datum
    setup: Datum | None = None
    contention: Datum | None = None
    fill: Datum | None = None
    energy: Datum | None = None
    reduces: bool = False
    reduces_source: str = ""
    reduction_efficiency: Datum | None = None
    notes: str = ""


class DimensionFile(_Strict):
    """One level of a cluster's network."""

    name: Text
    topology: Literal["ring", "switch", "fully-connected", "torus", "dragonfly", "fat-tree", "cube-mesh"]
    size: int | Literal["rest"]
    size_source: str = ""
    link: Text
    share: Datum | None = None
    oversubscription: Datum | None = None
    axes: int = 3
    group: int = 0
    group_source: str = ""


class ClusterFile(_Strict):
    """A template of machines of any size."""

    name: Text
    title: Text
    chip: Text
    default_count: int
    count_source: Text
    dimensions: Annotated[list[DimensionFile], Field(min_length=1)]
    host_link: str = ""
    """Link to host memory, as one accelerator sees it."""
    host_power: Datum | None = None
    pue: Datum | None = None
    notes: str = ""


class ExpertsFile(_Strict):
    """A mixture of experts in place of the feed-forward."""

    count: int
    chosen: int
    ffn: int
    shared_ffn: int = 0
    dense_layers: int = 0


class LatentFile(_Strict):
    """Multi-head latent attention."""

    query_rank: int
    kv_rank: int
    rotary_dim: int
    value_dim: int


class MambaFile(_Strict):
    """A selective state space in place of attention."""

    inner: int
    state: int
    step_rank: int
    taps: int
    norms: bool = False


class Mamba2File(_Strict):
    """A state space of heads, worked through in chunks."""

    heads: int
    head_dim: int
    groups: int
    state: int
    chunk: int
    taps: int


class ArchitectureFile(_Strict):
    """Counts of a transformer, all from one source."""

    source: Text
    kind: Literal["measured", "vendor", "derived", "assumed"]
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    sequence: int
    activation: Literal["gelu", "relu", "relu2", "swiglu", "geglu"]
    norm: Literal["layernorm", "rmsnorm"]
    norms_per_layer: Literal[1, 2, 4] = 2
    norm_bias: bool
    linear_bias: Literal["none", "qkv", "all"]
    head_bias: bool = False
    positions: Literal["learned", "rotary", "alibi", "none"]
    position_slots: int = 0
    embedding_norm: bool = False
    qk_norm: bool = False
    tied_embeddings: bool
    parallel_block: bool = False
    dropout: bool = False
    experts: ExpertsFile | None = None
    latent: LatentFile | None = None
    pattern: str = ""
    """Kinds of layers in order, a letter each, over and over until all layers are named."""
    kinds: dict[str, str] = {}
    """What each letter of the pattern stands for, such as ``local attention + mlp``."""
    window: int = 0
    global_rotation: bool = True
    mamba: MambaFile | None = None
    mamba2: Mamba2File | None = None


class ModelFile(_Strict):
    """A language model."""

    name: Text
    title: Text
    family: Literal["gpt", "llama"]
    architecture: ArchitectureFile
    parameters: Datum
    notes: str = ""


class Reference(_Strict):
    """Where a number or a law comes from."""

    title: Text
    authors: Text
    year: int
    place: Text
