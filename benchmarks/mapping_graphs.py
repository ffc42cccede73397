"""Dataflow graphs to fuse on a chip: chains, transformers, random series-parallel and random acyclic graphs.

The transformer is GPT-3 175B as in table VI of DFModel (arXiv 2412.16432; graph, shapes and machine as in the authors'
inputs, GitHub kosho2013/DFModel): sequence 2048, bf16, micro-batch 1, on a SambaNova SN10 of 640 cores of 32 × 6 at
1.25 GHz with 320 MiB of SRAM, DRAM at 100 GB/s and ring links at 25 GB/s. Heads are split over the tensor-parallel
chips; projection and FFN1 split the summed dimension, so each ends in an all-reduce of (p − 1)/p of its output over
the link rate; FFN0 and GeLU split their rows; element-wise kernels run everywhere.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random

from volvelle.estimators.dataflow.on_chip import ChipKernel, ChipTensor, FusionChoices, FusionProblem, OnChip
from volvelle.workload.operations.base import Unit

__all__ = ["FAMILIES", "GPT_EDGES", "SN10", "gpt_layer", "graph"]

HIDDEN, HEADS, HEAD, FFN, SEQUENCE, WORD, LINK = 12288, 96, 128, 49152, 2048, 2, 25e9
SN10 = OnChip(cores=640, width=32, height=6, clock=1.25e9, sram=320 * 2**20, dram_rate=100e9)
SMALL = replace(SN10, sram=48 * 2**20)
"""For random graphs, whose kernels are smaller: an SN10 with about a seventh of its SRAM."""
TILE = 64
BLOCK = 24
"""Most kernels of one series-parallel block; blocks follow each other, as in inception networks."""
REACH = 8
"""How far back a kernel of a random graph reads, in kernels."""

GPT_EDGES = (
    ("Add_Prev_Layer", "LayerNorm_1"),
    ("LayerNorm_1", "Q"),
    ("LayerNorm_1", "K"),
    ("LayerNorm_1", "V"),
    ("Q", "MHA_GEMM_1"),
    ("K", "MHA_GEMM_1"),
    ("MHA_GEMM_1", "SOFTMAX"),
    ("SOFTMAX", "DropOut_1"),
    ("V", "MHA_GEMM_2"),
    ("DropOut_1", "MHA_GEMM_2"),
    ("MHA_GEMM_2", "PROJ_GEMM"),
    ("PROJ_GEMM", "DropOut_2"),
    ("DropOut_2", "Add_1"),
    ("Add_Prev_Layer", "Add_1"),
    ("Add_1", "LayerNorm_2"),
    ("LayerNorm_2", "FFN0"),
    ("FFN0", "GeLU"),
    ("GeLU", "FFN1"),
    ("FFN1", "DropOut_3"),
    ("DropOut_3", "Add_2"),
    ("Add_1", "Add_2"),
)


def gpt_layer(*, tensor: int, tile: int) -> tuple[list[ChipKernel], list[ChipTensor]]:
    """Kernels and tensors of a layer's forward pass on one of `tensor` chips, for tiles of `tile` positions."""
    heads, ffn = HEADS // tensor, FFN // tensor
    reduced = (tensor - 1) / tensor * HIDDEN * SEQUENCE * WORD / LINK
    products = {  # rows, depth, bytes of an element of its weights, network time
        "Q": (heads * HEAD, HIDDEN, WORD, 0.0),
        "K": (heads * HEAD, HIDDEN, WORD, 0.0),
        "V": (heads * HEAD, HIDDEN, WORD, 0.0),
        "MHA_GEMM_1": (heads * SEQUENCE, HEAD, 0, 0.0),
        "MHA_GEMM_2": (heads * HEAD, SEQUENCE, 0, 0.0),
        "PROJ_GEMM": (HIDDEN, heads * HEAD, WORD, reduced),
        "FFN0": (ffn, HIDDEN, WORD, 0.0),
        "FFN1": (HIDDEN, ffn, WORD, reduced),
    }
    rows_of = {"SOFTMAX": heads * SEQUENCE, "DropOut_1": heads * SEQUENCE, "GeLU": ffn}
    kernels = []
    for name in dict.fromkeys(name for edge in GPT_EDGES for name in edge):
        if name in products:
            rows, depth, each, network = products[name]
            weights = float(rows * depth * each)
            kernel = ChipKernel(
                name=name,
                unit=Unit.MATRIX,
                rows=rows,
                depth=depth,
                columns=tile,
                weight_bytes=weights,
                network_time=network,
            )
        else:
            kernel = ChipKernel(name=name, unit=Unit.VECTOR, rows=rows_of.get(name, HIDDEN), columns=tile)
        kernels.append(kernel)
    rows_of = {kernel.name: kernel.rows for kernel in kernels}
    tensors = [
        ChipTensor(producer=producer, consumer=consumer, bytes=float(rows_of[producer] * tile * WORD))
        for producer, consumer in GPT_EDGES
    ]
    return kernels, tensors


def transformer(size: int, seed: int) -> FusionProblem:
    """The first `size` kernels of GPT-3 175B, layer after layer, tensor-parallel over 8 chips."""
    del seed  # nothing here is random
    layer, inner = gpt_layer(tensor=8, tile=TILE)
    kernels, tensors = list[ChipKernel](), list[ChipTensor]()
    for number in range(-(-size // len(layer))):
        kernels += [replace(kernel, name=f"{number}.{kernel.name}") for kernel in layer]
        tensors += [
            replace(tensor, producer=f"{number}.{tensor.producer}", consumer=f"{number}.{tensor.consumer}")
            for tensor in inner
        ]
        if number:
            last, first = f"{number - 1}.Add_2", f"{number}.Add_Prev_Layer"
            tensors.append(ChipTensor(producer=last, consumer=first, bytes=float(HIDDEN * TILE * WORD)))
    kept = {kernel.name for kernel in kernels[:size]}
    tensors = [tensor for tensor in tensors if tensor.producer in kept and tensor.consumer in kept]
    return FusionProblem(kernels=tuple(kernels[:size]), tensors=tuple(tensors), tiles=SEQUENCE // TILE, chip=SN10)


def chain(size: int, seed: int) -> FusionProblem:
    """One kernel after another."""
    return _random_kernels({(number, number + 1) for number in range(size - 1)}, size, seed)


def series_parallel(size: int, seed: int) -> FusionProblem:
    """Blocks of up to 24 kernels one after another, each series and parallel at random, up to three branches wide."""
    dice = Random(seed)
    edges = set[tuple[int, int]]()

    def build(part: list[int]) -> None:
        inner = part[1:-1]
        choice = dice.random()
        if len(part) <= 3 or choice < 0.3:
            edges.update(pairwise(part))
        elif choice < 0.65:
            cut = dice.randrange(1, len(part) - 1)
            build(part[: cut + 1])
            build(part[cut:])
        else:
            cuts = sorted(dice.sample(range(1, len(inner)), min(len(inner), dice.randint(2, 3)) - 1))
            for low, high in zip((0, *cuts), (*cuts, len(inner)), strict=True):
                build([part[0], *inner[low:high], part[-1]])

    first = 0
    while first < size - 1:
        last = min(size - 1, first + dice.randint(4, BLOCK))
        build(list(range(first, last + 1)))
        first = last
    return _random_kernels(edges, size, seed)


def acyclic(size: int, seed: int) -> FusionProblem:
    """Each kernel reads one to three of the eight before it; none but the last goes unread."""
    dice = Random(seed)
    edges = set[tuple[int, int]]()
    for reader in range(1, size):
        count = min(reader, dice.choice((1, 1, 2, 2, 3)))
        edges |= {(other, reader) for other in dice.sample(range(max(0, reader - REACH), reader), count)}
    for number in sorted(set(range(size - 1)) - {producer for producer, _ in edges}):
        edges.add((number, dice.randint(number + 1, min(size - 1, number + REACH))))
    return _random_kernels(edges, size, seed)


def _random_kernels(edges: set[tuple[int, int]], size: int, seed: int) -> FusionProblem:
    dice = Random(seed)
    kernels = []
    for number in range(size):
        if dice.random() < 0.45:
            rows, depth = dice.choice((512, 1024, 1536, 2048, 4096)), dice.choice((512, 1024, 2048, 4096))
            kernel = ChipKernel(
                name=f"k{number}",
                unit=Unit.MATRIX,
                rows=rows,
                depth=depth,
                columns=TILE,
                weight_bytes=float(rows * depth * WORD) * (dice.random() < 0.75),
                network_time=dice.choice((0, 0, 0, 1)) * rows * SEQUENCE * WORD / 100e9,
            )
        else:
            rows = dice.choice((512, 1024, 2048, 4096))
            kernel = ChipKernel(name=f"k{number}", unit=Unit.VECTOR, rows=rows, columns=TILE)
        kernels.append(kernel)
    tensors = [
        ChipTensor(producer=f"k{first}", consumer=f"k{second}", bytes=float(kernels[first].rows * TILE * WORD))
        for first, second in sorted(edges)
    ]
    return FusionProblem(kernels=tuple(kernels), tensors=tuple(tensors), tiles=SEQUENCE // TILE, chip=SMALL)


FAMILIES: dict[str, Callable[[int, int], FusionProblem]] = {
    "chain": chain,
    "transformer": transformer,
    "series-parallel": series_parallel,
    "acyclic": acyclic,
}


def graph(family: str, size: int, seed: int) -> FusionProblem:
    """A graph of that many kernels, with at most one partition for every four kernels."""
    return replace(FAMILIES[family](size, seed), choices=FusionChoices(partitions=max(4, size // 4)))
