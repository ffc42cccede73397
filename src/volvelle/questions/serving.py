"""Options about serving that several questions share, and the question of ``volvelle serve``."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from volvelle.base.option_kinds import InWords, Listed, Named, Number, OutputFile, Switch, Text, Words
from volvelle.base.question import Option, Question, option
from volvelle.domains import (
    DEGREE,
    ENGINE_SEQUENCES,
    NO_DEGREE,
    REQUEST_LENGTH,
    SERVED_BATCH,
    SERVED_REQUESTS,
    SHARE,
    SPARES,
    STEP_BUDGET,
    STEP_INTERVAL,
    WAIT,
    WAITED_STEPS,
)
from volvelle.questions.layout import LAYOUT
from volvelle.questions.machine import CATALOGUE, PROGRESS, RANDOM_SEED, SYSTEM
from volvelle.questions.shared import CHECK, EMIT, TIMELINE, TOP, WORKERS
from volvelle.questions.training import BATCH, DOCUMENT_LENGTHS, MODEL

if TYPE_CHECKING:
    from volvelle.interchange.speculation_words import Drafter
    from volvelle.questions.machine import Folder
    from volvelle.system.cluster import Cluster
    from volvelle.workload.families.shape import Transformer
    from volvelle.workload.serving.lengths import RequestLengths
    from volvelle.workload.serving.limits import LatencyLimit
    from volvelle.workload.serving.loads import Load

Transfer = Literal["after", "by-layer"]
TRANSFERS: tuple[Transfer, ...] = ("after", "by-layer")
"""A KV cache is sent after its prompt is computed, or layer by layer while the prompt is computed."""
Router = Literal["round-robin", "least-loaded"]
ROUTERS: tuple[Router, ...] = ("round-robin", "least-loaded")
_SEVERAL = Listed(Text(lower=True))
_DEGREES = Listed(Number(DEGREE))

LOAD = Option(
    "--load",
    "Requests: 'closed 64', 'poisson 12/s', 'gamma 12/s 0.5', 'ramp 1/s 20/s', 'trace FILE ×1.5', 'at once'.",
    kind=InWords("a load", ("Load",)),
    group="Requests",
    metavar="LOAD",
)
LIMITS = Option(
    "--slo",
    "Limits of all requests, like 'p99 ttft 2 s, p95 tpot 50 ms': p50 to p99.9 or mean of ttft, tpot, itl, e2el; "
    "or 'p99 tps 20'.",
    kind=InWords("limits", ("LatencyLimit",), several=True),
    group="Requests",
    metavar="LIMITS",
)
INPUT_TOKENS = Option("--input", "Tokens per prompt.", kind=Number(REQUEST_LENGTH), group="Requests", usually="1024")
OUTPUT_TOKENS = Option("--output", "Tokens per answer.", kind=Number(REQUEST_LENGTH), group="Requests", usually="128")
LENGTHS = replace(
    DOCUMENT_LENGTHS,
    help="Spread of request lengths: around:0.2 (a fifth to either side), uniform:0.8 (0.8 to 1 times), or fixed.",
    kind=InWords("lengths", ("RequestLengths",)),
    group="Requests",
    usually="around:0.2",
    metavar="",
)
REQUESTS = Option("--requests", "Number of requests in the load.", kind=Number(SERVED_REQUESTS), group="Requests")
ENGINE = Option(
    "--engine",
    "Serving engine: vllm, sglang or trtllm, or a file from volvelle calibrate serving.",
    kind=Text(lower=True),
    group="Engine",
)
WEIGHTS = Option(
    "--weights",
    "Format of the weights, like bf16, fp8 or nvfp4.",
    kind=Text(lower=True),
    group="Engine",
    usually="the published checkpoint's, or bf16",
)
CACHE = Option("--kv", "Element type of the KV cache.", kind=Text(lower=True), group="Engine")
TOKEN_BUDGET = Option(
    "--max-batched-tokens",
    "Token budget of a step (SGLang: chunked-prefill-size).",
    kind=Number(STEP_BUDGET),
    group="Engine",
    usually="the engine's",
)
MAX_SEQUENCES = Option(
    "--max-seqs",
    "Most sequences at once per rank.",
    kind=Number(ENGINE_SEQUENCES),
    group="Engine",
    usually="the engine's",
)
MEMORY_SHARE = Option(
    "--memory-share",
    "Share of GPU memory that the engine may use, like 92%.",
    kind=Number(SHARE),
    group="Engine",
    usually="the engine's",
)
CHUNKED_PREFILL = Option(
    "--chunked-prefill", "Let TensorRT-LLM split prompts into chunks.", kind=Switch(), group="Engine"
)
SPECULATE = Option(
    "--speculate",
    "Speculative decoding: 'eagle 3', 'mtp 1', 'parallel 5', 'ngram 4', 'draft llama3-8b 4 tp1', "
    "'eagle 3 tree 4x2' or 'eagle best'; then 'acceptance 0.8 decay 0.9' or 'curve FILE'.",
    kind=InWords("a drafter", ("Drafter",)),
    group="Engine",
    metavar="DRAFTS",
)
LAUNCH_FILES = replace(
    EMIT,
    help="Print launch files: vllm, sglang, trtllm or dynamo, or one at a version, like vllm@0.19.0.",
    group="Files",
    metavar="TARGET",
)
INTO = Option("--into", "Write the launch files into a folder.", kind=OutputFile(folder=True), group="Files")
CHECKPOINT = Option(
    "--checkpoint",
    "Checkpoint that the engine loads.",
    group="Files",
    usually="the model's, on the hub",
    metavar="NAME",
)
TENSOR, PIPELINE, EXPERT, REPLICA = (LAYOUT[name] for name in ("tensor", "pipeline", "expert", "data"))


class RequestFields(Question):
    """Requests of one length, or a load of them."""

    input: int | None = option(INPUT_TOKENS, default=None)
    output: int | None = option(OUTPUT_TOKENS, default=None)
    load: "str | Load | None" = option(LOAD, default=None)
    lengths: "str | RequestLengths | None" = option(LENGTHS, default=None)
    requests: int | None = option(REQUESTS, default=None, usually="10 for each client, or until latencies settle")
    seed: int = option(RANDOM_SEED, default=0)


class EngineFields(Question):
    """An engine, and the settings that one engine and pools have in common."""

    engine: str = option(ENGINE, default="vllm")
    weights: str | None = option(WEIGHTS, default=None)
    kv: str = option(CACHE, default="bf16")
    max_batched_tokens: int | None = option(TOKEN_BUDGET, default=None)
    max_seqs: int | None = option(MAX_SEQUENCES, default=None)
    memory_share: str | float | None = option(MEMORY_SHARE, default=None)
    chunked_prefill: bool | None = option(CHUNKED_PREFILL, default=None)


class InstanceFields(RequestFields, EngineFields):
    """One engine with its layout, and what it is asked to serve."""

    batch: int | None = option(
        BATCH,
        default=None,
        help="Sequences that start at once.",
        kind=Number(SERVED_BATCH),
        group="Requests",
        usually="1",
    )
    tensor: int | None = option(
        TENSOR, default=None, help="Tensor parallelism (TP).", usually="the GPUs of a node, up to 8"
    )
    pipeline: int = option(PIPELINE, default=1, help="Pipeline stages (PP).")
    expert: int = option(EXPERT, default=1, help="Expert parallelism (EP): groups of GPUs that share the experts.")
    data: int = option(REPLICA, default=1, help="Data-parallel attention ranks (DP).")
    receive_interval: int | None = option(
        Option(
            "--receive-interval",
            "Steps between two looks for new requests (SGLang).",
            kind=Number(STEP_INTERVAL),
            group="Engine",
        ),
        default=None,
    )
    batch_wait: int | None = option(
        Option(
            "--batch-wait",
            "Steps that prompts wait for a fuller batch (TensorRT-LLM).",
            kind=Number(WAITED_STEPS),
            group="Engine",
        ),
        default=None,
    )
    batch_wait_ratio: str | float | None = option(
        Option(
            "--batch-wait-ratio",
            "Share of the token budget that ends the wait, like 80%.",
            kind=Number(SHARE),
            group="Engine",
        ),
        default=None,
    )
    stream_interval: int | None = option(
        Option("--stream-interval", "Tokens that are sent at a time.", kind=Number(STEP_INTERVAL), group="Engine"),
        default=None,
    )
    prefix_caching: bool | None = option(
        Option(
            "--prefix-caching",
            "Keep the KV cache of prefixes that prompts of a trace share.",
            kind=Switch(),
            group="Engine",
            opposite=True,
            usually="on, as in engines",
        ),
        default=None,
    )
    speculate: "str | Drafter | None" = option(SPECULATE, default=None)
    if TYPE_CHECKING:  # the names of the command, which are turned into names of fields before a question is made
        tp: int | None = None
        pp: int = 1
        ep: int = 1
        dp: int = 1


class LaunchFields(Question):
    """Files that launch an engine."""

    emit: str | None = option(LAUNCH_FILES, default=None)
    into: Path | str | None = option(INTO, default=None)
    checkpoint: str | None = option(CHECKPOINT, default=None)


PREFILL = Option(
    "--prefill",
    "Workers that compute prompts, like '2x tp4' or '1x dp8 ep8 on SYSTEM weights fp8'.",
    group="Pools",
    metavar="POOL",
)
DECODE = Option("--decode", "Workers that decode, written like --prefill.", group="Pools", metavar="POOL")
TRANSFER = Option(
    "--transfer",
    "When a KV cache moves between pools: after its prompt, or layer by layer.",
    kind=Words(TRANSFERS),
    group="Pools",
)
ROUTER = Option("--router", "How requests are assigned to workers of a pool.", kind=Words(ROUTERS), group="Pools")


class PoolFields(Question):
    """Two pools of workers: one computes prompts, the other decodes."""

    prefill: str | None = option(PREFILL, default=None)
    decode: str | None = option(DECODE, default=None)
    transfer: Transfer | None = option(TRANSFER, default=None, usually="after")
    router: Router | None = option(ROUTER, default=None, usually="round-robin")


class ServeQuestion(InstanceFields, LaunchFields, PoolFields):
    """Estimate how fast MODEL is served by an engine, what fits, where the time goes, and what a token costs.

    With --batch, that many sequences start at once. With --load, requests arrive over time, and the answer has the
    figures that vllm bench serve measures. With --prefill and --decode, one pool of workers computes prompts and
    another decodes; each pool then states its own layout.
    """

    subcommand = "serve"
    summary = "How fast a model is served, as a batch or under load: latency, throughput, memory, cost."
    examples = (
        "llama3-70b --on dgx-h100/8 --load 'poisson 4/s' --input 1024 --output 256",
        "llama3-8b --on dgx-h100/1 --batch 16 --tp 1 --weights fp8",
    )

    model: "Transformer | Path | str" = option(MODEL, kw_only=False)
    on: "Cluster | str" = option(SYSTEM, help="Machine and number of GPUs, like dgx-h100/8.")
    timeline: Path | str | None = option(
        TIMELINE,
        default=None,
        help="Write the simulated load for ui.perfetto.dev; compressed if FILE ends in .gz.",
    )
    catalogue: "Folder" = option(CATALOGUE, default=None)

    @property
    def splits(self) -> bool:
        """Whether something about two pools is stated."""
        return any(getattr(self, part.name) is not None for part in PoolFields.options())


if TYPE_CHECKING:  # which answer `serve` gives, for type checkers

    class LoadServeQuestion(ServeQuestion):
        """The question about a load."""

        load: "str | Load" = option(LOAD)

    class BatchServeQuestion(ServeQuestion):
        """The question about one batch."""

        load: None = option(LOAD, default=None)
else:
    LoadServeQuestion = BatchServeQuestion = ServeQuestion


class SplitServeQuestion(RequestFields, EngineFields):
    """Estimate how fast a model is served by a pool that computes prompts and a pool that decodes."""

    subcommand = "serve"
    summary = "How fast a model is served by two pools."

    model: "Transformer | Path | str" = option(MODEL, kw_only=False)
    on: "Cluster | str" = option(SYSTEM)
    prefill: str = option(PREFILL)
    decode: str = option(DECODE)
    load: "str | Load" = option(LOAD)
    transfer: Transfer = option(TRANSFER, default="after")
    router: Router = option(ROUTER, default="round-robin")
    catalogue: "Folder" = option(CATALOGUE, default=None)


PURPOSES = ("dollars", "chips", "watts")


class PlanServingQuestion(Question):
    """Find the cheapest way to serve MODEL under a load within limits: GPUs, layout, formats and settings.

    Every layout on the machines of --on, every format and every engine setting is a candidate. For each candidate, a
    simulation finds the largest part of the load that one rank serves within the limits, unless a closed form rules the
    candidate out. The cheapest machine that serves the whole load comes first; goodput decides between equals.
    """

    subcommand = "plan"
    summary = "The cheapest way to serve a load within limits."
    examples = (
        "llama3-70b --serve --on dgx-h100/64 --load 'poisson 20/s' --slo 'p99 ttft 2 s, p95 tpot 50 ms'",
        "llama3-8b --serve --on dgx-h100/8,dgx-b200/8 --load 'closed 64' --slo 'p95 e2el 10 s' --for watts",
    )

    model: "Transformer | Path | str" = option(MODEL, kw_only=False)
    serve: bool = option(
        Option("--serve", "Plan for serving instead of training.", kind=Switch(), group="Work"), default=True
    )
    on: "Cluster | str | Sequence[Cluster | str]" = option(
        SYSTEM, several=True, help="Largest machine to use, like dgx-h100/64. May be given several times."
    )
    load: "str | Load" = option(LOAD)
    slo: "str | LatencyLimit | Sequence[LatencyLimit]" = option(LIMITS)
    input: int | None = option(INPUT_TOKENS, default=None)
    output: int | None = option(OUTPUT_TOKENS, default=None)
    lengths: "str | RequestLengths | None" = option(LENGTHS, default=None)
    requests: int | None = option(REQUESTS, default=None, usually="2000 for each rank")
    seed: int = option(RANDOM_SEED, default=0)
    purpose: str = option(
        Option("--for", "Quantity to minimise.", kind=Words(PURPOSES), group="Search"), default="dollars"
    )
    engine: str | Sequence[str] = option(
        ENGINE, default=("vllm",), kind=_SEVERAL, help="Engines to consider: vllm, sglang, trtllm."
    )
    weights: str | Sequence[str] = option(
        WEIGHTS,
        default=(),
        kind=_SEVERAL,
        help="Formats of the weights to consider.",
        usually="the published checkpoint's, or bf16,fp8",
    )
    kv: str | Sequence[str] = option(
        CACHE, default=(), kind=_SEVERAL, help="Element types of the KV cache to consider.", usually="bf16,fp8"
    )
    tensor: int | Sequence[int] = option(
        TENSOR, default=(), kind=_DEGREES, help="Tensor parallelism (TP) to consider.", usually="all of a node"
    )
    pipeline: int | Sequence[int] = option(
        PIPELINE, default=(), kind=_DEGREES, help="Pipeline stages (PP) to consider.", usually="1 to 16"
    )
    expert: int | Sequence[int] = option(
        EXPERT, default=(), kind=_DEGREES, help="Expert parallelism (EP) to consider.", usually="all that divide"
    )
    data: int | Sequence[int] = option(
        REPLICA,
        default=(),
        kind=_DEGREES,
        help="Data-parallel attention ranks (DP) to consider.",
        usually="all with experts, else 1",
    )
    max_batched_tokens: int | Sequence[int] = option(
        TOKEN_BUDGET,
        default=(),
        kind=Listed(Number(STEP_BUDGET)),
        help="Token budgets of a step to consider.",
        usually="the engine's, 2k–16k",
    )
    max_seqs: int | Sequence[int] = option(
        MAX_SEQUENCES,
        default=(),
        kind=Listed(Number(ENGINE_SEQUENCES)),
        help="Most sequences at once to consider.",
        usually="the engine's, 32–512",
    )
    memory_share: str | float | None = option(MEMORY_SHARE, default=None)
    chunked_prefill: bool | None = option(CHUNKED_PREFILL, default=None)
    speculate: "str | Drafter | Sequence[str | Drafter]" = option(
        SPECULATE, default=(), several=True, help="Speculative decoding to consider, as in volvelle serve. Repeatable."
    )
    split: bool = option(
        Option("--split", "Also consider separate prefill and decode pools.", kind=Switch(), group="Search"),
        default=False,
    )
    top: int = option(TOP, default=5)
    keep: Path | str | None = option(
        Option(
            "--keep",
            "Keep trials in a folder; the same command continues there.",
            kind=OutputFile(folder=True),
            group="Files",
        ),
        default=None,
    )
    emit: str | None = option(LAUNCH_FILES, default=None)
    into: Path | str | None = option(INTO, default=None)
    checkpoint: str | None = option(CHECKPOINT, default=None)
    workers: int | None = option(WORKERS, default=None, usually="all cores for large searches")
    catalogue: "Folder" = option(CATALOGUE, default=None)
    progress: Callable[[int, int, str], None] | None = option(PROGRESS, default=None)

    def typed(self, *, without: Collection[str] = ()) -> list[str]:
        """Return the words of the command, with ``--serve`` behind the model."""
        command, verb, *rest = super().typed(without=(*without, "serve"))
        return [command, verb, *rest[:1], "--serve", *rest[1:]]

    if TYPE_CHECKING:  # the names of the command, which are turned into names of fields before a question is made
        tp: int | Sequence[int] = ()
        pp: int | Sequence[int] = ()
        ep: int | Sequence[int] = ()
        dp: int | Sequence[int] = ()


class FleetQuestion(Question):
    """Size the GPUs that serve a load of hours or days within limits, hour by hour, and their cost.

    FILE is a YAML file that describes a fleet: machines, services with their models, limits and loads, and how the
    fleet is scaled. A single MODEL needs no file: give --on, --load and --slo.
    """

    subcommand = "fleet"
    summary = "How many GPUs serve a load of days within limits, hour by hour, and for what money."
    examples = (
        "llama3-70b --on dgx-h100 --load 'poisson 40/s' --slo 'p99 ttft 2 s, p95 tpot 50 ms'",
        "examples/fleets/chat-and-summaries.yaml --brief",
    )

    model: "Transformer | Mapping[str, object] | Path | str" = option(
        MODEL,
        kw_only=False,
        kind=Named("text, a path, a Transformer or a mapping", ("Transformer", "Mapping"), file=True),
        help="Model, or a YAML file that describes a fleet.",
        metavar="FILE|MODEL",
    )
    on: str | Sequence[str] = option(
        SYSTEM,
        default=(),
        several=True,
        kind=Text(),
        help="Machine, like dgx-h100, or dgx-h100/64 for a fixed number of GPUs.",
    )
    load: "str | Load | None" = option(
        LOAD, default=None, help="Requests: 'trace FILE ×1.5', 'poisson 12/s' or 'gamma 12/s 0.5'."
    )
    slo: "str | LatencyLimit | Sequence[LatencyLimit] | None" = option(
        LIMITS, default=None, help="Limits to keep, like 'p99 ttft 2 s, p95 tpot 50 ms'."
    )
    input: int | None = option(INPUT_TOKENS, default=None)
    output: int | None = option(OUTPUT_TOKENS, default=None)
    lengths: "str | RequestLengths | None" = option(LENGTHS, default=None)
    engine: str | None = option(ENGINE, default=None, usually="vllm", help="Serving engine: vllm, sglang or trtllm.")
    weights: str | None = option(WEIGHTS, default=None)
    kv: str | None = option(CACHE, default=None, usually="bf16")
    tensor: int | None = option(
        TENSOR, default=None, help="Tensor parallelism (TP).", usually="the cheapest within a node"
    )
    pipeline: int | None = option(PIPELINE, default=None, help="Pipeline stages (PP).", usually="1")
    expert: int | None = option(EXPERT, default=None, help="Expert parallelism (EP).", usually="1")
    data: int | None = option(REPLICA, default=None, help="Data-parallel attention ranks (DP).", usually="1")
    max_batched_tokens: int | None = option(TOKEN_BUDGET, default=None)
    max_seqs: int | None = option(MAX_SEQUENCES, default=None)
    memory_share: str | float | None = option(MEMORY_SHARE, default=None)
    chunked_prefill: bool | None = option(CHUNKED_PREFILL, default=None)
    scaling: str | None = option(
        Option(
            "--scaling",
            "Autoscaling: reactive, ahead or fixed.",
            kind=Text(lower=True),
            group="Search",
            usually="reactive",
        ),
        default=None,
    )
    target: str | float | None = option(
        Option("--target", "Share of a replica's capacity to use.", kind=Number(SHARE), group="Search", usually="80%"),
        default=None,
    )
    look_back: str | float | None = option(
        Option("--look-back", "Time over which rates are taken.", kind=Number(WAIT), group="Search", usually="5 min"),
        default=None,
    )
    cool_down: str | float | None = option(
        Option("--cool-down", "Time before replicas are removed.", kind=Number(WAIT), group="Search", usually="10 min"),
        default=None,
    )
    least: int | None = option(
        Option("--least", "Fewest replicas at any time.", kind=Number(NO_DEGREE), group="Search", usually="1"),
        default=None,
    )
    cold_start: str | float | None = option(
        Option(
            "--cold-start",
            "Start-up time of a replica.",
            kind=Number(WAIT),
            group="Search",
            usually="weights at 2 GB/s, then 60 s",
        ),
        default=None,
    )
    spare: int | None = option(
        Option("--spare", "Replicas that may fail (N + k).", kind=Number(SPARES), group="Search", usually="0"),
        default=None,
    )
    pay: str | None = option(
        Option(
            "--pay",
            "Choose machines by cost: rented or owned.",
            kind=Text(lower=True),
            group="Money and energy",
            usually="rented, where a price is known",
        ),
        default=None,
    )
    check: str | None = option(
        CHECK,
        default=None,
        help="Hours to simulate request by request: busiest, every or none.",
        kind=Text(lower=True),
        usually="busiest",
    )
    seed: int | None = option(RANDOM_SEED, default=None, usually="0")
    catalogue: "Folder" = option(CATALOGUE, default=None)
    progress: Callable[[str], None] | None = option(PROGRESS, default=None)
    if TYPE_CHECKING:  # the names of the command, which are turned into names of fields before a question is made
        tp: int | None = None
        pp: int | None = None
        ep: int | None = None
        dp: int | None = None
