"""A YAML file of the package read into the values it describes: every figure in it names a source that is known."""

from collections.abc import Callable
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, TypeAdapter, ValidationError, ValidationInfo
from ruamel.yaml import YAML

from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import Datum
from volvelle.domains import BYTE_RATE, DELAY, EXTRA, FLOP_RATE, NO_SHARE, SIZE, NumberDomain
from volvelle.errors import DescriptionError
from volvelle.spread import Figure

Read = TypeVar("Read")
CLOSED = ConfigDict(extra="forbid", frozen=True)
"""No field that nobody knows; dataclasses take it as ``__pydantic_config__``."""


class Form(BaseModel):
    """A part of a file."""

    model_config = CLOSED


def _place(info: ValidationInfo) -> str:
    return f"{(info.context or {}).get('file')}: {info.field_name}"


def _reader(domain: NumberDomain) -> Callable[[object, ValidationInfo], Figure]:
    def read(written: object, info: ValidationInfo) -> Figure:
        told: dict[str, Any] = info.context or {}
        return read_figure(Datum.model_validate(written), domain, where=_place(info), sources=told["sources"])

    return read


def _value(domain: NumberDomain) -> PlainValidator:
    read = _reader(domain)
    return PlainValidator(lambda written, info: read(written, info).value)


def _whole(written: object, info: ValidationInfo) -> int:
    return int(_reader(COUNT)(written, info).value)


PLAIN = NumberDomain(0.0, 1e20)
COUNT = NumberDomain(1, 10**12, whole=True)
PlainFigure = Annotated[Figure, PlainValidator(_reader(PLAIN)), PLAIN]
ShareFigure = Annotated[Figure, PlainValidator(_reader(EXTRA)), EXTRA]
Plain = Annotated[float, _value(PLAIN), PLAIN]
Share = Annotated[float, _value(NO_SHARE), NO_SHARE]
Time = Annotated[float, _value(DELAY), DELAY]
Size = Annotated[float, _value(SIZE), SIZE]
ByteRate = Annotated[float, _value(BYTE_RATE), BYTE_RATE]
FlopRate = Annotated[float, _value(FLOP_RATE), FLOP_RATE]
Whole = Annotated[int, PlainValidator(_whole), COUNT]


def read_sourced(file: Traversable, kind: Any, *, name: str) -> Any:
    """What the file describes, as a value of `kind`; messages call the file by its `name`."""
    written = YAML(typ="safe", pure=True).load(file.read_text("utf-8"))
    told = {"file": name, "sources": Catalogue().sources}
    try:
        return TypeAdapter(kind).validate_python(written, context=told)
    except ValidationError as error:
        raise DescriptionError(f"{name} does not load: {error}") from None


def benchmark_file(name: str, kind: type[Read]) -> Read:
    """Constants of a benchmark."""
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / name
    found: Read = read_sourced(file, kind, name=f"benchmarks/{name}")
    return found
