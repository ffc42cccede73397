"""Named fields from a JSON file, or a reason why there are none."""

import json
from pathlib import Path

from volvelle.errors import DescriptionError
from volvelle.input_limits import read_text, refuse_overgrown


def read_json(file: Path, *, missing: str) -> dict[str, object]:
    """Fields of a file; `missing` says what to give where there is none."""
    try:
        found = json.loads(read_text(file))
    except FileNotFoundError:
        raise DescriptionError(f"{str(file)!r} does not exist; {missing}") from None
    except RecursionError:
        raise DescriptionError(f"{str(file)!r} is nested too deeply; it is no file of this kind") from None
    except ValueError as error:
        raise DescriptionError(f"{str(file)!r} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise DescriptionError(f"{str(file)!r} holds {type(found).__name__}, not named fields")
    refuse_overgrown(found, repr(str(file)))
    return found
