"""Lengths of documents from a file: one a line, alone or with how many documents have it."""

from collections import Counter
from pathlib import Path

from volvelle.errors import DescriptionError
from volvelle.input_limits import read_text
from volvelle.workload.packing import Lengths


def read_lengths(given: str | Path) -> Lengths:
    """Read ``512:0.7,4096:0.3``, or a file whose lines are lengths, or lengths with a share like ``512:0.7``."""
    text = str(given)
    if isinstance(given, str) and text.strip() and set(text) <= set("0123456789.:,eE+- \n"):
        return Lengths.parse(text)
    try:
        found = read_text(Path(text))
    except FileNotFoundError:
        raise DescriptionError(
            f"lengths: {text!r} is no file, and not lengths with shares; write them like 512:0.7,4096:0.3"
        ) from None
    lines = Counter(line.strip() for line in found.splitlines() if line.strip())
    repeated = (f"{line}:{count}" if ":" not in line else line for line, count in lines.items())
    return Lengths.parse(",".join(repeated))
