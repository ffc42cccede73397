"""Reads measured training runs: those that ship with the package, or a file of one's own.

Two sets of columns are understood and told apart by the header: that of ``llm_training.csv`` and the shorter one of
``llm_training_vtrain_single_node.csv``. What every column means is said in ``data/measurements/README.md``.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from volvelle.applications.measured_table import MeasuredTable, RowHead, joined, read_columns
from volvelle.applications.table_cells import column, table_text
from volvelle.errors import DescriptionError
from volvelle.mapping.parallelism import Recompute

_SHORT_GROUP = "vtrain-single"
COMPUTED = frozenset({_SHORT_GROUP})
"""Groups whose times are sums of profiled kernels, whatever their source says (``data/measurements/README.md``)."""
_ALL_BUT_PRODUCTS = "torchtitan"
"""Software by whose selective recomputation all is made again but attention and every second product."""
_PRODUCTS_ALONE = "minimal"
"""MaxText's word for keeping what products of weights make, and making all else again; here its attention is kept."""
_WHOLE_BLOCKS = "fms-fsdp"
"""Software by whose selective recomputation some blocks are made again whole: it does not say how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMeasurement:
    """One measured training configuration, as its source states it; what is not stated is None or empty."""

    head: RowHead
    model: str = ""
    architecture: str = column("arch", default="")
    layers: int | None = column("n_layers", needed=True)
    hidden: int | None = column("hidden", needed=True)
    heads: int | None = column("n_heads", needed=True)
    kv_heads: int | None = column("n_kv_heads")
    head_dim: int | None = None
    ffn: int | None = column("ffn_hidden")
    gated: bool | None = column("glu")
    vocabulary: int | None = column("vocab", "vocab_assumed")
    sequence: int | None = column("seq_len", needed=True)
    billion_parameters: float | None = column("params_b")
    experts: int | None = column("n_experts")
    chosen_experts: int | None = column("top_k")
    accelerator: str = column("accel", default="", needed=True)
    chips: int | None = column("n_accel", needed=True)
    chips_per_node: int | None = column("accel_per_node")
    network: str = column("scaleout", default="")
    """The network between nodes, in words."""
    framework: str = ""
    precision: str = ""
    tensor: int | None = column("TP", needed=True)
    pipeline: int | None = column("PP", needed=True)
    interleave: int | None = column("VPP")
    data: int | None = column("DP", needed=True)
    context: int | None = column("CP")
    expert: int | None = column("EP")
    sequence_parallel: str = column("SP", default="")
    sharding: str = column("zero_fsdp", default="")
    """ZeRO or FSDP, in words."""
    micro_batch: int | None = column("micro_batch", needed=True)
    global_batch: int | None = column("global_batch", needed=True)
    accumulation: int | None = column("grad_accum")
    """Micro-batches a replica works on in a step."""
    recompute: str = ""
    step_time: float | None = column("step_time_s", measured=True)
    """Seconds a step, as stated."""
    tokens_per_second_per_chip: float | None = column("tokens_per_s_per_accel", measured=True)

    @property
    def mixture(self) -> bool:
        """Whether the source calls the model a mixture of experts."""
        return self.architecture == "moe"

    @property
    def seconds(self) -> float | None:
        """Seconds a step: as stated, or from tokens per second. Printed FLOP/s are not read: conventions differ."""
        if self.step_time is not None:
            return self.step_time
        if None in (self.tokens_per_second_per_chip, self.global_batch, self.sequence, self.chips):
            return None
        tokens = cast(int, self.global_batch) * cast(int, self.sequence)
        return tokens / (cast(float, self.tokens_per_second_per_chip) * cast(int, self.chips))

    @property
    def ulysses(self) -> int | None:
        """Chips that share a sequence by all-to-alls, where the source says so."""
        found = re.search(r"ulysses sp(\d+)", self.sequence_parallel.lower())
        return int(found[1]) if found else None

    @property
    def stated_network(self) -> tuple[str, float] | None:
        """Kind of network and bytes per second a chip, read from words like "8x HDR200 IB per node"."""
        text = self.network.lower().rpartition("compute:")[2]
        text = re.sub(r"(connectx|slingshot|quantum|bluefield|cx)[- ]?\d+", "", text)
        found: tuple[str, float] | None = None
        for part in re.split(r"[,;]", text):
            rate = re.search(r"(?:(\d+)\s*x\s*)?(?:[^\d]*?)(\d{2,4})\s*(?:gb|ib|$|\s)", part)
            if rate is None or "pcie" in part:
                continue
            kind = "omni-path" if "omni" in part else "roce" if re.search(r"roce|ethernet", part) else "infiniband"
            sharing = 1 if "per gpu" in part else self.chips_per_node or 8
            each = float(rate[2]) * int(rate[1] or 1) * 1e9 / 8.0 / sharing
            if found is None or each > found[1]:
                found = kind, each
        return found

    @property
    def stated_element(self) -> tuple[str, bool]:
        """Element type of matrix products, and whether the source is sure of it; bf16 where it states none."""
        text = self.precision.lower()
        sure = bool(text) and "?" not in text and "recipe" not in text
        return next(
            (name for name in ("fp4", "int8", "fp8") if name in text), "fp16" if text == "fp16" else "bf16"
        ), sure

    @property
    def stated_recompute(self) -> tuple[Recompute, bool]:
        """What is recomputed, and whether the source is sure of it; nothing where it states nothing."""
        text = self.recompute.lower()
        if text in ("none", "0", "false", "no"):
            return Recompute.NONE, True
        if not text or text.startswith(("unknown", "recipe", "none")):
            return Recompute.NONE, False
        if text.startswith("full") or text in ("partial", "qkv_proj_offloaded"):
            return Recompute.FULL, text == "full"
        if text == _PRODUCTS_ALONE or ("sel" in text and self.framework.lower().startswith(_ALL_BUT_PRODUCTS)):
            return Recompute.LIGHT, True
        if "sel" in text:
            return Recompute.SELECTIVE, not self.framework.lower().startswith(_WHOLE_BLOCKS)
        raise DescriptionError(f"recomputation {self.recompute!r} is not known; it may be none, selective or full")

    @property
    def stated_sharding(self) -> tuple[int | None, int]:
        """ZeRO stage, None where not stated, and the chips it shares out over, 0 for all."""
        text = self.sharding.lower()
        number = re.search(r"(?:zero[123]=|fsdp|^)(\d+)", text)
        shard = int(number[1]) if number else 0
        if not text:
            return (1 if "zero-1" in self.head.notes.lower() else None), 0
        if "ddp" in text or "zero0" in text:
            return 0, 0
        if "zero1" in text:
            return 1, shard
        return 2 if re.search(r"grad_op|zero-?2", text) else 3, shard


def training_measurements(file: Path | None = None) -> MeasuredTable[TrainingMeasurement]:
    """All rows: those of the package, or those of one file (``.csv``, or ``.csv.gz``)."""
    if file is not None:
        short = "vocab_assumed" in table_text(file).partition("\n")[0]
        group = _SHORT_GROUP if short else file.name.partition(".")[0]
        return read_columns("llm_training", TrainingMeasurement, file=file, group=group)
    single = read_columns("llm_training_vtrain_single_node", TrainingMeasurement, group=_SHORT_GROUP)
    return joined(read_columns("llm_training", TrainingMeasurement), single)
