"""Engines that serve models: their rules, their defaults, and what was fitted of them (``data/engines.*``)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.engine_files import read_engine_file
from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.packaged_rows import packaged_fields, packaged_rows
from volvelle.catalogue.saved_file import is_yaml_name
from volvelle.catalogue.schema import Datum
from volvelle.domains import NO_SIZE, SEQUENCES, SHARE, WIDTH, NumberDomain
from volvelle.errors import OutsideDomainError, UnknownNameError, plainly
from volvelle.estimators.serving.engine_constants import EngineConstants

Told = TypeVar("Told")
_DOMAINS: Mapping[str, NumberDomain] = {
    "token_budget": WIDTH,
    "chunk": WIDTH,
    "max_sequences": SEQUENCES,
    "block": WIDTH,
    "memory_share": SHARE,
    "working": NO_SIZE,
    "windows_beyond": WIDTH,
}


class EngineEntry(BaseModel):
    """An engine, as the file has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    rules: Literal["vllm", "sglang", "trtllm"]
    """Whose scheduler it has."""
    kernels: Literal["vllm", "sglang", "trtllm"]
    """Whose measured kernels it runs."""
    version: str
    gathers: bool = False
    """Whether experts that are spread out get all tokens of all ranks."""
    joins_norms: bool = False
    """Whether the norm after an exchange is one kernel with it."""
    windows_beyond: Datum | None = None
    """Sequences times heads of a chip beyond which each head reads keys for itself where attention has a window."""
    defaults: dict[str, Datum]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRows:
    """Calibration runs that tell how far one figure of an engine is off."""

    rows: int
    sources: int
    """Publications."""
    groups: int
    """Chips with the models that ran on them."""
    families: tuple[str, ...]
    """Of chips."""
    models: tuple[str, ...]
    """``dense``, ``experts`` or both."""
    weights: tuple[str, ...]
    """Formats."""
    loads: tuple[str, ...]
    """What was put on an engine: closed loops, batches given at once, single steps, requests that always wait."""
    judged: str
    """What constants saw of these runs: ``fitted``, ``group left out``, ``family left out`` or ``never fitted``."""

    def written(self) -> dict[str, str]:
        """As cells of the table."""
        return {one.name: _text(getattr(self, one.name)) for one in fields(self)}


ERROR_CELLS = tuple(one.name for one in fields(ErrorRows))
"""Columns of the table that say which runs tell an error; empty of constants, and of errors just fitted."""
_BETWEEN = "; "


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingEngine:
    """An engine: rules, defaults, and constants for one family of chips."""

    name: str
    title: str
    rules: Literal["vllm", "sglang", "trtllm"]
    kernels: str
    version: str
    defaults: Mapping[str, float]
    constants: EngineConstants = field(default_factory=EngineConstants)
    error: Mapping[str, float] = field(default_factory=dict)
    """One standard deviation, as a factor, by what is predicted; apart for models with experts where that is told."""
    fitted_to: str = ""
    """Rows that constants were fitted to; empty: none of such chips."""
    error_rows: Mapping[str, ErrorRows] = field(default_factory=dict)
    """Runs that tell each error, by the same names; none of an error that runs of one's own tell."""

    def error_of(self, measure: str, *, experts: bool) -> float | None:
        """Of a model with experts or without; None: no run tells."""
        return self.error.get(self._told_as(measure, experts))

    def rows_of(self, measure: str, *, experts: bool) -> ErrorRows | None:
        """Runs that tell that error; None: none of the catalogue's."""
        return self.error_rows.get(self._told_as(measure, experts))

    def _told_as(self, measure: str, experts: bool) -> str:
        """What the error is called that holds for a model."""
        apart = with_experts(measure)
        return apart if experts and apart in self.error else measure


SPLIT = "split pools"
"""What rows of the table are of where prompts and answers are on chips of their own, whatever the engine."""


@cache
def split_error(measure: str) -> float:
    """One standard deviation, as a factor, of what is predicted for split pools; 1 where no run tells."""
    told = _split_line(measure)
    return 1.0 if told is None else float(told["value"])


def split_error_rows(measure: str) -> ErrorRows | None:
    """Runs of split pools that tell it; None: none."""
    told = _split_line(measure)
    return None if told is None or not told["judged"] else _error_rows(told)


def _split_line(measure: str) -> Mapping[str, str] | None:
    lines = (row for row in packaged_rows("engines.csv") if row["engine"] == SPLIT)
    return next((row for row in lines if row["constant"] == f"error {measure}"), None)


def with_experts(measure: str) -> str:
    """What its error is called for models with experts."""
    return f"{measure} with experts"


@cache
def engine_entries() -> Mapping[str, EngineEntry]:
    """All engines by name."""
    return {name: EngineEntry(**entry) for name, entry in packaged_fields("engines.yaml").items()}


def serving_engine(given: str, family: str = "") -> ServingEngine:
    """An engine by its name, or by a file with constants of one's own.

    Its constants are those of a family of chips where some were fitted, else of all chips.
    """
    return _from_file(Path(given), family) if is_yaml_name(given) else _of_catalogue(given, family)


def _from_file(path: Path, family: str) -> ServingEngine:
    """An engine of the catalogue with constants of a file, on chips of the family that they were fitted on."""
    file = read_engine_file(path)
    if family and file.family != family:
        raise OutsideDomainError(
            f"{path.name} was fitted on {file.family} chips, these are {family}, and it says nothing of them; "
            f"calibrate on such a chip, or take --engine {file.engine}"
        )
    base = _of_catalogue(file.engine, file.family)
    changed: dict[str, Any] = {**file.constants, "host_overlapped": file.host_overlapped}
    return replace(
        base,
        title=f"{base.title} ({path.name})",
        constants=replace(base.constants, **changed),
        error=_told(base.error, file.error),
        error_rows={name: rows for name, rows in base.error_rows.items() if name.split()[0] not in file.error},
        fitted_to=file.fitted_to,
    )


@cache
def _of_catalogue(given: str, family: str) -> ServingEngine:
    entries = engine_entries()
    name = next((name for name in entries if plainly(name) == plainly(given)), None)
    if name is None:
        raise UnknownNameError.among("serving engine", given, entries)
    entry = entries[name]
    values: dict[str, float] = {}
    errors: dict[str, float] = {}
    behind: dict[str, ErrorRows] = {}
    rows = ""
    fitted = [row for row in packaged_rows("engines.csv") if row["engine"] == name]
    for wanted in ("", family):
        found = {row["constant"]: row for row in fitted if row["family"] == wanted}
        values |= {key: float(row["value"]) for key, row in found.items() if not key.startswith("error ")}
        own = {key.removeprefix("error "): row for key, row in found.items() if key not in values}
        errors = _told(errors, {name: float(row["value"]) for name, row in own.items()})
        behind = _told(behind, {name: _error_rows(row) for name, row in own.items() if row["judged"]})
        rows = next((row["rows"] for row in found.values()), rows)
    constants = EngineConstants()
    known = {key: value for key, value in values.items() if key != "host_overlapped"}
    overlapped = values.get("host_overlapped", 1.0) > 0.5
    beyond = entry.windows_beyond
    return ServingEngine(
        name=name,
        title=entry.title,
        rules=entry.rules,
        kernels=entry.kernels,
        version=entry.version,
        defaults={key: _figure(name, key, datum) for key, datum in entry.defaults.items()},
        constants=replace(
            constants,
            **known,
            host_overlapped=overlapped,
            gathers=entry.gathers,
            joins_norms=entry.joins_norms,
            windows_beyond=np.inf if beyond is None else _figure(name, "windows_beyond", beyond),
        ),
        error=errors,
        error_rows=behind,
        fitted_to=rows,
    )


def _told(usual: Mapping[str, Told], own: Mapping[str, Told]) -> dict[str, Told]:
    """What is told of one's own errors in place of the usual ones of the same measure, with experts and without."""
    measures = {name.split()[0] for name in own}
    return {name: told for name, told in usual.items() if name.split()[0] not in measures} | dict(own)


def _figure(engine: str, key: str, datum: Datum) -> float:
    read = read_figure(datum, _DOMAINS[key], where=f"{engine}: {key}", sources=Catalogue().sources)
    return float(read.value)


def _error_rows(row: Mapping[str, str]) -> ErrorRows:
    """Of a line of the table that states an error."""
    families, models, weights, loads = (
        tuple(row[name].split(_BETWEEN)) for name in ("families", "models", "weights", "loads")
    )
    return ErrorRows(
        rows=int(row["rows"]),
        sources=int(row["sources"]),
        groups=int(row["groups"]),
        families=families,
        models=models,
        weights=weights,
        loads=loads,
        judged=row["judged"],
    )


def _text(value: object) -> str:
    return _BETWEEN.join(value) if isinstance(value, tuple) else str(value)
