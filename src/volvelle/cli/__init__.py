"""The command ``volvelle``, one file a verb. It decides nothing; it asks, and shows what is answered."""

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from volvelle.cli.exits import exit_status

VERBS = {
    "calibrate": "Fit constants again from the measurements that ship with the package.",
    "catalogue": "Show chips, links, clusters, models and where each number comes from.",
    "compare": "Systems, models, layouts, software or kept answers side by side: what differs, and is it real.",
    "cost": "What a machine costs to buy and to own, by part, with dates, intervals and sources.",
    "estimate": "How long one training step takes, what fits, and where the time goes.",
    "explore": "A design space from a file: every point, the best, the front, and why.",
    "map": "The best mapping of any graph of kernels, with a proof.",
    "plan": "The best layout for a model on a machine, or the best run of a benchmark.",
    "reproduce": "Compute a published study again, and hold it against what was logged.",
    "schema": "Print the JSON Schema of what --json prints.",
    "validate": "Hold the model against measurements, worst rows first.",
}


class _Verbs(click.Group):
    """Loads a verb only when it is used, so that the command starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command = getattr(import_module(f"volvelle.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(sorted(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="volvelle")
def _volvelle() -> None:
    """A working model of big machines.

    What is computed, where it runs, how it is laid out: how long it takes, what fits, what it costs, and how sure we
    are.

    Exit status: 0 answered, 1 answered but it cannot run, 2 the question made no sense, 3 a defect of volvelle itself,
    130 interrupted.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Answer a question as the command does, in this process; gives the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    # Pages repeat the command that made them.
    return exit_status(lambda: _volvelle(args=words, prog_name="volvelle", standalone_mode=False, obj=words))


def main() -> None:
    """Entry point of the command."""
    sys.exit(run())
