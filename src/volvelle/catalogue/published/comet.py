"""The COMET paper as data: its three clusters, its model, and what its text prints of the results."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from math import prod
from typing import Annotated, Any, Literal

from pydantic import Field

from volvelle.catalogue.published.sources import listed_file
from volvelle.catalogue.sourced_file import CLOSED, ByteRate, FlopRate, Form, Size, Whole, read_sourced
from volvelle.errors import UnknownNameError

Text = Annotated[str, Field(min_length=1)]
Shape = Literal["switch", "ring"]
Rule = Literal["near", "equal", "at most", "above", "below", "order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CometDimension:
    """One dimension of a network; a node sustains `rate` in each direction."""

    __pydantic_config__ = CLOSED
    name: Text
    shape: Shape
    size: Whole
    rate: ByteRate


@dataclass(frozen=True, slots=True, kw_only=True)
class CometCluster:
    """A cluster as the paper models it; SI units."""

    __pydantic_config__ = CLOSED
    title: Text
    node: Text
    """What the paper calls a node."""
    compute_rate: FlopRate
    memory_capacity: Size
    memory_rate: ByteRate
    buffer: Size
    dimensions: Annotated[tuple[CometDimension, ...], Field(min_length=1)]
    """Innermost first."""

    @property
    def nodes(self) -> int:
        """All of them."""
        return prod(dimension.size for dimension in self.dimensions)


@dataclass(frozen=True, slots=True, kw_only=True)
class CometModel:
    """The language model, and the batch of one data-parallel unit."""

    __pydantic_config__ = CLOSED
    title: Text
    layers: Whole
    width: Whole
    cited_width: Whole
    """That of the paper which COMET cites for the model."""
    heads: Whole
    sequence: Whole
    vocabulary: Whole
    batch: Whole


class CometTarget(Form):
    """Something the paper prints or states of its results, and how to hold ours against it."""

    name: Text
    section: Text
    paper: Text
    """In the paper's words."""
    measure: Text
    """Which of our figures stands beside it."""
    rule: Rule
    value: float | None = None
    """What is compared with; for a change of run time, the ratio of run times."""
    change: bool = False
    stated: str = ""
    """The order that the text states, where it prints no value."""
    more_than: str = ""
    """A measure that the printed numbers say is smaller."""
    less_than: str = ""
    """A measure that they say is larger."""
    remark: str = ""
    """Why ours may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comet:
    """COMET's inputs and printed results (arXiv:2211.16648)."""

    clusters: Mapping[str, CometCluster]
    model: CometModel
    targets: tuple[CometTarget, ...]
    also_printed: tuple[CometTarget, ...]
    """Numbers of the text that are inputs of the method or repeat a target in other words."""

    def cluster(self, key: str) -> CometCluster:
        """The cluster of that key."""
        if key not in self.clusters:
            raise UnknownNameError.among("cluster of COMET", key, self.clusters)
        return self.clusters[key]


class _TargetsFile(Form):
    targets: Annotated[tuple[CometTarget, ...], Field(min_length=1)]
    also_printed: tuple[CometTarget, ...]


@cache
def comet(folder: Traversable | None = None) -> Comet:
    """COMET's data, those of the package or those of a folder with files of the same names."""
    root = folder or resources.files("volvelle.catalogue") / "data" / "published" / "comet"

    def read(name: str, kind: Any) -> Any:
        return read_sourced(listed_file(root, name), kind, name=f"comet/{name}")

    targets = read("targets.yaml", _TargetsFile)
    return Comet(
        clusters=read("clusters.yaml", dict[str, CometCluster]),
        model=read("model.yaml", CometModel),
        targets=targets.targets,
        also_printed=targets.also_printed,
    )
