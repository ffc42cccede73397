"""Words on what is being done, where somebody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

import click

_NARROWEST = 20
"""Columns of a terminal below which words would be broken letter by letter."""
_LINE = 40
"""Columns of the longest line that counts."""


def watched() -> bool:
    """Whether somebody sees what is said meanwhile, on a terminal that has room for it."""
    return sys.stderr.isatty() and get_terminal_size().columns >= _NARROWEST


@contextmanager
def waiting(words: str) -> Iterator[Callable[[str], None]]:
    """Shows words until it is left; what it yields changes them."""
    if not watched():
        yield lambda words: None
        return
    from rich.console import Console  # noqa: PLC0415 - short start-up

    with Console(stderr=True).status(words) as status:
        yield status.update


@contextmanager
def counting(words: str, *, quiet: bool) -> Iterator[Callable[..., None]]:
    """Shows numbers in words like ``{:,} layouts`` until it is left; what it yields takes the next ones."""
    if quiet or not watched():
        yield lambda *numbers: None
        return
    try:
        yield lambda *numbers: click.echo("\r" + words.format(*numbers), nl=False, err=True)
    finally:
        click.echo("\r" + " " * _LINE + "\r", nl=False, err=True)
