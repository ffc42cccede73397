"""Defaults that configuration files gave the question which is being answered."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A default, and the file that sets it."""

    key: str
    value: Any
    file: Path


_in_use: ContextVar[Mapping[str, Setting]] = ContextVar("settings")


@contextmanager
def using(settings: Mapping[str, Setting]) -> Iterator[None]:
    """Name the settings, by field, that the question uses, until it is left; documents then contain them."""
    token = _in_use.set(settings)
    try:
        yield
    finally:
        _in_use.reset(token)


def settings_in_use() -> Mapping[str, Setting]:
    """Return the settings of the question that is being answered, by field."""
    return _in_use.get({})


def settings_text(settings: Mapping[str, Setting]) -> str:
    """Return settings with their files in words: ``stack fsdp from volvelle.yaml``."""
    by_file: dict[Path, list[str]] = {}
    for setting in settings.values():
        value = ", ".join(map(str, setting.value)) if isinstance(setting.value, tuple) else str(setting.value)
        by_file.setdefault(setting.file, []).append(f"{setting.key} {value}")
    return "; ".join(f"{', '.join(words)} from {file}" for file, words in by_file.items())
