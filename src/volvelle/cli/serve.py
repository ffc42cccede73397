"""``volvelle serve MODEL --on SYSTEM …``."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from volvelle.cli.options.shared import launch_options, together
from volvelle.cli.waiting import waiting
from volvelle.cli.words import BRIEF, EngineName, Lower, Output, Within
from volvelle.domains import (
    DEGREE,
    ENGINE_SEQUENCES,
    REQUEST_LENGTH,
    SEED,
    SERVED_BATCH,
    SERVED_REQUESTS,
    SHARE,
    STEP_BUDGET,
    STEP_INTERVAL,
    WAITED_STEPS,
)
from volvelle.errors import DescriptionError

_FOLLOWING = "following requests"
_asked = together(
    click.option("--batch", type=Within(SERVED_BATCH), help="Sequences that are given at once. [default: 1]"),
    click.option("--input", type=Within(REQUEST_LENGTH), help="Tokens of a prompt. [default: 1024]"),
    click.option("--output", type=Within(REQUEST_LENGTH), help="Tokens of an answer. [default: 128]"),
    click.option(
        "--load",
        metavar="LOAD",
        help="Requests in place of one batch: 'closed 64', 'poisson 12/s', 'gamma 12/s 0.5', 'ramp 1/s 20/s', "
        "'trace FILE ×1.5' or 'at once'.",
    ),
    click.option(
        "--lengths",
        help="Lengths of requests: around:0.2 (a fifth to either side), uniform:0.8 (from 0.8 of the length up to it) "
        "or fixed. [default: around:0.2]",
    ),
    click.option(
        "--requests",
        type=Within(SERVED_REQUESTS),
        help="Of the load. [default: 10 for each client, or until latencies settle]",
    ),
    click.option("--seed", default=0, type=Within(SEED), show_default=True, help="Seed of arrivals and lengths."),
)
_pools = together(
    click.option(
        "--prefill",
        metavar="POOL",
        help="Workers that compute prompts, like '2x tp4' or '1x dp8 ep8 on SYSTEM weights fp8'; "
        "degrees that are not named are 1.",
    ),
    click.option("--decode", metavar="POOL", help="Workers that decode, written the same way."),
    click.option(
        "--transfer",
        type=click.Choice(("after", "by-layer")),
        help="When a cache goes from one pool to the other. [default: after its prompt]",
    ),
    click.option(
        "--router",
        type=click.Choice(("round-robin", "least-loaded")),
        help="Which worker of a pool gets a request. [default: round-robin]",
    ),
)
_engine = together(
    click.option(
        "--engine",
        type=EngineName(),
        default="vllm",
        show_default=True,
        help="vllm, sglang or trtllm, or a file that volvelle calibrate serving saved.",
    ),
    click.option(
        "--weights", type=Lower(), help="Format of the weights. [default: the published checkpoint's, or bf16]"
    ),
    click.option("--kv", type=Lower(), default="bf16", show_default=True, help="Element type of the KV cache."),
    click.option("--tp", "tensor", type=Within(DEGREE), help="Tensor parallelism. [default: what a node has, up to 8]"),
    click.option("--pp", "pipeline", type=Within(DEGREE), default=1, show_default=True, help="Pipeline stages."),
    click.option(
        "--ep", "expert", type=Within(DEGREE), default=1, show_default=True, help="Groups that experts lie in."
    ),
    click.option(
        "--dp", "data", type=Within(DEGREE), default=1, show_default=True, help="Data-parallel attention ranks."
    ),
    click.option(
        "--max-batched-tokens",
        type=Within(STEP_BUDGET),
        help="Token budget of a step (SGLang: chunked-prefill-size). [default: the engine's]",
    ),
    click.option(
        "--max-seqs", type=Within(ENGINE_SEQUENCES), help="Sequences at once on a rank. [default: the engine's]"
    ),
    click.option(
        "--memory-share", type=Within(SHARE), help="Of memory that it may take, like 92%. [default: the engine's]"
    ),
    click.option(
        "--speculate",
        metavar="DRAFTS",
        help="Draft tokens and verify them: 'eagle 3', 'mtp 1', 'parallel 5', 'ngram 4', 'draft llama3-8b 4 tp1', "
        "'eagle 3 tree 4x2', 'eagle best'; then 'acceptance 0.8 decay 0.9' or 'curve FILE'.",
    ),
    click.option("--chunked-prefill", is_flag=True, default=None, help="Let TensorRT-LLM cut prompts."),
    click.option(
        "--receive-interval", type=Within(STEP_INTERVAL), help="Steps from one look for requests to the next (SGLang)."
    ),
    click.option(
        "--batch-wait", type=Within(WAITED_STEPS), help="Steps that prompts wait for a fuller one (TensorRT-LLM)."
    ),
    click.option(
        "--batch-wait-ratio", type=Within(SHARE), help="Part of the token budget that ends that wait, like 80%."
    ),
    click.option("--stream-interval", type=Within(STEP_INTERVAL), help="Tokens of an answer sent at a time."),
    click.option(
        "--prefix-caching/--no-prefix-caching",
        default=None,
        help="Keep beginnings that prompts of a trace share, as engines do by default.",
    ),
)
_written = together(
    click.option(
        "--timeline",
        type=Output(),
        metavar="FILE",
        help="Write the followed load as a trace for ui.perfetto.dev; compressed where FILE ends in .gz.",
    ),
    launch_options,
)


@click.command(short_help="How fast a model is served, alone or under load.")
@click.argument("model")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/8.")
@_asked
@_pools
@_engine
@_written
@click.option("--catalogue", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON (see: volvelle schema serve).")
@click.pass_context
def serve(ctx: click.Context, /, *, model: str, brief: bool, as_json: bool, **question: Any) -> None:
    """How fast MODEL is served by an engine, what fits, where the time goes, and what a token costs.

    With --batch, so many sequences are given at once; with --load, requests come as it says, and the answer has what
    vllm bench serve measures. With --prefill and --decode, prompts are computed by one pool of workers and answers
    decoded by another, and --tp, --pp, --ep and --dp are said of each pool. MODEL is a name from the catalogue
    (volvelle catalogue models), or a Hugging Face config.json.
    """
    from volvelle.verbs.serving.serve import serve as verb  # noqa: PLC0415 - keeps completion of options short

    split = {name: question.pop(name) for name in ("prefill", "decode", "transfer", "router")}
    if any(value is not None for value in split.values()):
        _serve_split(ctx, model, question, split, brief=brief, as_json=as_json)
        return
    with nullcontext() if question["load"] is None else waiting(_FOLLOWING):
        answer = verb(model, **question)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("serve", answer))
    else:
        from volvelle.report.serving.text import print_serving  # noqa: PLC0415 - not needed for JSON

        print_serving(answer, brief=brief)
    if not answer.feasible:
        ctx.exit(1)


def _serve_split(
    ctx: click.Context, model: str, question: dict[str, Any], split: dict[str, Any], *, brief: bool, as_json: bool
) -> None:
    """The same by two pools."""
    from volvelle.verbs.serving.split import OF_ONE_ENGINE, check_split, serve_split  # noqa: PLC0415 - slow

    said = ctx.get_parameter_source
    check_split({**question, **split})
    for name, flag in (("tensor", "--tp"), ("pipeline", "--pp"), ("expert", "--ep"), ("data", "--dp")):
        if said(name) not in (None, ParameterSource.DEFAULT):
            raise DescriptionError(f"{flag} is said of each pool: write it in --prefill and --decode, like '2x tp4'")
        question.pop(name)
    for name in ("batch", *OF_ONE_ENGINE):
        question.pop(name)
    with waiting(_FOLLOWING):
        answer = serve_split(model, **question, **{name: value for name, value in split.items() if value is not None})
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text
        from volvelle.report.documents.serve_split import ServeSplitDocument  # noqa: PLC0415 - not needed for text

        click.echo(json_text("serve", ServeSplitDocument.model_validate(answer)))
    else:
        from volvelle.report.serving.split_text import print_split  # noqa: PLC0415 - not needed for JSON

        print_split(answer, brief=brief)
    if not answer.feasible:
        ctx.exit(1)
