"""Workloads on which estimators are held against each other: every kind of layout, 8 to 65 536 chips."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One workload: what is trained, where, and how it is laid out."""

    kind: str
    """What it is an example of."""
    model: str
    system: str
    batch: int
    layout: str
    """In the words of a layout."""
    sequence: int | None = None
    offload: tuple[str, ...] = ()
    """What lives in host memory."""


SUITE: tuple[SuiteRow, ...] = (
    SuiteRow("dense", "llama2-7b", "dgx-a100/8", 64, "tp1 zero1 mb1 recompute full"),
    SuiteRow("dense", "llama3-8b", "dgx-h100/8", 32, "tp4 pp1 zero1 mb1"),
    SuiteRow("dense", "gpt2-xl", "dgx-a100/16", 256, "tp1 zero0 mb4"),
    SuiteRow("dense", "llama2-13b", "dgx-a100/32", 128, "tp4 zero1 mb1"),
    SuiteRow("dense", "llama3-70b", "dgx-h100/64", 128, "tp8 pp4 zero1 mb1"),
    SuiteRow("dense", "llama3-70b", "dgx-h100/512", 512, "tp8 pp4 zero1 mb1 recompute full"),
    SuiteRow("dense", "megatron-22b", "dgx-a100/64", 64, "tp8 pp1 zero1 mb2"),
    SuiteRow("dense", "gpt3-175b", "dgx-a100/1024", 1536, "tp8 pp8 zero1 mb1"),
    SuiteRow("dense", "gpt3-175b", "dgx-a100/1024", 1536, "tp8 pp8 gpipe zero1 mb1 recompute full"),
    SuiteRow("dense", "falcon-180b", "dgx-a100/1024", 2048, "tp8 pp8 zero1 mb1"),
    SuiteRow("dense", "bloom-176b", "dgx-a100/384", 2048, "tp4 pp12 zero1 mb2 recompute full"),
    SuiteRow("dense", "llama3-405b", "dgx-h100/16384", 2048, "tp8 pp16 zero1 mb1 recompute full"),
    SuiteRow("dense", "llama3-70b", "tpu-v5p-pod/4096", 1024, "tp8 pp1 zero3 mb1"),
    SuiteRow("dense", "qwen2.5-32b", "dgx-h200/128", 256, "tp8 pp2 zero1 mb1"),
    SuiteRow("dense", "llama3-70b", "gb200-nvl72/576", 576, "tp8 pp4 zero1 mb1"),
    SuiteRow("deep pipeline", "megatron-530b", "dgx-a100/2240", 2240, "tp8 pp35 zero1 mb1 recompute full"),
    SuiteRow("deep pipeline", "megatron-1t", "dgx-a100/3072", 3072, "tp8 pp64 zero1 mb1 recompute full"),
    SuiteRow("deep pipeline", "llama3-405b", "dgx-h100/65536", 8192, "tp8 pp16 zero1 mb1 recompute full"),
    SuiteRow("deep pipeline", "gpt3-175b", "dgx-h100/512", 512, "tp4 pp16 zero1 mb1"),
    SuiteRow("interleaved", "gpt3-175b", "dgx-a100/1024", 1536, "tp8 pp8 1f1b/12 zero1 mb1"),
    SuiteRow("interleaved", "gpt3-175b", "dgx-a100/96", 192, "tp8 pp12 1f1b/8 zero1 mb1"),
    SuiteRow("interleaved", "megatron-1t", "dgx-a100/512", 512, "tp8 pp64 1f1b/2 zero1 mb1 recompute full"),
    SuiteRow("interleaved", "llama3-405b", "dgx-h100/16384", 16384, "tp8 pp16 1f1b/8 zero1 mb1 recompute full"),
    SuiteRow("interleaved", "megatron-145b", "dgx-a100/1536", 2304, "tp8 pp8 1f1b/5 zero1 mb1 recompute full"),
    SuiteRow("interleaved", "llama3-70b", "dgx-h100/256", 512, "tp4 pp8 1f1b/5 zero1 mb1"),
    SuiteRow("interleaved", "megatron-22b", "dgx-a100/128", 256, "tp4 pp4 1f1b/4 zero0 mb1"),
    SuiteRow("zero-bubble", "gpt3-175b", "dgx-a100/1024", 1536, "tp8 pp8 zero-bubble zero1 mb1"),
    SuiteRow("zero-bubble", "llama3-70b", "dgx-h100/256", 256, "tp4 pp8 zero-bubble zero1 mb1"),
    SuiteRow("zero-bubble", "llama2-70b", "dgx-a100/512", 512, "tp8 pp4 zero-bubble zero0 mb1"),
    SuiteRow("DualPipe", "deepseek-v3", "dgx-h800/2048", 15360, "tp1 pp16 ep64 dualpipe zero1 mb1 recompute full"),
    SuiteRow("DualPipe", "deepseek-v2", "dgx-h800/512", 2048, "tp1 pp16 ep16 dualpipe zero1 mb1 recompute full"),
    SuiteRow("mixture of experts", "mixtral-8x7b", "dgx-h100/64", 256, "tp2 pp4 ep8 zero1 mb1", 4096),
    SuiteRow("mixture of experts", "mixtral-8x22b", "dgx-h100/128", 256, "tp4 pp8 ep4 zero1 mb1", 4096),
    SuiteRow("mixture of experts", "deepseek-v3", "dgx-h100/1024", 8192, "tp2 pp16 ep32 zero1 mb1 recompute full"),
    SuiteRow("mixture of experts", "qwen3-30b-a3b", "dgx-h100/32", 256, "tp1 pp1 ep8 zero1 mb1"),
    SuiteRow("mixture of experts", "qwen3-235b-a22b", "dgx-h100/256", 1024, "tp4 pp8 ep8 zero1 mb1 recompute full"),
    SuiteRow("mixture of experts", "dbrx-132b", "dgx-h100/512", 1024, "tp8 pp4 ep8 zero1 mb1", 4096),
    SuiteRow("mixture of experts", "deepseek-v2-lite", "dgx-h100/16", 128, "tp1 pp1 ep8 zero1 mb1 expert_overlap=yes"),
    SuiteRow("long context", "llama3-8b", "dgx-h100/64", 16, "tp4 cp8 zero1 mb1", 131072),
    SuiteRow("long context", "llama3-405b", "dgx-h100/16384", 256, "tp8 cp16 pp16 zero1 mb1 recompute full", 131072),
    SuiteRow("long context", "llama3-70b", "dgx-h100/256", 64, "tp4 cp2/heads pp4 zero1 mb1 recompute full", 32768),
    SuiteRow("long context", "mistral-nemo-12b", "dgx-h200/32", 8, "tp8 cp4 zero1 mb1", 65536),
    SuiteRow("off-load", "gpt-neox-20b", "dgx-a100/16", 128, "tp2 pp1 zero1 mb2 recompute full", None, ("optimiser",)),
    SuiteRow("off-load", "llama2-70b", "dgx-a100/64", 128, "tp8 pp2 zero1 mb1", None, ("activations",)),
    SuiteRow("off-load", "opt-6.7b", "dgx-a100/8", 64, "tp1 zero1 mb4", None, ("weights", "optimiser")),
    SuiteRow("ZeRO", "llama3-8b", "dgx-h100/128", 512, "tp1 zero2 mb1 recompute full"),
    SuiteRow("ZeRO", "llama2-7b", "dgx-a100/128", 512, "tp1 zero3 mb2"),
    SuiteRow("ZeRO", "llama2-70b", "dgx-h100/512", 1024, "tp1 zero3 mb2 recompute full"),
    SuiteRow("ZeRO", "llama3-70b", "dgx-h100/256", 256, "tp1 zero3 mb1 zero_group=64 recompute full"),
    SuiteRow("ZeRO", "llama3-70b", "dgx-h100/256", 256, "tp1 zero3 mb1 zero_secondary=8 recompute full"),
    SuiteRow("ZeRO", "llama2-13b", "dgx-a100/64", 512, "tp2 zero2 mb1"),
    SuiteRow("ZeRO", "opt-6.7b", "dgx-a100/64", 1024, "tp2 zero0 mb2"),
)
