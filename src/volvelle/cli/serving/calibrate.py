"""``volvelle calibrate serving --bench result.json … --save mine.yaml``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from volvelle.cli.options.shared import together
from volvelle.cli.waiting import waiting
from volvelle.cli.words import Lower, Output, Within
from volvelle.domains import DEGREE, ENGINE_SEQUENCES, SHARE, STEP_BUDGET
from volvelle.errors import DescriptionError

bench_options = together(
    click.argument("more", nargs=-1, type=click.Path(path_type=Path), metavar="[RESULT.json]..."),
    click.option(
        "--bench",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="RESULT.json",
        help="Fit to runs of your own: vllm bench serve, sglang.bench_serving or AIPerf. Several may be given.",
    ),
    click.option("--save", type=Output(), metavar="FILE.yaml", help="Engine file to write, for serve --engine."),
    click.option("--on", metavar="SYSTEM", help="Machine of the runs, like dgx-h100/8."),
    click.option("--model", help="Of the runs. [default: what files say]"),
    click.option("--engine", type=Lower(), help="vllm, sglang or trtllm. [default: what files say, or vllm]"),
    click.option("--version", help="Of the engine. [default: what files say]"),
    click.option("--weights", type=Lower(), help="Format of the weights. [default: what files say, or bf16]"),
    click.option("--kv", type=Lower(), help="Element type of the KV cache. [default: what files say, or bf16]"),
    click.option("--tp", "tensor", type=Within(DEGREE), help="Tensor parallelism. [default: what files say]"),
    click.option("--pp", "pipeline", type=Within(DEGREE), help="Pipeline stages. [default: what files say, or 1]"),
    click.option("--ep", "expert", type=Within(DEGREE), help="Groups of experts. [default: what files say, or 1]"),
    click.option("--dp", "ranks", type=Within(DEGREE), help="Attention ranks. [default: what files say, or 1]"),
    click.option("--max-batched-tokens", type=Within(STEP_BUDGET), help="Token budget of a step, as it was told."),
    click.option("--max-seqs", type=Within(ENGINE_SEQUENCES), help="Sequences at once, as it was told."),
    click.option("--memory-share", type=Within(SHARE), help="Of memory, as it was told."),
)


def with_bench(command: click.Command) -> click.Command:
    """The command that also fits to runs of one's own, where some are given."""
    published: Callable[..., None] | None = command.callback
    assert published is not None, "commands of applications do something"

    @bench_options
    def run(
        *,
        bench: tuple[Path, ...],
        more: tuple[Path, ...],
        save: Path | None,
        as_json: bool,
        data: Path | None,
        **said: Any,
    ) -> None:
        if more and not bench:
            raise DescriptionError(f"{str(more[0])!r} has no word before it; write --bench before results of runs")
        if not bench:
            given = {"save": save, **said}
            for option in command.params:
                if given.get(str(option.name)) is not None:
                    raise DescriptionError(f"{option.opts[0]} is of runs of your own; give --bench")
            published(data=data, as_json=as_json)
            return
        if data is not None:
            raise DescriptionError(
                "--data is a table of published rows, --bench are runs of your own; give one of them"
            )
        if said["on"] is None:
            raise DescriptionError("files of benchmarks do not say the machine; give it with --on, like dgx-h100/8")
        _fitted((*bench, *more), save, as_json=as_json, data=said.pop("ranks"), **said)

    command.callback = run
    command.params += getattr(run, "__click_params__", [])[::-1]
    return command


def _fitted(bench: tuple[Path, ...], save: Path | None, *, as_json: bool, **said: Any) -> None:
    from volvelle.report.applications.bench_fit_text import bench_fit_document, print_bench_fit  # noqa: PLC0415 - slow
    from volvelle.verbs.serving.calibrate import calibrate_serving  # noqa: PLC0415 - its compiler is slow

    with waiting("reading") as told:
        found = calibrate_serving(list(bench), save=save, told=told, **said)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("calibrate", bench_fit_document(found)))
    else:
        print_bench_fit(found)
