"""Configuration files: defaults of options, from the user's configuration folder and from the project."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from volvelle.base.option_kinds import InputFile
from volvelle.base.question import Option, Question
from volvelle.base.settings import Setting
from volvelle.errors import DescriptionError, UnknownNameError

VARIABLE: Final = "VOLVELLE_CONFIG"
"""Environment variable: a file to read instead of the usual ones, or ``never``."""
PROJECT_FILE: Final = "volvelle.yaml"
"""The file of a project; it is searched in the current folder and the folders above."""
KEYS: Final = {
    "system": "machine, like dgx-h100/64",
    "stack": "training software",
    "calibration": "file of constants from your own runs",
    "margin": "share of GPU memory to leave free",
    "catalogue": "folder, or folders, with your own entries",
    "prices.rent": "a cloud, or dollars per GPU-hour",
    "prices.energy": "price of energy",
    "prices.gpu": "price of one GPU",
    "prices.interest": "interest per year",
    "prices.life": "time over which a machine is paid off",
    "prices.use": "share of its life in which a machine is used",
}
"""Keys of a configuration file, and what each sets."""
_EITHER: Final = ("stack", "calibration")
"""Keys of which a question uses one; the nearer file wins."""


def configuration_files() -> tuple[Path, ...]:
    """Return the configuration files that exist: the user's, then the project's, which comes before the user's."""
    stated = os.environ.get(VARIABLE, "")
    if stated == "never":
        return ()
    if stated:
        return (Path(stated),)
    here = Path.cwd()
    project = next((place for folder in (here, *here.parents) if (place := folder / PROJECT_FILE).is_file()), None)
    return tuple(file for file in (user_file(), project) if file is not None and file.is_file())


def user_file() -> Path:
    """Return the configuration file of the user, whether or not it exists."""
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home())
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "volvelle" / "config.yaml"


def settings() -> dict[str, Setting]:
    """Return the settings of all configuration files by key; the project's file replaces what the user's file sets."""
    settings: dict[str, Setting] = {}
    for file in configuration_files():
        stated = _read(file)
        if any(key in stated for key in _EITHER):
            settings = {key: one for key, one in settings.items() if key not in _EITHER}
        settings |= {key: Setting(key=key, value=value, file=file) for key, value in stated.items()}
    return settings


def _read(file: Path) -> dict[str, Any]:
    from volvelle.interchange.yaml_file import read_fields  # noqa: PLC0415 - only where there is a file

    fields = read_fields(file, what="defaults of options", examples="volvelle config --help")
    stated: dict[str, Any] = {}
    for key, value in fields.items():
        if key == "prices" and isinstance(value, Mapping):
            stated |= {f"prices.{name}": price for name, price in value.items()}
        elif key != "version":
            stated[key] = value
    for key, value in stated.items():
        if key not in KEYS:
            raise DescriptionError(f"{file}: {UnknownNameError.among('setting', key, KEYS)}")
        if value is None or isinstance(value, Mapping):
            raise DescriptionError(f"{file}: {key} has no value; give one, or remove the line")
    if all(key in stated for key in _EITHER):
        raise DescriptionError(
            f"{file}: both stack and calibration are set, and a calibration states its stack; keep one"
        )
    return stated


def defaults_for(question: type[Question], stated: Mapping[str, Any]) -> dict[str, Setting]:
    """Return the defaults that configuration files give a question, by field, for fields that it does not state."""
    if not configuration_files():
        return {}
    known = settings()
    parts = {part.configured: part for part in question.options() if part.configured}
    used = {part.configured for part in parts.values() if part.name in stated}
    if used.intersection(_EITHER):
        used.update(_EITHER)
    return {
        parts[key].name: Setting(key=key, value=_value(question, parts[key], setting), file=setting.file)
        for key, setting in known.items()
        if key in parts and key not in used
    }


def _value(question: type[Question], part: Option, setting: Setting) -> Any:
    value = setting.value
    if part.configured == "system" and question.any_size:
        value = str(value).partition("/")[0]
    if isinstance(part.kind, InputFile):
        places = value if isinstance(value, list) else [value]
        paths = tuple((setting.file.parent / str(place)).resolve() for place in places)
        value = paths if part.several else paths[0]
    try:
        return part.read(value)
    except DescriptionError as error:
        raise DescriptionError(f"{setting.file}: {setting.key}: {error}") from None
