"""``volvelle plan MODEL --serve --on SYSTEM --load … --slo …``."""

from pathlib import Path
from typing import Any

import click

from volvelle.cli.html_page import html_option, write_page
from volvelle.cli.options.shared import launch_options, together
from volvelle.cli.waiting import counting
from volvelle.cli.words import BRIEF, Lower, Output, Within
from volvelle.domains import (
    DEGREE,
    ENGINE_SEQUENCES,
    PROCESSES,
    REQUEST_LENGTH,
    RESULTS,
    SEED,
    SERVED_REQUESTS,
    SHARE,
    STEP_BUDGET,
    NumberDomain,
)

PURPOSES = ("dollars", "chips", "watts")


class Several(Lower):
    """Numbers or words, with commas between them."""

    def __init__(self, domain: NumberDomain | None = None) -> None:
        self.one = None if domain is None else Within(domain)
        self.name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """All of them."""
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in str(value).split(",")]
        if not all(words):
            self.fail(f"it is {value!r}; give values with commas between them, like 2,4", param, ctx)
        return tuple(word.lower() if self.one is None else self.one.convert(word, param, ctx) for word in words)


def _several(flag: str, name: str, domain: NumberDomain | None, says: str) -> Any:
    return click.option(flag, name, type=Several(domain), default=(), help=says)


_asked = together(
    click.option(
        "--load",
        required=True,
        metavar="LOAD",
        help="Requests: 'poisson 12/s', 'closed 64', 'gamma 12/s 0.5', 'ramp 1/s 20/s' or 'trace FILE ×1.5'.",
    ),
    click.option(
        "--slo",
        required=True,
        metavar="LIMITS",
        help="Limits of all requests, like 'p99 ttft 2 s, p95 tpot 50 ms': p50 to p99.9 or mean, of ttft, tpot, itl or "
        "e2el; 'p99 tps 20' for tokens a second of a user.",
    ),
    click.option("--input", type=Within(REQUEST_LENGTH), help="Tokens of a prompt. [default: 1024]"),
    click.option("--output", type=Within(REQUEST_LENGTH), help="Tokens of an answer. [default: 128]"),
    click.option("--lengths", help="Lengths of requests: around:0.2, uniform:0.8 or fixed. [default: around:0.2]"),
    click.option("--requests", type=Within(SERVED_REQUESTS), help="Of a run of the load. [default: 2000 a rank]"),
    click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of arrivals and lengths."),
    click.option(
        "--for",
        "purpose",
        type=click.Choice(PURPOSES),
        default="dollars",
        show_default=True,
        help="What is to be least.",
    ),
)
_considered = together(
    click.option("--engine", type=Several(), default="vllm", show_default=True, help="vllm, sglang, trtllm; several."),
    _several(
        "--weights",
        "weights",
        None,
        "Formats of weights to consider. [default: the published checkpoint's, or bf16,fp8]",
    ),
    _several("--kv", "kv", None, "Types of the KV cache to consider. [default: bf16,fp8]"),
    _several("--tp", "tensor", DEGREE, "Tensor parallelism. [default: all that a node has]"),
    _several("--pp", "pipeline", DEGREE, "Pipeline stages. [default: 1 to 16]"),
    _several("--ep", "expert", DEGREE, "Groups that experts lie in. [default: all that divide]"),
    _several("--dp", "data", DEGREE, "Data-parallel attention ranks. [default: all beside experts, else 1]"),
    _several(
        "--max-batched-tokens", "max_batched_tokens", STEP_BUDGET, "Token budgets. [default: the engine's, 2k–16k]"
    ),
    _several("--max-seqs", "max_seqs", ENGINE_SEQUENCES, "Sequences at once. [default: the engine's, 32–512]"),
    click.option("--memory-share", type=Within(SHARE), help="Of memory that an engine may take. [default: its own]"),
    click.option(
        "--speculate",
        multiple=True,
        metavar="DRAFTS",
        help="Consider to draft, too: 'eagle 3', 'mtp 1', 'eagle best', as in volvelle serve; several may be given.",
    ),
    click.option("--chunked-prefill", is_flag=True, default=None, help="Let TensorRT-LLM cut prompts."),
)


@click.command("plan", short_help="The cheapest way to serve a load within limits.")
@click.argument("model")
@click.option("--serve", is_flag=True, required=True, help="Plan for requests in place of training.")
@click.option(
    "--on",
    required=True,
    multiple=True,
    metavar="SYSTEM",
    help="Cluster and accelerators at most; several may be given.",
)
@_asked
@_considered
@click.option("--split", is_flag=True, help="Look for a pool of prompts beside a pool that decodes, too.")
@click.option("--top", default=5, type=Within(RESULTS), show_default=True, help="Layouts to show.")
@click.option("--keep", type=Output(folder=True), metavar="FOLDER", help="Keep trials; the same command goes on there.")
@launch_options
@click.option("--workers", type=Within(PROCESSES), help="Processes. [default: all cores for large searches]")
@click.option("--catalogue", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--figure", type=Output(), metavar="FILE", help="Draw tokens/s a chip against a user's: .svg or .png.")
@BRIEF
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema plan).")
@click.pass_context
def plan_serving(
    ctx: click.Context,
    /,
    *,
    model: str,
    serve: bool,
    figure: Path | None,
    html: Path | None,
    brief: bool,
    as_json: bool,
    **question: Any,
) -> None:
    """The cheapest way to serve MODEL under a load within limits: chips, layout, formats and settings.

    Of every candidate the largest part of the load that one rank serves within the limits is found by following its
    requests, unless a closed form rules the candidate out. As few replicas are taken as serve all of the load; what
    they take ranks the candidates, and where that ties, goodput does: the highest rate within limits of the whole
    machine.
    """
    from volvelle.verbs.plan_serving.plan import plan_serving as verb  # noqa: PLC0415 - keeps completion short

    if figure is not None:
        from volvelle.report.figures.engine import check_engines  # noqa: PLC0415 - before anything is computed

        check_engines()
        if figure.suffix not in (".svg", ".png"):
            raise click.UsageError(f"--figure is {str(figure)!r}; its name must end in .svg or .png")
    with counting("{:,} of {:,} {}", quiet=as_json, before="listing candidates") as progress:
        found = verb(model, progress=progress, **question)
    if figure is not None:
        from volvelle.report.figures.rendering import save  # noqa: PLC0415 - only where it is drawn
        from volvelle.report.plan_serving.picture import tradeoff_picture  # noqa: PLC0415
        from volvelle.verbs.plan_serving.tradeoff import tradeoff  # noqa: PLC0415

        points = tradeoff(found)
        if points:
            save(tradeoff_picture(found, points), figure)
            click.echo(f"written: {figure}", err=True)
    if html is not None:
        from volvelle.report.plan_serving.page import serving_plan_page  # noqa: PLC0415 - only where it is written

        write_page(html, lambda command: serving_plan_page(found, command=command))
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text
        from volvelle.report.documents.plan_serving import ServingPlanDocument  # noqa: PLC0415

        click.echo(json_text("plan", ServingPlanDocument.model_validate(found)))
    else:
        from volvelle.report.plan_serving.text import print_serving_plan  # noqa: PLC0415 - not needed for JSON

        print_serving_plan(found, brief=brief)
    if not found.feasible:
        ctx.exit(1)
