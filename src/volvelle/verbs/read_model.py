"""A model from what describes it: a Hugging Face config.json, its folder, its fields, or a name of the catalogue."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

from volvelle.domains import WIDTH, within_domains
from volvelle.interchange.huggingface import read_config
from volvelle.verbs.named import Folder, catalogue_of, model_of
from volvelle.workload.families.shape import Transformer


@runtime_checkable
class Config(Protocol):
    """A configuration of the library transformers, or anything else that gives its fields."""

    def to_dict(self) -> dict[str, Any]:
        """The fields of its config.json."""


@within_domains
def read_model(
    source: Path | str | Mapping[str, object] | Config | Transformer,
    *,
    name: str | None = None,
    sequence: Annotated[int | None, WIDTH] = None,
    catalogue: Folder = None,
) -> Transformer:
    """A model's architecture from a Hugging Face ``config.json``, for every verb that takes a model.

    `source` is the file, the folder that holds it, its fields as a dictionary, or a configuration of the library
    transformers; or a name of the catalogue. `name` is what to call it, `sequence` the length to train at, by default
    that of every model.
    """
    if isinstance(source, Mapping):
        shape = read_config(source)
    elif isinstance(source, Config):
        shape = read_config(source.to_dict())
    else:
        shape = model_of(source, catalogue_of(catalogue))
    said = {key: value for key, value in (("name", name), ("sequence", sequence)) if value is not None}
    return replace(shape, **said) if said else shape  # type: ignore[arg-type]
