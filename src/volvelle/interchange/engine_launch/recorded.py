"""Options that a version of an engine has, as its source declares them, and what is written in their terms."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ruamel.yaml import YAML

from volvelle.errors import MappingError, UnknownNameError
from volvelle.interchange.engine_launch.deployment import Value

_KINDS: Mapping[str, type | tuple[type, ...]] = {"int": int, "float": (int, float), "text": str, "truth": bool}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedOptions:
    """Options of one version of an engine, by group: those of its server, its benchmark, its files."""

    engine: str
    title: str
    version: str
    repository: str
    commit: str
    groups: Mapping[str, Mapping[str, str | list[str]]]
    built_with: Mapping[str, str]
    """Releases of other engines that it is built with."""

    @property
    def named(self) -> str:
        """The engine with its version."""
        return f"{self.title} {self.version}"

    def checked(self, settings: Mapping[str, Value], group: str = "arguments") -> Mapping[str, Value]:
        """The settings, if the version has every one of them and takes its value."""
        known = self.groups.get(group, {})
        for name, value in settings.items():
            if name not in known:
                raise MappingError(
                    f"{self.named} has no option {name} ({self.repository} at {self.commit[:12]}); choose another "
                    f"version or leave away what needs it"
                )
            if not _takes(known[name], value):
                raise MappingError(f"{self.named}: {name} does not take {value!r}; it takes {_said(known[name])}")
        return settings


def _takes(kind: str | list[str], value: Value) -> bool:
    if isinstance(kind, list):
        return str(value) in kind
    if kind == "flag":
        return value is True
    if isinstance(value, bool):
        return kind == "truth"
    return isinstance(value, _KINDS[kind])


def _said(kind: str | list[str]) -> str:
    return ", ".join(kind) if isinstance(kind, list) else kind


@cache
def _versions(engine: str) -> Mapping[str, str]:
    folder = resources.files("volvelle.interchange.engine_launch") / "data" / engine
    found = sorted((file.name.removesuffix(".yaml") for file in folder.iterdir()), key=_order)
    return {version: (folder / f"{version}.yaml").read_text("utf-8") for version in found}


def _order(version: str) -> list[int]:
    return [int("".join(sign for sign in part if sign.isdigit()) or 0) for part in version.split(".")]


def known_versions(engine: str) -> tuple[str, ...]:
    """Versions of an engine whose options are recorded; the first is written for where none is said."""
    return tuple(_versions(engine))


@cache
def recorded_options(engine: str, version: str = "") -> RecordedOptions:
    """Options of a version; of the first that is recorded where none is said."""
    known = _versions(engine)
    if version and version not in known:
        raise UnknownNameError.among(f"recorded version of {engine}", version, known)
    fields = YAML(typ="safe", pure=True).load(known[version or next(iter(known))])
    return RecordedOptions(
        engine=fields["engine"],
        title=fields["title"],
        version=str(fields["version"]),
        repository=fields["repository"],
        commit=fields["commit"],
        groups={name: group for name, group in fields.items() if isinstance(group, dict) and name != "built_with"},
        built_with={name: str(release) for name, release in fields.get("built_with", {}).items()},
    )


def as_arguments(settings: Mapping[str, Value]) -> list[str]:
    """Words of a command line."""
    words = []
    for name, value in settings.items():
        words += [name] if value is True else [name, f"{value}"]
    return words
