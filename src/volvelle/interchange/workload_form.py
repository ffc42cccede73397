"""What a machine of a study does: it trains a model, runs a benchmark, or maps a graph; as the study's file says it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PrivateAttr, model_validator

from volvelle.base.question import Option, Question
from volvelle.domains import (
    ACCELERATORS,
    BYTE_RATE,
    ERROR_FACTOR,
    PACE,
    PACE_EXPONENT,
    SHARE,
    TOKENS,
    WEIGHT,
    NumberDomain,
)
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.interchange.yaml_file import read_fields
from volvelle.questions.workloads import KEYS, WORKLOADS, work_of


class Closed(BaseModel):
    """A form without other fields than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


_KINDS = ("train", "map", "run", "pace", "serve")
_APART = frozenset({*_KINDS, "name", "weight", "tokens", "assumptions", "question"})
"""Keys of a workload that are no fields of its question."""
_TRAINS = ("train", "pace", "serve")
"""Kinds of workloads that may state tokens of a whole run."""
_NAMES = {kind: {word for part in keys.values() for word in part.words} for kind, keys in KEYS.items()}
_OF_OTHERS = {kind: {word for names in _NAMES.values() for word in names} - own for kind, own in _NAMES.items()}
"""Kind of workload → keys that other kinds have, and it has not."""


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
    """A workload of a study: what the machine does at every point."""

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
    """Fields of the question, by name; in a file they stand beside the other keys."""
    tokens: Annotated[float, BeforeValidator(_tokens), TOKENS] | None = None
    """Tokens of the whole run; days and the price of the run need them."""
    weight: Annotated[float, WEIGHT] = 1.0
    """Steps of this workload in one round of the mix."""
    assumptions: AssumptionsForm | None = None
    """Of a graph: the mapping is stated, and timed by plain laws; None: it is searched."""
    _asked: Question = PrivateAttr()

    @property
    def kind(self) -> str:
        """The kind of work: ``train``, ``map``, ``pace``, ``serve``, or the name of a benchmark."""
        kind = next(one for one in _KINDS if getattr(self, one) is not None)
        return str(self.run) if kind == "run" else kind

    @property
    def called(self) -> str:
        """The name of the workload, or of what it does."""
        if isinstance(self.map, dict):
            return self.name or str(self.map.get("name", "graph"))
        return self.name or self.train or self.map or self.run or self.serve or "training at a stated pace"

    @property
    def keys(self) -> Mapping[str, Option]:
        """The fields of the question that the workload may state."""
        return KEYS[self.kind]

    @property
    def asked(self) -> Question:
        """The question that the workload states."""
        return self._asked

    def varied(self, values: Mapping[str, object]) -> "WorkloadForm":
        """Return the workload with other values of fields of its question."""
        if not values:
            return self
        other = self.model_copy(update={"question": {**self.question, **values}})
        other._asked = work_of(other.kind, other.serve, other.question)
        return other

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, given: object) -> object:
        """Gather the fields of the question."""
        if not isinstance(given, Mapping):
            return given
        kinds = [one for one in _KINDS if given.get(one) is not None]
        if len(kinds) != 1:
            raise ValueError(
                "say what is done: one of train: MODEL, map: GRAPH, serve: MODEL, pace: {tokens_per_s: 400}, or run: "
                "hpl, hpl-mxp, hpcg, stencil, fft or dlrm"
            )
        kind = str(given["run"]) if kinds == ["run"] else kinds[0]
        kept = {key: value for key, value in given.items() if key in _APART}
        if kind not in WORKLOADS:
            return kept
        own = {key: value for key, value in given.items() if key not in _APART}
        idle = own.keys() & _OF_OTHERS[kind]
        if idle:
            subject = kept.get("name") or given[kinds[0]]
            named = subject if isinstance(subject, str) else kind
            raise ValueError(f"{', '.join(sorted(idle))} means nothing to {named}; leave it out")
        try:
            return {**kept, "question": {**kept.get("question", {}), **WORKLOADS[kind].named(own)}}
        except DescriptionError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _one_kind(self) -> "WorkloadForm":
        allowed = {"tokens": self.kind in _TRAINS, "assumptions": self.kind == "map"}
        idle = [name for name, meant in allowed.items() if not meant and getattr(self, name) is not None]
        if idle:
            raise ValueError(f"{', '.join(idle)} means nothing to {self.called}; leave it out")
        for name in self.question:
            if name not in self.keys:
                raise ValueError(str(UnknownNameError.among(f"key of {self.kind} in a study", name, self.keys)))
        missing = [part for name, part in self.keys.items() if part.required and name not in self.question]
        if missing:
            raise ValueError(f"{self.called} needs {missing[0].name}: {missing[0].help}")
        try:
            self._asked = work_of(self.kind, self.serve, self.question)
        except DescriptionError as error:
            raise ValueError(str(error)) from None
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
