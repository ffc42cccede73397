"""An engine of one's own: a file with constants that were fitted to one's own runs, over an engine of the catalogue."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.input_limits import read_text, refuse_overgrown

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


def is_engine_file(name: str) -> bool:
    """Whether an engine is named by its file."""
    return name.lower().endswith((".yaml", ".yml"))


def read_engine_file(path: Path) -> EngineFile:
    """The file, if all that it says is known and inside its domain."""
    try:
        found = YAML(typ="safe", pure=True).load(read_text(path))
    except FileNotFoundError:
        raise DescriptionError(
            f"{str(path)!r} does not exist; write one with volvelle calibrate serving --bench … --save {path.name}"
        ) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise DescriptionError(f"{path.name} is not YAML: {error}") from None
    refuse_overgrown(found, path.name)
    try:
        file = EngineFile.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise DescriptionError(
            f"{path.name}: {place}: {first['msg']}; an engine file has engine, family, fitted_to and constants, "
            f"as volvelle calibrate serving --save writes it"
        ) from None
    for group, known, domain in (("constants", _NAMES, CONSTANT), ("error", _MEASURES, FACTOR)):
        values: Mapping[str, float] = getattr(file, group)
        for name, value in values.items():
            if name not in known:
                raise DescriptionError(f"{path.name}: {group} has no {name!r}; it has {', '.join(sorted(known))}")
            domain.check(value, f"{path.name}: {group}.{name}")
    return file


def write_engine_file(file: EngineFile, path: Path) -> None:
    """Write it."""
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    try:
        with path.open("w", encoding="utf-8") as out:
            out.write(
                "# Constants of a serving engine, fitted to runs of one's own: volvelle serve --engine THIS-FILE\n"
            )
            writer.dump(file.model_dump(), out)
    except OSError as error:
        raise DescriptionError(f"{str(path)!r} cannot be written: {error.strerror}; name a file elsewhere") from None
