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
from volvelle.errors import DescriptionError
from volvelle.quantities import BYTES, BYTES_PER_SECOND, FLOP_PER_SECOND, FRACTION, SECONDS, Quantity
from volvelle.spread import Figure

Read = TypeVar("Read")
CLOSED = ConfigDict(extra="forbid", frozen=True)
"""No field that nobody knows; dataclasses take it as ``__pydantic_config__``."""


class Form(BaseModel):
    """A part of a file."""

    model_config = CLOSED


def _place(info: ValidationInfo) -> str:
    return f"{(info.context or {}).get('file')}: {info.field_name}"


def _reader(kind: Quantity | None) -> Callable[[object, ValidationInfo], Figure]:
    def read(written: object, info: ValidationInfo) -> Figure:
        told: dict[str, Any] = info.context or {}
        return read_figure(Datum.model_validate(written), kind, where=_place(info), sources=told["sources"])

    return read


def _value(kind: Quantity | None) -> PlainValidator:
    read = _reader(kind)
    return PlainValidator(lambda written, info: read(written, info).value)


def _whole(written: object, info: ValidationInfo) -> int:
    value = _reader(None)(written, info).value
    if value != int(value) or value < 1:
        raise DescriptionError(f"{_place(info)} is {value:g}; a whole number of at least 1 is wanted")
    return int(value)


PlainFigure = Annotated[Figure, PlainValidator(_reader(None))]
ShareFigure = Annotated[Figure, PlainValidator(_reader(FRACTION))]
Plain = Annotated[float, _value(None)]
Share = Annotated[float, _value(FRACTION)]
Time = Annotated[float, _value(SECONDS)]
Size = Annotated[float, _value(BYTES)]
ByteRate = Annotated[float, _value(BYTES_PER_SECOND)]
FlopRate = Annotated[float, _value(FLOP_PER_SECOND)]
Whole = Annotated[int, PlainValidator(_whole)]


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
