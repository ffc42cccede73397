"""``volvelle fleet FILE.yaml``, or ``volvelle fleet MODEL --on SYSTEM --load LOAD --slo LIMITS``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.options.shared import together
from volvelle.cli.waiting import waiting
from volvelle.cli.words import BRIEF, Lower, Output, Within
from volvelle.domains import (
    DEGREE,
    ENGINE_SEQUENCES,
    NO_DEGREE,
    REQUEST_LENGTH,
    SEED,
    SHARE,
    SPARES,
    STEP_BUDGET,
    WAIT,
)

_asked = together(
    click.option(
        "--on", multiple=True, metavar="SYSTEM", help="A machine, like dgx-h100, or dgx-h100/64 with so many chips."
    ),
    click.option("--load", metavar="LOAD", help="'trace FILE ×1.5', 'poisson 12/s' or 'gamma 12/s 0.5'."),
    click.option("--slo", metavar="LIMITS", help="Limits to keep, like 'p99 ttft 2 s, p95 tpot 50 ms'."),
    click.option("--input", type=Within(REQUEST_LENGTH), help="Tokens of a prompt. [default: 1024]"),
    click.option("--output", type=Within(REQUEST_LENGTH), help="Tokens of an answer. [default: 128]"),
    click.option("--lengths", help="Lengths of requests: around:0.2, uniform:0.8 or fixed. [default: around:0.2]"),
)
_engine = together(
    click.option("--engine", type=Lower(), help="vllm, sglang or trtllm. [default: vllm]"),
    click.option(
        "--weights", type=Lower(), help="Format of the weights. [default: the published checkpoint's, or bf16]"
    ),
    click.option("--kv", type=Lower(), help="Element type of the KV cache. [default: bf16]"),
    click.option(
        "--tp", "tensor", type=Within(DEGREE), help="Tensor parallelism. [default: the cheapest within a node]"
    ),
    click.option("--pp", "pipeline", type=Within(DEGREE), help="Pipeline stages. [default: 1]"),
    click.option("--ep", "expert", type=Within(DEGREE), help="Groups that experts lie in. [default: 1]"),
    click.option("--dp", "data", type=Within(DEGREE), help="Data-parallel attention ranks. [default: 1]"),
    click.option("--max-batched-tokens", type=Within(STEP_BUDGET), help="Token budget of a step."),
    click.option("--max-seqs", type=Within(ENGINE_SEQUENCES), help="Sequences at once on a rank."),
    click.option("--memory-share", type=Within(SHARE), help="Of memory that it may take, like 92%."),
    click.option("--chunked-prefill", is_flag=True, default=None, help="Let TensorRT-LLM cut prompts."),
)
_policy = together(
    click.option("--scaling", type=Lower(), help="reactive, ahead or fixed. [default: reactive]"),
    click.option("--target", type=Within(SHARE), help="Share of a replica's capacity to use. [default: 80%]"),
    click.option("--look-back", type=Within(WAIT), help="Time over which rates are taken. [default: 5 min]"),
    click.option("--cool-down", type=Within(WAIT), help="Time before replicas are let go. [default: 10 min]"),
    click.option("--least", type=Within(NO_DEGREE), help="Replicas that are always there. [default: 1]"),
    click.option("--cold-start", type=Within(WAIT), help="Start of a replica. [default: weights at 2 GB/s, then 60 s]"),
    click.option("--spare", type=Within(SPARES), help="Replicas that may fail (N + k). [default: 0]"),
    click.option("--pay", type=Lower(), help="Choose by money rented or owned. [default: rented, where known]"),
    click.option("--check", type=Lower(), help="Hours to follow: busiest, every or none. [default: busiest]"),
    click.option("--seed", type=Within(SEED), help="Seed of arrivals and lengths. [default: 0]"),
)


@click.command(short_help="How many chips serve a load of days within limits, by the hour.")
@click.argument("model", metavar="FILE|MODEL")
@_asked
@_engine
@_policy
@click.option("--catalogue", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--plot", type=Output(), help="Draw chips and load by the hour into a .svg or .png file.")
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema fleet).")
@click.pass_context
def fleet(ctx: click.Context, /, *, model: str, plot: Path | None, brief: bool, as_json: bool, **question: Any) -> None:
    """How many chips serve a load of hours or days within limits, by the hour, and for what money.

    FILE is a YAML file that describes a fleet: machines, services with their models, limits and loads, and how it is
    scaled. One MODEL can be asked about without a file: say --on, --load and --slo.
    """
    from volvelle.verbs.fleet.size import fleet as verb  # noqa: PLC0415 - keeps completion of options short

    with waiting("following requests at one rate after the other") as said:
        answer = verb(model, **question, progress=said)
    if plot is not None and answer.services:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - pictures are slow
        from volvelle.report.fleet.picture import fleet_picture  # noqa: PLC0415 - pictures are slow

        save(fleet_picture(answer), plot)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("fleet", answer))
    else:
        from volvelle.report.fleet.text import print_fleet  # noqa: PLC0415 - not needed for JSON

        print_fleet(answer, brief=brief)
    if not answer.feasible:
        ctx.exit(1)
