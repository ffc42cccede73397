"""The COMET paper as data: its three clusters, its model, and what its text prints of the results."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from ruamel.yaml import YAML

from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.published.sources import listed_files
from volvelle.catalogue.schema import Datum
from volvelle.errors import DescriptionError, SourceError, UnknownNameError
from volvelle.quantities import BYTES, BYTES_PER_SECOND, FLOP_PER_SECOND, Quantity

__all__ = ["Comet", "CometCluster", "CometDimension", "CometModel", "CometTarget", "comet"]

Text = Annotated[str, Field(min_length=1)]
Shape = Literal["switch", "ring"]
Rule = Literal["near", "equal", "at most", "above", "below", "order"]
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class CometDimension:
    """One dimension of a network; a node sustains `rate` in each direction."""

    name: str
    shape: Shape
    size: int
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CometCluster:
    """A cluster as the paper models it; SI units."""

    key: str
    title: str
    node: str
    """What the paper calls a node."""
    compute_rate: float
    memory_capacity: float
    memory_rate: float
    buffer: float
    dimensions: tuple[CometDimension, ...]
    """Innermost first."""

    @property
    def nodes(self) -> int:
        """All of them."""
        count = 1
        for dimension in self.dimensions:
            count *= dimension.size
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class CometModel:
    """The language model, and the batch of one data-parallel unit."""

    title: str
    layers: int
    width: int
    cited_width: int
    """That of the paper which COMET cites for the model."""
    heads: int
    sequence: int
    vocabulary: int
    batch: int


class CometTarget(BaseModel):
    """Something the paper prints or states of its results, and how to hold ours against it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    clusters: tuple[CometCluster, ...]
    model: CometModel
    targets: tuple[CometTarget, ...]
    also_printed: tuple[CometTarget, ...]
    """Numbers of the text that are inputs of the method or repeat a target in other words."""

    def cluster(self, key: str) -> CometCluster:
        """The cluster of that key."""
        for cluster in self.clusters:
            if cluster.key == key:
                return cluster
        raise UnknownNameError.among("cluster of COMET", key, [each.key for each in self.clusters])


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _DimensionFile(_Strict):
    name: Text
    shape: Shape
    size: Datum
    rate: Datum


class _ClusterFile(_Strict):
    title: Text
    node: Text
    compute_rate: Datum
    memory_capacity: Datum
    memory_rate: Datum
    buffer: Datum
    dimensions: Annotated[tuple[_DimensionFile, ...], Field(min_length=1)]


class _ModelFile(_Strict):
    title: Text
    layers: Datum
    width: Datum
    cited_width: Datum
    heads: Datum
    sequence: Datum
    vocabulary: Datum
    batch: Datum


class _TargetsFile(_Strict):
    targets: Annotated[tuple[CometTarget, ...], Field(min_length=1)]
    also_printed: tuple[CometTarget, ...]


class _Folder:
    """Reads files of one folder, those that its sources.yaml lists, and figures whose sources are known."""

    def __init__(self, root: Traversable) -> None:
        self._root, self._listed, self._sources = root, listed_files(root), Catalogue().sources

    def read(self, name: str, kind: type[Read]) -> Read:
        """One file, checked."""
        if name not in self._listed:
            raise SourceError(f"{name} is not listed in sources.yaml; say there what it holds and where it comes from")
        written = YAML(typ="safe", pure=True).load((self._root / name).read_text("utf-8"))
        try:
            return TypeAdapter(kind).validate_python(written)
        except ValidationError as error:
            raise DescriptionError(f"comet/{name} does not load: {error}") from None

    def figure(self, datum: Datum, kind: Quantity | None, where: str) -> float:
        """The value of a datum."""
        return read_figure(datum, kind, where=where, sources=self._sources).value

    def count(self, datum: Datum, where: str) -> int:
        """A whole number."""
        value = self.figure(datum, None, where)
        if value != int(value) or value < 1:
            raise DescriptionError(f"{where} is {value:g}; a whole number of at least 1 is wanted")
        return int(value)


@cache
def comet(folder: Traversable | None = None) -> Comet:
    """COMET's data, those of the package or those of a folder with files of the same names."""
    files = _Folder(folder or resources.files("volvelle.catalogue") / "data" / "published" / "comet")
    targets = files.read("targets.yaml", _TargetsFile)
    model = files.read("model.yaml", _ModelFile)
    return Comet(
        clusters=tuple(
            _cluster(files, key, written)
            for key, written in files.read("clusters.yaml", dict[str, _ClusterFile]).items()
        ),
        model=CometModel(
            title=model.title,
            layers=files.count(model.layers, "COMET's layers"),
            width=files.count(model.width, "COMET's width"),
            cited_width=files.count(model.cited_width, "COMET's cited_width"),
            heads=files.count(model.heads, "COMET's heads"),
            sequence=files.count(model.sequence, "COMET's sequence"),
            vocabulary=files.count(model.vocabulary, "COMET's vocabulary"),
            batch=files.count(model.batch, "COMET's batch"),
        ),
        targets=targets.targets,
        also_printed=targets.also_printed,
    )


def _cluster(files: _Folder, key: str, written: _ClusterFile) -> CometCluster:
    where = f"COMET's {key}"
    return CometCluster(
        key=key,
        title=written.title,
        node=written.node,
        compute_rate=files.figure(written.compute_rate, FLOP_PER_SECOND, f"{where}: compute_rate"),
        memory_capacity=files.figure(written.memory_capacity, BYTES, f"{where}: memory_capacity"),
        memory_rate=files.figure(written.memory_rate, BYTES_PER_SECOND, f"{where}: memory_rate"),
        buffer=files.figure(written.buffer, BYTES, f"{where}: buffer"),
        dimensions=tuple(
            CometDimension(
                name=each.name,
                shape=each.shape,
                size=files.count(each.size, f"{where}: size of {each.name}"),
                rate=files.figure(each.rate, BYTES_PER_SECOND, f"{where}: rate of {each.name}"),
            )
            for each in written.dimensions
        ),
    )
