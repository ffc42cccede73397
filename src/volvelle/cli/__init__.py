"""The command ``volvelle``, one file a verb. It decides nothing; it asks, and shows what is answered."""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from volvelle.cli.commands import ALSO, MEANT, VARIABLE, VERBS
from volvelle.cli.exits import exit_status
from volvelle.cli.suggestions import SuggestingGroup
from volvelle.cli.waiting import progress_lines
from volvelle.input_limits import refuse_remote


class _Verbs(SuggestingGroup):
    """Loads a verb only when it is used, so that the command starts fast."""

    meant = MEANT

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        name = ALSO.get(name.lower(), name.lower())
        if name not in VERBS:
            return None
        module = name.replace("-", "_")
        command = getattr(import_module(f"volvelle.cli.{module}"), module)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="volvelle")
def _volvelle() -> None:
    """A working model of big machines.

    What is computed, where it runs, how it is laid out: how long it takes, what fits, what it costs, and how sure we
    are.

    Exit status: 0 answered, 1 answered but it cannot run, 2 the question made no sense, 3 a defect of volvelle itself,
    130 interrupted. In a pipe, progress goes to standard error after 2 s (VOLVELLE_PROGRESS=never: not at all).
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Answer a question as the command does, in this process; gives the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if VARIABLE in os.environ:
        from volvelle.cli.shells import answer_shells  # noqa: PLC0415 - only where a shell asks

        answer_shells()

    def answer() -> object:
        for word in words:
            refuse_remote(word)
        return _volvelle(args=words, prog_name="volvelle", standalone_mode=False)

    return exit_status(answer)


def main() -> None:
    """Entry point of the command."""
    words = sys.argv[1:]
    # Not in `run`: whoever asks in a process of their own reads no lines of another thread.
    with progress_lines(" ".join(["volvelle", *words[:1]])):
        status = run()
    gc.set_threshold(100_000, 50, 100)  # collecting while modules load takes a tenth of a second, and finds nothing
    sys.exit(status)
