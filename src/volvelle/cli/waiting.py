"""Progress of a long command: a spinner, a count or a bar on a terminal, plain lines in a pipe.

`waiting`, `counting` and `bar` show what is being done on a terminal, and note it. `progress_lines` prints what was
noted to standard error where that is no terminal: after two seconds, and then at growing intervals.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from shutil import get_terminal_size
from typing import Final

import click

_NARROWEST = 20
"""Columns of a terminal below which words would be broken letter by letter."""
_LINE = 40
"""Columns of the longest line that counts."""
VARIABLE: Final = "VOLVELLE_PROGRESS"
"""Environment variable: seconds until the first progress line, or ``never``."""
_FIRST: Final = 2.0
"""Seconds until the first line, unless the variable states others."""
_NEXT: Final = (2.5, 2.0, 2.0)
"""Factors from one line's time to the next, again and again: lines after 2, 5, 10, 20, 50, 100 … seconds."""


class _Noted:
    """The words on what is being done now; they are read by the thread that prints lines."""

    words = ""

    def note(self, words: str) -> None:
        """Replace the words."""
        self.words = words


_NOW: Final = _Noted()


def watched() -> bool:
    """Whether standard error is a terminal that has room for words."""
    return sys.stderr.isatty() and get_terminal_size().columns >= _NARROWEST


@contextmanager
def waiting(words: str) -> Iterator[Callable[[str], None]]:
    """Show words until it is left. The function that it yields replaces them."""
    before = _NOW.words
    _NOW.note(words)
    try:
        if not watched():
            yield _NOW.note
            return
        from rich.console import Console  # noqa: PLC0415 - short start-up

        with Console(stderr=True).status(words) as status:
            yield status.update
    finally:
        _NOW.note(before)


@contextmanager
def counting(words: str, *, quiet: bool, before: str = "searching") -> Iterator[Callable[..., None]]:
    """Show numbers in words like ``{:,} layouts`` until it is left. The function that it yields takes the next ones.

    With `quiet`, nothing is shown on a terminal. `before` is noted until there is a number.
    """
    shown = watched() and not quiet
    outer = _NOW.words
    _NOW.note(before)

    def told(*numbers: object) -> None:
        _NOW.note(words.format(*numbers))
        if shown:
            click.echo("\r" + _NOW.words, nl=False, err=True)

    try:
        yield told
    finally:
        _NOW.note(outer)
        if shown:
            click.echo("\r" + " " * _LINE + "\r", nl=False, err=True)


@contextmanager
def bar(words: str, *, total: int | None) -> Iterator[Callable[[], None]]:
    """Show a bar of `total` steps until it is left. The function that it yields adds one step."""
    of = "" if total is None else f" of {total:,}"
    before, done = _NOW.words, 0
    _NOW.note(words)

    def noted() -> None:
        nonlocal done
        done += 1
        _NOW.note(f"{words}, {done:,}{of}")

    try:
        if not watched():
            yield noted
            return
        from rich.console import Console  # noqa: PLC0415 - short start-up
        from rich.progress import Progress  # noqa: PLC0415 - short start-up

        with Progress(console=Console(stderr=True), transient=True) as shown:
            task = shown.add_task(words, total=total)
            yield lambda: shown.advance(task)
    finally:
        _NOW.note(before)


@contextmanager
def progress_lines(command: str) -> Iterator[None]:
    """Print lines on the progress of a command to standard error, unless that is a terminal."""
    first = _first()
    if first is None or sys.stderr is None or sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_print_lines, args=(command, first, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=1.0)


def _first() -> float | None:
    """Return the seconds until the first line; None: no line is wanted."""
    stated = os.environ.get(VARIABLE, "")
    if stated == "never":
        return None
    try:
        return max(0.1, float(stated))
    except ValueError:
        return _FIRST


def _print_lines(command: str, due: float, ended: threading.Event) -> None:
    begun = time.monotonic()
    for factor in cycle(_NEXT):
        if ended.wait(max(0.0, begun + due - time.monotonic())):
            return
        passed = time.monotonic() - begun
        with suppress(OSError, ValueError):  # nobody reads standard error any more
            click.echo(f"{command}: {_NOW.words or 'starting'}, {passed:,.0f} s", err=True)
        due *= factor
