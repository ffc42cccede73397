"""What is launched, whoever launches it: a checkpoint, its layout, what the engine is told, and the load to come."""

from dataclasses import dataclass
from typing import Literal

from volvelle.errors import MappingError
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.serving.drafting import Drafting, DraftMethod

Rules = Literal["vllm", "sglang", "trtllm"]
Value = str | int | float | bool
HEAD = "DRAFT_HEAD"
"""Stands for the checkpoint of a drafter that no reference names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchedLoad:
    """Requests of a benchmark that measures what was predicted."""

    input_tokens: int
    output_tokens: int
    lengths: Literal["fixed", "uniform", "around"] = "fixed"
    ratio: float = 0.0
    """Of ``uniform`` (from the ratio of a length up to it) and ``around`` (the ratio to either side)."""
    requests: int
    clients: int | None = None
    """That send one request at a time; None: a rate says when requests come."""
    rate: float | None = None
    """Requests a second; None: as clients are free, or all at once."""
    burstiness: float = 1.0
    end_rate: float | None = None
    """Where the rate rises from `rate` to this."""
    recorded: str = ""
    """A trace whose arrivals are replayed; empty: none."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A served model as it is to be launched."""

    model: str
    """Its name in the catalogue."""
    checkpoint: str
    """What the engine loads: a name on the hub, or a folder."""
    checkpoint_weights: str = "bf16"
    """The format that its weights have."""
    mixture: bool = False
    rules: Rules
    layout: ServingLayout
    node: int
    """Chips of a node."""
    replicas: int
    weights: str
    cache: str
    token_budget: int
    chunk: int
    max_sequences: int
    block: int
    memory_share: float
    longest: int | None
    """Tokens of the longest request; None: what the checkpoint says."""
    chunks: bool = True
    prefix_caching: bool = True
    stream_interval: int = 1
    receive_interval: int = 1
    batch_wait_steps: int = 0
    batch_wait_ratio: float = 0.0
    drafting: Drafting | None = None
    """How tokens are drafted, with a window that is decided; None: they are not."""
    draft_checkpoint: str = ""
    """Of a draft model."""
    load: BenchedLoad
    chip: str
    asked: str
    """The command that was asked."""

    @property
    def needs_head(self) -> bool:
        """Whether the checkpoint of a head that drafts is left to be named."""
        return self.drafting is not None and self.drafting.drafter in (DraftMethod.EAGLE, DraftMethod.PARALLEL)

    @property
    def ranks(self) -> int:
        """Chips of a stage: those that attention is split over, and repeated on."""
        return self.layout.tensor * self.layout.data

    @property
    def nodes(self) -> int:
        """That one instance takes."""
        return -(-self.layout.chips // self.node)

    @property
    def instances_per_node(self) -> int:
        """That fit into a node."""
        return max(1, self.node // self.layout.chips)

    @property
    def nodes_of_all(self) -> int:
        """That all replicas take."""
        return -(-self.replicas // self.instances_per_node) * self.nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFile:
    """A file to write."""

    name: str
    text: str
    runs: bool = False
    """Whether it is a script."""


def cannot(title: str, what: str, instead: str) -> MappingError:
    """What to raise where an engine has no setting for a part of what was asked."""
    return MappingError(f"{title} cannot express {what}; {instead}")


def one_line(text: str) -> str:
    """Text as it may stand in a comment: a line break in it would end the comment and start a command."""
    return " ".join(text.split())
