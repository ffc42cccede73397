"""``volvelle calibrate from LOG … --on SYSTEM --save mine.yaml``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.application_commands import JSON
from volvelle.cli.options.layout import layout_values, values_given
from volvelle.cli.options.shared import batch_options
from volvelle.cli.waiting import waiting
from volvelle.cli.words import Lower, Output


@click.command("from", short_help="Constants of your machine, from logs of your own.")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option("--on", required=True, metavar="SYSTEM", help="Machine of the runs, like dgx-h100/64, or dgx-h100 alone.")
@click.option("--model", help="Of the runs: a name or a config.json. [default: what logs say]")
@batch_options
@click.option("--element", type=Lower(), help="Element type of matrix products. [default: what logs say, or bf16]")
@click.option("--stack", default="", help="Software that trained, like fsdp. [default: what logs say]")
@layout_values
@click.option("--save", type=Output(), metavar="FILE.yaml", help="File to write, for --calibrated of other verbs.")
@click.option("--catalogue", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@JSON
def calibrate_from(*, logs: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Learn from logs of benchmarks and training runs of your own.

    Logs of nccl-tests, rccl-tests, Megatron-LM, torchtitan, NeMo, DeepSpeed, Hugging Face's Trainer, MLPerf, HPL and
    rocblas-bench are recognised by what they hold. Steps of a start, of checkpoints and of evaluations do not count.
    What a log does not say of model, batch and layout is told by options. Nothing is written but what --save names.
    """
    from volvelle.report.own_runs.text import own_runs_document, print_own_runs  # noqa: PLC0415 - keeps start-up short
    from volvelle.verbs.own_runs.calibrate import calibrate_from as learned  # noqa: PLC0415 - keeps start-up short

    with waiting(f"reading {len(logs)} logs"):
        found = learned(list(logs), **values_given(given))
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("calibrate", own_runs_document(found)))
    else:
        print_own_runs(found)
