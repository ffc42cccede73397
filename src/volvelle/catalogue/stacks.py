"""Software stacks: what they are called, and how far they let chips get (``data/stacks.yaml``, ``data/stacks.csv``)."""

import re
from collections.abc import Mapping
from functools import cache

from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.packaged_rows import packaged_fields, packaged_rows
from volvelle.errors import UnknownNameError, plainly
from volvelle.estimators.calibration import HELD_BYTES, LIST_TIMES, MOVED_BYTES
from volvelle.estimators.stack import Stack


class StackEntry(BaseModel):
    """A stack, as the file has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    parent: str
    match: tuple[str, ...]
    """Words that occur in what a source calls its framework, in small letters."""
    usual_for: tuple[str, ...] = ()
    """Families of chips that are asked about with it where nothing is said."""
    loss_bytes: float | None = None
    """Bytes a logit that its loss needs beside the logits (:func:`volvelle.laws.footprint.loss_bytes`)."""
    sharded_loss_bytes: float | None = None
    """Likewise where tensor ranks share the logits, if that differs."""
    gradient_copy_bytes: float | None = None
    """Bytes a parameter of gradients that it holds in 16 bits too (:func:`volvelle.laws.footprint.gradient_bytes`)."""

    weight_shard_bytes: float | None = None
    """Bytes a parameter of weights that it shares out with ZeRO-3 beside those in 32 bits
    (:func:`volvelle.laws.footprint.weight_bytes`); None: as many as it gathers."""
    gather_copy_bytes: float | None = None
    """Bytes that it moves for one that it gathers (:func:`volvelle.laws.copies.unit_copies_time`)."""
    reduce_copy_bytes: float | None = None
    """Bytes a parameter that it moves before a reduction of gradients in 16 bits."""
    wide_reduce_copy_bytes: float | None = None
    """Likewise in 32 bits."""
    gradient_add_bytes: float | None = None
    """Bytes a parameter that it moves to add gradients up (:func:`volvelle.laws.copies.added_gradients_time`)."""

    list_gather_time: float | None = None
    """Seconds a layer and rank that it takes the host to gather weights
    (:func:`volvelle.laws.copies.listed_parts_time`)."""
    list_reduce_time: float | None = None
    """Likewise to reduce gradients."""
    list_restore_time: float | None = None
    """Likewise once a step, to bring together weights that stay whole."""

    @property
    def stated_constants(self) -> dict[str, float]:
        """What it states of bytes held and moved, and of lists, by the names of constants."""
        names = (*HELD_BYTES, *MOVED_BYTES, *LIST_TIMES)
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@cache
def stack_entries() -> Mapping[str, StackEntry]:
    """All stacks by name, in the order in which words are looked for."""
    return {name: StackEntry(**entry) for name, entry in packaged_fields("stacks.yaml").items()}


def stack_named(given: str) -> str | None:
    """The own name of a stack; case and punctuation do not count. None: there is no such stack."""
    return next((name for name in stack_entries() if plainly(name) == plainly(given)), None)


@cache
def software_stack(given: str) -> Stack:
    """A stack with its factors, by its name; case and punctuation do not count."""
    entries = stack_entries()
    name = stack_named(given)
    if name is None:
        raise UnknownNameError.among("software stack", given, entries)
    factors: dict[tuple[str, str, str], float] = {}
    for row in packaged_rows("stacks.csv"):
        if row["stack"] == name:
            factors[row["family"], row["element"], row["constant"]] = float(row["factor"])
    entry = entries[name]
    return Stack(
        name=name, title=entry.title, parent=entry.parent, factors=factors, stated_constants=entry.stated_constants
    )


@cache
def stacks_run_on(family: str) -> tuple[str, ...]:
    """Stacks that were timed on chips of a family."""
    return tuple(
        dict.fromkeys(
            row["stack"] for row in packaged_rows("stacks.csv") if row["family"] == family and int(row["runs"]) > 0
        )
    )


def runs_of_stack(name: str) -> Mapping[str, int]:
    """Families of chips that a stack was timed on → how many runs."""
    by_element = {
        (row["family"], row["element"]): int(row["runs"])
        for row in packaged_rows("stacks.csv")
        if row["stack"] == name and int(row["runs"]) > 0
    }
    runs: dict[str, int] = {}
    for (family, _), count in by_element.items():
        runs[family] = runs.get(family, 0) + count
    return runs


@cache
def default_stack(family: str) -> Stack | None:
    """The stack that chips of a family are asked about with where nothing is said; None: any."""
    found = next((name for name, entry in stack_entries().items() if family in entry.usual_for), None)
    return None if found is None else software_stack(found)


@cache
def stack_called(framework: str) -> str:
    """The stack that a source means; nothing where none of the words fits."""
    words = re.sub(r"\bv(?=\d)", "", framework.lower())
    return next((name for name, entry in stack_entries().items() if any(word in words for word in entry.match)), "")
