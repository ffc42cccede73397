"""Checkpoints on the hub: which one engines launch for a model, with its own context and format of weights."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from volvelle.catalogue.aliases import hub_entry, hub_model, launched_checkpoints
from volvelle.catalogue.loader import Catalogue
from volvelle.errors import plainly
from volvelle.workload.families.shape import Transformer

_HUB = "huggingface.co/"


@lru_cache(maxsize=8)
def _checkpoints(catalogue: Catalogue) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for key in sorted(catalogue.references):
        place = catalogue.references[key].place.split(",")[0].split(" ")[0].removeprefix("https://").rstrip(";")
        if place.startswith(_HUB) and place.count("/") == 2:
            name = place.removeprefix(_HUB)
            model = hub_model(name)
            # A shorter name of the same publisher is the base of one that was tuned further.
            if model is not None and len(name) < len(found.get(model, name + "-")):
                found[model] = name
    return {**found, **launched_checkpoints()}


def checkpoint_of(model: str, catalogue: Catalogue) -> str | None:
    """Return the checkpoint that engines launch for a model of the catalogue; None: no source names one."""
    return _checkpoints(catalogue).get(model)


def as_launched(shape: Transformer, named: str, catalogue: Catalogue) -> Transformer:
    """Return a model of the catalogue with the context of the checkpoint that engines launch for the name.

    `named` is how the question names the model. Only a name of the catalogue stands for another checkpoint; a name on
    the hub is itself the checkpoint, and a file states its own context.
    """
    if not _is_entry(named, shape.name, catalogue):
        return shape
    launched = launched_checkpoints().get(shape.name)
    entry = None if launched is None else hub_entry(launched)
    if entry is None or entry.context is None:
        return shape
    return replace(shape, context=int(entry.context.value))


def checkpoint_named(named: str, model: str, catalogue: Catalogue) -> str | None:
    """Return the checkpoint that engines launch where a question names a `model` of the catalogue as `named`.

    A name on the hub is the checkpoint itself; without its publisher, it gets the publisher.
    """
    entry = hub_entry(named)
    if entry is None or hub_model(named) != model or _is_entry(named, model, catalogue):
        return checkpoint_of(model, catalogue)
    name = named.strip().removeprefix("https://").removeprefix(_HUB)
    if "/" in name:
        return name
    return entry.launched_as(name) or f"{entry.by}/{name}"


def _is_entry(named: str, model: str, catalogue: Catalogue) -> bool:
    """Whether a name is that of an entry of the catalogue, or its title."""
    if model not in catalogue.names("models"):
        return False
    return plainly(named) in (plainly(model), plainly(catalogue.stated("models", model, "title")))
