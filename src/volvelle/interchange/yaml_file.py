"""Named fields from a YAML 1.2 file, or a reason why there are none."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import YAMLError

from volvelle.errors import DescriptionError, brief
from volvelle.input_limits import read_text, refuse_overgrown

Form = TypeVar("Form", bound=BaseModel)
_BRANCH = re.compile(r"\[|^(int|float|str|bool|RangeForm)$")
"""What is no field: branches that the reader tried."""


def read_form(source: Path | Mapping[str, object], form: type[Form], *, what: str, examples: str) -> Form:
    """What a YAML file states, or its fields, checked; `what` is the one word for such a thing."""
    if isinstance(source, Mapping):
        return checked_form(source, form, what, what)
    return checked_form(read_fields(source, what=f"a {what}", examples=examples), form, source.name, what)


def checked_form(written: Mapping[str, object], form: type[Form], where: str, what: str) -> Form:
    """Fields as a form, or what is wrong with the first that is; `where` is the file that they are from."""
    try:
        return form.model_validate(dict(written))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if not _BRANCH.search(str(part)))
        said = first["msg"].removeprefix("Value error, ")
        found = first.get("input")
        told = isinstance(found, Mapping) or said.startswith("it is ")
        shown = "" if told or first["type"] == "missing" else f" (found {brief(found)})"
        more = f"; and {error.error_count() - 1} more" if error.error_count() > 1 else ""
        raise DescriptionError(f"{where}: {place or f'the {what}'}: {said}{shown}{more}") from None


def read_fields(
    path: Path, *, what: str, examples: str, twice: type[DescriptionError] = DescriptionError
) -> Mapping[str, object]:
    """Fields of a file that describes `what`; `examples` is where such files are, `twice` what two of a name raise."""
    try:
        found = YAML(typ="safe", pure=True).load(read_text(path))
    except FileNotFoundError:
        raise DescriptionError(f"{str(path)!r} does not exist; give a YAML file that describes {what}") from None
    except DuplicateKeyError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark is not None else ""
        said = str(error.problem).partition("with value")[0].strip()
        raise twice(f"{path.name}: {said[:200]}{line}: two things have one name; rename one") from None
    except RecursionError:
        raise DescriptionError(f"{path.name} is nested too deeply; it is no file of this kind") from None
    except (YAMLError, ValueError, TypeError, AttributeError, KeyError) as error:  # the parser lets some of its own out
        raise DescriptionError(f"{path.name} is not YAML: {error}") from None
    refuse_overgrown(found, path.name)
    if not isinstance(found, dict):
        raise DescriptionError(f"{path.name} holds {type(found).__name__}, not named fields; see {examples}")
    return found
