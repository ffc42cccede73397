"""YAML files that commands write and others read again: how they are read, checked and written.

They are a user's own: what is wrong with one is said with its name and with what makes a right one.
"""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from volvelle.errors import DescriptionError
from volvelle.input_limits import read_text, refuse_overgrown

Saved = TypeVar("Saved", bound=BaseModel)


def read_saved_file(path: Path, form: type[Saved], *, made_by: str, looks: str) -> Saved:
    """The file as `form` has it; `made_by` is the command that writes one, `looks` what a right one is like."""
    try:
        found = YAML(typ="safe", pure=True).load(read_text(path))
    except FileNotFoundError:
        raise DescriptionError(f"{str(path)!r} does not exist; write one with {made_by} --save {path.name}") from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise DescriptionError(f"{path.name} is not YAML: {error}") from None
    refuse_overgrown(found, path.name)
    try:
        return form.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise DescriptionError(f"{path.name}: {place}: {first['msg']}; {looks}") from None


def write_saved_file(file: BaseModel, path: Path, *, says: str) -> None:
    """Write it, fields in their order, below a line that says what it is."""
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    try:
        with path.open("w", encoding="utf-8") as out:
            out.write(f"# {says}\n")
            writer.dump(file.model_dump(), out)
    except OSError as error:
        raise DescriptionError(f"{str(path)!r} cannot be written: {error.strerror}; name a file elsewhere") from None


def is_yaml_name(name: str) -> bool:
    """Whether something is named by its file."""
    return name.lower().endswith((".yaml", ".yml"))
