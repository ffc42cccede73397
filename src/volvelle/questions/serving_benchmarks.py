"""Questions of ``volvelle calibrate serving``: fit a serving engine to published rows, or to your own benchmarks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from volvelle.base.option_kinds import InputFile
from volvelle.base.question import Option, Question, option
from volvelle.questions.applications import OWN_MODEL, SAVE, CalibrateQuestion
from volvelle.questions.machine import CATALOGUE, PROGRESS, SYSTEM
from volvelle.questions.serving import (
    CACHE,
    ENGINE,
    EXPERT,
    MAX_SEQUENCES,
    MEMORY_SHARE,
    PIPELINE,
    REPLICA,
    TENSOR,
    TOKEN_BUDGET,
    WEIGHTS,
)

if TYPE_CHECKING:
    from volvelle.questions.machine import Folder
    from volvelle.system.cluster import Cluster

_FROM_FILES = "as files state"
_RESULTS = Option(
    "--bench",
    "Result of your own vllm bench serve, sglang.bench_serving or AIPerf. May be given several times.",
    kind=InputFile(),
    group="Files",
    several=True,
    metavar="RESULT.json",
)
_MACHINE = "Machine of your benchmark, like dgx-h100/8."


class BenchmarkedServer(Question):
    """The server that was benchmarked, as far as files of results do not describe it."""

    model: str | None = option(OWN_MODEL, default=None, usually=_FROM_FILES)
    engine: str | None = option(ENGINE, default=None, usually=f"{_FROM_FILES}, or vllm")
    version: str | None = option(
        Option("--version", "Version of the engine.", group="Engine"), default=None, usually=_FROM_FILES
    )
    weights: str | None = option(WEIGHTS, default=None, usually=f"{_FROM_FILES}, or bf16")
    kv: str | None = option(CACHE, default=None, usually=f"{_FROM_FILES}, or bf16")
    tensor: int | None = option(TENSOR, default=None, usually=_FROM_FILES)
    pipeline: int | None = option(PIPELINE, default=None, usually=f"{_FROM_FILES}, or 1")
    expert: int | None = option(EXPERT, default=None, usually=f"{_FROM_FILES}, or 1")
    ranks: int | None = option(
        REPLICA,
        help="Data-parallel attention ranks (DP).",
        default=None,
        usually=f"{_FROM_FILES}, or 1",
        also=("data",),
    )
    max_batched_tokens: int | None = option(TOKEN_BUDGET, default=None, usually=_FROM_FILES)
    max_seqs: int | None = option(MAX_SEQUENCES, default=None, usually=_FROM_FILES)
    memory_share: str | float | None = option(MEMORY_SHARE, default=None, usually=_FROM_FILES)
    save: Path | str | None = option(SAVE, help="Write the fitted engine, for serve --engine.", default=None)


class BenchmarkQuestion(BenchmarkedServer):
    """Fit the constants of a serving engine to results of your own benchmark, and to nothing else."""

    subcommand = "calibrate serving"
    summary = "Constants of a serving engine from your own benchmark."

    bench: Sequence[Path | str] = option(_RESULTS, kw_only=False)
    on: "Cluster | str" = option(SYSTEM, help=_MACHINE)
    catalogue: "Folder" = option(CATALOGUE, flag="", configured="", default=None)
    told: Callable[[str], None] | None = option(PROGRESS, default=None)


class CalibrateServing(BenchmarkedServer, CalibrateQuestion):
    """Options of a fit of serving, to published rows or with --bench to runs of your own."""

    examples = ("", "--bench examples/benchmarks/clients-16.json --on dgx-h100/1 --save mine.yaml")

    bench: Sequence[Path | str] = option(_RESULTS, default=())
    more: Sequence[Path | str] = option(
        Option("RESULT.json", "More results, after --bench.", kind=InputFile(), several=True), default=()
    )
    on: "Cluster | str | None" = option(SYSTEM, help=_MACHINE, configured="", default=None)

    @property
    def own(self) -> tuple[str, ...]:
        """The flags that are given of options that describe your own benchmark."""
        shared = {part.name for part in CalibrateQuestion.options()}
        return tuple(part.flag for part, _ in self.given() if part.name not in shared)
