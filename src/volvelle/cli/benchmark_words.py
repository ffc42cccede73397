"""Verbs whose first word may name a benchmark, each in a file of its own that is loaded only when asked for."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

__all__ = ["BENCHMARKS", "VerbOnBenchmarks", "VerbOnModelOrBenchmark", "benchmark_command"]

BENCHMARKS = ("dlrm", "fft", "hpcg", "hpl")
"""Benchmarks that a verb may know: its file is ``cli/VERB_BENCHMARK.py``, the command in it ``VERB_BENCHMARK``."""


def benchmark_command(verb: str, word: str) -> click.Command | None:
    """The command of a verb on a benchmark; None where there is none."""
    module = f"volvelle.cli.{verb}_{word}"
    if word not in BENCHMARKS or find_spec(module) is None:
        return None
    command = getattr(import_module(module), f"{verb}_{word}")
    assert isinstance(command, click.Command), f"{module} holds no command {verb}_{word}"
    return command


class VerbOnBenchmarks(click.Group):
    """A group whose commands are its own and, loaded when asked for, those on benchmarks."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Its own and the benchmarks'."""
        words = [word for word in BENCHMARKS if find_spec(f"volvelle.cli.{self.name}_{word}")]
        return sorted({*super().list_commands(ctx), *words})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Its own command, or that on a benchmark."""
        return super().get_command(ctx, name) or benchmark_command(self.name or "", name)


class VerbOnModelOrBenchmark(click.Command):
    """A command that hands over to another where its first argument names a benchmark."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the first word asks for."""
        other = benchmark_command(self.name or "", args[0]) if args else None
        if other is not None:
            return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Which benchmarks may stand in place of a model."""
        known: Sequence[str] = [word for word in BENCHMARKS if find_spec(f"volvelle.cli.{self.name}_{word}")]
        with formatter.section("Benchmarks"):
            formatter.write_text(f"In place of a model: {', '.join(known)} (volvelle {self.name} {known[0]} --help).")
