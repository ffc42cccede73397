"""Published memory and parameter counts of fine-tuning runs, each beside ours."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import volvelle
from tests.conftest import ROOT
from volvelle.quantities import BYTES, parse, show

_FOLDER = ROOT / "tests" / "data" / "fine_tuning"
_BASES = {"lora": "bf16", "qlora": "nf4", "qlora-int8": "int8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMemory:
    """One published amount, with ours of the same run."""

    row: str
    kind: str
    """``measured``: allocated at the peak; ``reserved``: with what the allocator keeps besides; ``requirement``: what
    is recommended."""
    published: float
    ours: float
    tokens_per_second: float | None
    our_tokens_per_second: float
    source: str
    note: str

    @property
    def error(self) -> float:
        """Of ours, relative to what is published."""
        return self.ours / self.published - 1.0


def rows(name: str) -> list[dict[str, str]]:
    """Rows of one of the files."""
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def published_memory() -> list[PublishedMemory]:
    """All rows, worst first."""
    return sorted(map(_compared, rows("memory")), key=lambda one: -abs(one.error))


def _compared(row: Mapping[str, str]) -> PublishedMemory:
    chips, size = int(row["chips"]), int(row["micro_batch"])
    answer = volvelle.estimate(
        row["model"],
        on=f"dgx-a100/{chips}",
        batch=size * chips,
        sequence=int(row["sequence"]),
        micro_batch=size,
        zero=int(row["zero"]),
        recompute=volvelle.Recompute[row["recompute"].upper()],
        offload_activations=row["offload"] == "activations",
        lora=int(row["rank"]),
        lora_targets=row["targets"],
        base=_BASES[row["method"]],
        optimizer=row["optimizer"],
        master=row["master"],
        moments=row["moments"],
        gradients=row["gradients"],
    )
    return PublishedMemory(
        row=row["row"],
        kind=row["kind"],
        published=parse(row["memory"], BYTES),
        ours=answer.estimate.memory_bytes,
        tokens_per_second=float(row["tokens_per_second"]) if row["tokens_per_second"] else None,
        our_tokens_per_second=answer.estimate.tokens_per_second,
        source=row["source"],
        note=row["note"],
    )


def published_parameters() -> Iterator[tuple[str, int, int, int | None, int]]:
    """What it is, then trainable parameters published and ours, and all parameters published and ours."""
    for row in rows("parameters"):
        answer = volvelle.estimate(
            row["model"], on="dgx-a100/8", batch=8, lora=int(row["rank"]), lora_targets=row["targets"]
        )
        yield (
            f"{row['model']} rank {row['rank']} on {row['targets']}",
            int(row["trainable"]),
            answer.trained.trainable_parameters,
            int(row["all"]) if row["all"] else None,
            answer.parameters,
        )


def table_of_memory() -> str:
    """Published and ours in a Markdown table, worst first."""
    lines = ["| run | published | ours | off | what was read | source |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [
        f"| {one.row} | {show(one.published, BYTES)} | {show(one.ours, BYTES)} | {one.error:+.1%} | "
        f"{one.kind}: {one.note} | {one.source} |"
        for one in published_memory()
    ]
    return "\n".join(lines) + "\n"
