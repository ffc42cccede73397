"""Words on what is being done, where somebody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_NARROWEST = 20
"""Columns of a terminal below which words would be broken letter by letter."""


@contextmanager
def waiting(words: str) -> Iterator[Callable[[str], None]]:
    """Shows words until it is left, on a terminal that has room for them; what it yields changes them."""
    from rich.console import Console  # noqa: PLC0415 - short start-up

    console = Console(stderr=True)
    if not sys.stderr.isatty() or console.width < _NARROWEST:
        yield lambda words: None
        return
    with console.status(words) as status:
        yield status.update
