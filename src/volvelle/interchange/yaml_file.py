"""Named fields from a YAML 1.2 file, or a reason why there are none."""

from collections.abc import Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import YAMLError

from volvelle.errors import DescriptionError
from volvelle.input_limits import read_text, refuse_overgrown


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
