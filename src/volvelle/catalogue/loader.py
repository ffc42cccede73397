"""Reads the catalogue: one YAML 1.2 file an entry, from the package and from folders of one's own."""

import re
from dataclasses import replace
from functools import cached_property, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from volvelle.catalogue.aliases import hub_entry
from volvelle.catalogue.build import build_calibration, build_chip, build_cluster, build_link, build_model
from volvelle.catalogue.figures import as_datum
from volvelle.catalogue.names import EntryNames
from volvelle.catalogue.price_rows import price_without_host
from volvelle.catalogue.references import References
from volvelle.catalogue.saved_file import is_yaml_name
from volvelle.catalogue.schema import (
    ROOMS,
    CalibrationFile,
    ChipFile,
    ClusterFile,
    Entry,
    LinkFile,
    ModelFile,
    Reference,
)
from volvelle.catalogue.shelves import Shelf
from volvelle.catalogue.stacks import default_stack, software_stack
from volvelle.catalogue.training_errors import training_errors
from volvelle.domains import ACCELERATORS
from volvelle.errors import DescriptionError, SourceError, UnknownNameError, brief, plainly
from volvelle.estimators.calibration import CONSTANTS, Calibrations, calibrated
from volvelle.estimators.stack import Stack
from volvelle.input_limits import read_text, refuse_overgrown
from volvelle.quantities import DOLLARS
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster
from volvelle.system.link import Link
from volvelle.workload.families.transformer import Transformer

File = TypeVar("File", bound=BaseModel)
_EXAMPLE = 64
"""Accelerators of a machine that an error gives as an example."""
_TOLD = 20
"""Things amiss in a file that are told at once."""


class Catalogue:
    """Chips, their calibrations, links, clusters and models by name.

    Folders given are looked at before the package's own, so an entry of one's own may replace or extend it: a folder
    holds ``chips/NAME.yaml``, ``clusters/NAME.yaml`` … and ``references/*.yaml``.
    """

    def __init__(self, *folders: Path) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise DescriptionError(f"the catalogue folder {str(folder)!r} does not exist")
        self._folders = folders
        self._roots: tuple[Traversable, ...] = (*folders, resources.files("volvelle.catalogue") / "data")
        self._names = EntryNames(self._roots)
        self._read: dict[tuple[str, str], BaseModel] = {}

    @property
    def own_folders(self) -> tuple[str, ...]:
        """Folders beside the package's own."""
        return tuple(map(str, self._folders))

    # -- what there is -----------------------------------------------------------------------------------------

    def names(self, room: str) -> tuple[str, ...]:
        """Names of all entries of a room: chips, calibrations, links, clusters or models."""
        return self._names.all(room)

    def name_of(self, room: str, name: str) -> str | None:
        """The catalogue's own name of an entry, as others may write it; None: of no or of several."""
        return self._names.own(room, name)

    def stated(self, room: str, name: str, field: str) -> str:
        """What an entry's file says in one line of its margin, like its title, read without the rest."""
        return self._names.stated(room, name, field)

    @property
    def chips(self) -> Shelf[Chip]:
        """All chips, by name."""
        return Shelf("chip", self.names("chips"), self.chip)

    @property
    def clusters(self) -> Shelf[Cluster]:
        """All clusters, by name; a kind of machine without a number of accelerators has an example's."""
        return Shelf("cluster", self.names("clusters"), self._counted)

    @property
    def links(self) -> Shelf[Link]:
        """All links, by name."""
        return Shelf("link", self.names("links"), self.link)

    @property
    def models(self) -> Shelf[Transformer]:
        """All models, by name."""
        return Shelf("model", self.names("models"), self.model)

    def __reduce__(self) -> tuple[object, ...]:
        """Its folders; what was read of them is read again."""
        return Catalogue, self._folders

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self.names(room))} {room}" for room in ROOMS)
        return f"Catalogue of {counts}"

    @cached_property
    def sources(self) -> frozenset[str]:
        """Keys of all references."""
        return frozenset(self.references)

    @cached_property
    def references(self) -> References:
        """All references, each read when it is asked for."""
        files = [
            file
            for root in self._roots
            if (root / "references").is_dir()
            for file in sorted((root / "references").iterdir(), key=lambda file: file.name)
            if file.name.endswith(".yaml")
        ]
        return References((read_text(file) for file in files), _reference)

    # -- files as written --------------------------------------------------------------------------------------

    def chip_file(self, name: str) -> ChipFile:
        """Return a chip as its file states it, with the price of its newest offers unless the file states its own."""
        file = self._file("chips", name, ChipFile)
        price = None if file.price is not None else price_without_host(file.name)
        return file if price is None else file.model_copy(update={"price": as_datum(price, DOLLARS)})

    def chip_family(self, name: str) -> str:
        """The family of a chip, by the one line of its file that states it: many are asked for at once."""
        for root in self._roots:
            file = root / "chips" / f"{name}.yaml"
            if file.is_file():
                stated = re.search(r"^family: ([\w-]+)$", read_text(file), re.MULTILINE)
                return stated[1] if stated else self.chip_file(name).family
        return self.chip_file(name).family

    def calibration_file(self, name: str) -> CalibrationFile:
        """Fitted constants as their file states them."""
        return self._file("calibrations", name, CalibrationFile)

    def link_file(self, name: str) -> LinkFile:
        """A link as its file states it."""
        return self._file("links", name, LinkFile)

    def cluster_file(self, name: str) -> ClusterFile:
        """A cluster template as its file states it."""
        return self._file("clusters", name, ClusterFile)

    def model_file(self, name: str) -> ModelFile:
        """A model as its file states it."""
        return self._file("models", name, ModelFile)

    def prices_file(self) -> Traversable:
        """The prices of parts and sites: those of the first folder that states some, or the package's own."""
        files = (root / "prices" / "parts.yaml" for root in self._roots)
        return next(file for file in files if file.is_file())

    def entry(self, room: str, name: str) -> Entry:
        """An entry of any room as its file states it; of a cluster, with or without a number of accelerators."""
        if room == "chips":
            return self.chip_file(name)
        return cast("Entry", self._file(room, name.partition("/")[0], ROOMS[room][1]))

    def _file(self, room: str, given: str, schema: type[File]) -> File:
        kind, _ = ROOMS[room]
        known = self._read.get((room, given))
        if isinstance(known, schema):
            return known
        name = self._names.known(room, given)
        for root in self._roots:
            file = root / room / f"{name}.yaml"
            if file.is_file():
                entry = cast("File", _entry(read_text(file), kind, name, schema))
                self._read[room, given] = entry
                return entry
        raise UnknownNameError.among(kind, name, self.names(room))

    # -- values ------------------------------------------------------------------------------------------------

    def chip(self, name: str) -> Chip:
        """A chip."""
        return build_chip(self.chip_file(name), self.sources)

    def calibrations(self, chip: str, *, stack: str = "") -> Calibrations:
        """Every calibration that a question about a chip may fall back on, for a software stack or the usual one."""
        wanted = {chip, f"family.{self.chip_file(chip).family}", "default"}
        names = [name for name in self.names("calibrations") if name in wanted or name.startswith(f"{chip}.")]
        entries = (build_calibration(self.calibration_file(name), self.sources) for name in names)
        family = self.chip_file(chip).family
        if is_yaml_name(stack):
            from volvelle.catalogue.own_calibrations import own_stack  # noqa: PLC0415 - keeps start-up short

            software: Stack | None = own_stack(stack, chip=chip, family=family)
        else:
            software = software_stack(stack) if stack else default_stack(family)
        return Calibrations(
            entries=tuple(entries),
            stack=software.name if software else "",
            software=software,
            errors=training_errors,
        )

    def calibrated(self, cluster: Cluster, *, stack: str = "") -> Cluster:
        """A machine described elsewhere, with what the catalogue knows of its chip and of the software on it."""
        return calibrated(cluster, self.calibrations(cluster.chip.name, stack=stack))

    def with_chip(self, cluster: Cluster, name: str, *, stack: str = "") -> Cluster:
        """The machine with another chip, and with what runs on that one taught."""
        return self.calibrated(replace(cluster, chip=self.chip(name)), stack=stack)

    def link(self, name: str) -> Link:
        """A link."""
        return build_link(self.link_file(name), self.sources)

    def cluster(self, name: str, *, stack: str = "") -> Cluster:
        """A cluster of so many accelerators, ``"dgx-a100/1024"``; with constants of a stack, or of the usual one.

        A machine whose file states its size, like ``"frontier"``, has that many without a number.
        """
        template, slash, count = name.partition("/")
        if slash and not (count.isdecimal() and count.isascii() and len(count) < 20 and int(count) > 0):
            raise DescriptionError(
                f"{brief(name)}: after the slash comes the number of accelerators, like {template[:100] + '/1024'!r}: "
                f"{ACCELERATORS}"
            )
        file = self.cluster_file(self._names.known("clusters", template, count))
        size = int(count) if slash else file.default_count
        if size is None:
            raise DescriptionError(
                f"how many GPUs? {file.name} is a kind of machine; give their number after a slash, "
                f"e.g. {file.name}/{_usual_count(file)}"
            )
        cluster = build_cluster(
            file,
            count=size,
            chip=self.chip(file.chip),
            links={name: self.link(name) for name in {*(d.link for d in file.dimensions), file.host_link} if name},
            calibrations=self.calibrations(file.chip, stack=stack),
            sources=self.sources,
        )
        cluster = replace(cluster, catalogue_folders=self._folders)
        if slash:
            return cluster
        asked = f"no number of accelerators is given: all {cluster.accelerators:,} of {file.name} are used"
        return replace(cluster, notes=(asked, *cluster.notes))

    def node(self, name: str) -> Cluster:
        """One node of a machine that is named with or without a number of accelerators."""
        file = self.cluster_file(self._names.known("clusters", name.partition("/")[0]))
        return self.cluster(f"{file.name}/{_node_size(file) or file.default_count or 1}")

    def _counted(self, name: str) -> Cluster:
        return self.cluster(self.with_count(name))

    def with_count(self, name: str) -> str:
        """Return the name of a machine with an example's number of accelerators, unless it or its file states one."""
        template, slash, count = name.partition("/")
        file = self.cluster_file(self._names.known("clusters", template, count))
        return name if slash or file.default_count is not None else f"{file.name}/{_usual_count(file)}"

    def model(self, name: str) -> Transformer:
        """A model's architecture; by a name on the hub, with the context and weights of that checkpoint."""
        shape = build_model(self.model_file(name), self.sources)
        if plainly(name) in (plainly(shape.name), plainly(self.stated("models", shape.name, "title"))):
            return shape  # the name is the entry's own; names on the hub take long to read
        entry = hub_entry(name)
        if entry is None:
            return shape
        own = {"context": entry.context, "published_weights": entry.weights}
        return replace(shape, **{field: fact.value for field, fact in own.items() if fact is not None})  # type: ignore[arg-type]


def _node_size(file: ClusterFile) -> int:
    """Return the accelerators of the innermost network; 0: it has no size of its own."""
    inner = file.dimensions[0].size
    return 0 if inner == "rest" else inner


def _usual_count(file: ClusterFile) -> int:
    """Return a number of accelerators that fills whole nodes, as an example."""
    node = _node_size(file) or 1
    return node * max(1, _EXAMPLE // node)


@lru_cache(maxsize=2048)
def _entry(text: str, kind: str, name: str, schema: type[BaseModel]) -> BaseModel:
    """An entry of a text; of the same text it is the same, whichever catalogue reads it: reading takes long."""
    written = parsed(text, f"{name}.yaml")
    if written.get("name", name) != name:
        raise DescriptionError(f"{kind} {name!r} calls itself {brief(written['name'])}; name file and entry alike")
    return validated(written, schema, f"{kind} {name!r}")


def _reference(key: str, text: str) -> Reference:
    return validated(parsed(text, f"reference {key!r}")[key], Reference, f"reference {key!r}")


def parsed(text: str, where: str) -> dict[str, object]:
    """Named fields from YAML."""
    try:
        found = YAML(typ="safe", pure=True).load(text)
    except RecursionError:
        raise DescriptionError(f"{where} is nested too deeply; it is no file of this kind") from None
    except (YAMLError, ValueError, TypeError, AttributeError, KeyError) as error:  # the parser lets some of its own out
        raise DescriptionError(f"{where} is not YAML: {error}") from None
    refuse_overgrown(found, where)
    if not isinstance(found, dict):
        raise DescriptionError(f"{where} holds {type(found).__name__}, not named fields")
    return found


def validated(entry: object, schema: type[File], where: str) -> File:
    """An entry in its form, or everything that is wrong with it."""
    try:
        return schema.model_validate(entry)
    except ValidationError as error:
        lines = []
        missing_source = False
        for problem in error.errors()[:_TOLD]:
            path = ".".join(str(step) for step in problem["loc"])
            missing_source |= problem["type"] == "missing" and path.endswith("source")
            lines.append(f"  {path}: {_reason(problem['type'], problem['msg'], path, problem['input'], schema)}")
        if error.error_count() > _TOLD:
            lines.append(f"  and {error.error_count() - _TOLD} more")
        kind = SourceError if missing_source else DescriptionError
        raise kind(f"{where} does not load:\n" + "\n".join(lines)) from None


def _reason(kind: str, message: str, path: str, given: object, schema: type[BaseModel]) -> str:
    """What is wrong with a field, and what to do where it is known."""
    if kind == "missing":
        return message.lower()
    if schema is ChipFile and path in CONSTANTS:
        return f"is fitted to runs, not built into the chip; state it in calibrations/NAME.yaml under constants.{path}"
    if isinstance(given, dict) and "spread" in given and kind != "extra_forbidden":
        return f"is counted, so it is a bare number without a spread (found {brief(given)})"
    return f"{message.removeprefix('Value error, ').lower()} (found {brief(given)})"
