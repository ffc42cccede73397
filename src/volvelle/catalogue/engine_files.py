"""An engine of one's own: a file with constants that were fitted to one's own runs, over an engine of the catalogue."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.saved_file import read_saved_file, write_saved_file
from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.estimators.serving.engine_constants import EngineConstants

CONSTANT = NumberDomain(0.0, 1e6)
FACTOR = NumberDomain(1.0, 100.0)
"""One standard deviation as a factor."""
_NAMES = frozenset(one.name for one in fields(EngineConstants)) - {"host_overlapped"}
_MEASURES = frozenset({"ttft", "tpot", "latency", "throughput"})


class EngineFile(BaseModel):
    """What such a file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: str
    """Of the catalogue: its rules, its kernels, its defaults."""
    family: str
    """Of the chips that it was fitted on."""
    fitted_to: str
    """The runs, in words."""
    covers: dict[str, Any] = {}
    """Models, chips, layouts and loads of those runs."""
    host_overlapped: bool = True
    constants: dict[str, float]
    error: dict[str, float] = {}
    """One standard deviation as a factor, by what is predicted."""


def read_engine_file(path: Path) -> EngineFile:
    """The file, if all that it says is known and inside its domain."""
    file = read_saved_file(
        path,
        EngineFile,
        made_by="volvelle calibrate serving --bench …",
        looks="an engine file has engine, family, fitted_to and constants, as volvelle calibrate serving --save writes "
        "it",
    )
    for group, known, domain in (("constants", _NAMES, CONSTANT), ("error", _MEASURES, FACTOR)):
        values: Mapping[str, float] = getattr(file, group)
        for name, value in values.items():
            if name not in known:
                raise DescriptionError(f"{path.name}: {group} has no {name!r}; it has {', '.join(sorted(known))}")
            domain.check(value, f"{path.name}: {group}.{name}")
    return file


def write_engine_file(file: EngineFile, path: Path) -> None:
    """Write it."""
    says = "Constants of a serving engine, fitted to runs of one's own: volvelle serve --engine THIS-FILE"
    write_saved_file(file, path, says=says)
