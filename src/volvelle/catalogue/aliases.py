"""What others call accelerators and models, and which entries of the catalogue that is: ``data/aliases.yaml``."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML

from volvelle.errors import DescriptionError, plainly


class Alias(BaseModel):
    """One name, or several alike."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    match: str
    """A pattern that occurs in the name."""
    chip: str | None = None
    cluster: str | None = None
    """The usual machine of such accelerators; None: the catalogue has none."""
    over: Mapping[str, str] = Field(default_factory=dict)
    """Word of a network, or of a way of travelling → the machine that has it."""
    family: str | None = None
    """Of a device that is no chip of the catalogue."""

    def cluster_over(self, words: str) -> str | None:
        """The machine by the words of its network; the usual one where they name no other."""
        return next((cluster for word, cluster in self.over.items() if word in words.lower()), self.cluster)


class StatedFact(BaseModel):
    """A fact with its kind of evidence and its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: int | str
    kind: str
    source: str


class HubName(BaseModel):
    """What a model is called on the hub: who publishes it, and a pattern of the rest, all of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: str
    match: str
    model: str
    """Of the catalogue, with what groups of the pattern found."""
    launch: str = ""
    """The checkpoint that a shorter name stands for, with what groups of the pattern found; empty: the name itself."""
    context: StatedFact | None = None
    """Tokens of the longest sequence by the checkpoint's configuration; None: as the catalogue's entry."""
    weights: StatedFact | None = None
    """Format of the checkpoint's weights; None: as the catalogue's entry."""

    def launched_as(self, name: str) -> str | None:
        """Return the checkpoint that a name without its publisher stands for; None: the name itself."""
        found = re.fullmatch(self.match, re.sub(r"[\s_:]+", "-", name), re.IGNORECASE)
        if found is None or not self.launch:
            return None
        return re.sub(r"\\(\d)", lambda group: found[int(group[1])].upper(), self.launch)

    def model_called(self, rest: str) -> str | None:
        """The entry that a name without its publisher is of; None: of another."""
        found = re.fullmatch(self.match, rest, re.IGNORECASE)
        return None if found is None else found.expand(self.model).lower()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    hub: tuple[HubName, ...]
    launched: Mapping[str, str]
    accelerators: tuple[Alias, ...]
    published: Mapping[str, Mapping[str, str]]
    short: Mapping[str, str]


@cache
def _file() -> _File:
    file = resources.files("volvelle.catalogue") / "data" / "aliases.yaml"
    try:
        return _File.model_validate(YAML(typ="safe", pure=True).load(file.read_text("utf-8")))
    except ValidationError as error:
        raise DescriptionError(f"aliases.yaml does not load: {error}") from None


def accelerator_aliases() -> tuple[Alias, ...]:
    """All of them, in the order they are tried."""
    return _file().accelerators


@cache
def accelerator_alias(name: str) -> Alias | None:
    """What an accelerator is here, by what somebody calls it; None: nobody knows."""
    return next((alias for alias in accelerator_aliases() if re.search(alias.match, name, re.IGNORECASE)), None)


def published_names(publication: str) -> Mapping[str, str]:
    """Our names of chips → those of a publication."""
    return _file().published[publication]


def short_chip_name(plain: str) -> str | None:
    """The chip that a shorter name, written plainly, can only mean."""
    return next((chip for name, chip in _file().short.items() if plainly(name) == plain), None)


def hub_names() -> tuple[HubName, ...]:
    """All names on the hub that are known."""
    return _file().hub


def launched_checkpoints() -> Mapping[str, str]:
    """Return the checkpoint that engines launch, by model of the catalogue, where that is not the base."""
    return _file().launched


@cache
def hub_entry(name: str) -> HubName | None:
    """Return the entry that a name on the hub matches, with its publisher or without; None: no entry does.

    Spaces, underscores and colons count as hyphens: ``Llama 3.3 70B`` is Llama-3.3-70B.
    """
    publisher, slash, rest = name.strip().removeprefix("https://").removeprefix("huggingface.co/").rpartition("/")
    plain = re.sub(r"[\s_:]+", "-", rest)
    asked = (known for known in hub_names() if not slash or publisher.lower() == known.by.lower())
    return next((known for known in asked if known.model_called(plain) is not None), None)


@cache
def hub_model(name: str) -> str | None:
    """Return the model of the catalogue that a name on the hub stands for; None: none does."""
    found = hub_entry(name)
    return None if found is None else found.model_called(re.sub(r"[\s_:]+", "-", name.strip().rpartition("/")[2]))
