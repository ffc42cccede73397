"""Named fields from a YAML 1.2 file, or a reason why there are none."""

from collections.abc import Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import YAMLError

from volvelle.errors import DescriptionError


def read_fields(
    path: Path, *, what: str, examples: str, twice: type[DescriptionError] = DescriptionError
) -> Mapping[str, object]:
    """Fields of a file that describes `what`; `examples` is where such files are, `twice` what two of a name raise."""
    try:
        found = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise DescriptionError(f"{str(path)!r} does not exist; give a YAML file that describes {what}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DescriptionError(f"{str(path)!r} cannot be read as text: {error}") from None
    except DuplicateKeyError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark is not None else ""
        said = str(error.problem).partition("with value")[0].strip()
        raise twice(f"{path.name}: {said}{line}: two things have one name; rename one") from None
    except YAMLError as error:
        raise DescriptionError(f"{path.name} is not YAML: {error}") from None
    if not isinstance(found, dict):
        raise DescriptionError(f"{path.name} holds {type(found).__name__}, not named fields; see {examples}")
    return found
