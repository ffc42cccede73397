"""One GPT-3 175B layer on a SambaNova SN10, as in table VI of DFModel; graph and machine are in `mapping_graphs`."""

from collections.abc import Mapping
from dataclasses import replace

import mapping_graphs
from mapping_graphs import GPT_EDGES, SEQUENCE, SN10
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem, OnChip

TILES = (2048, 1024, 512, 256, 128, 64, 32, 16)
EDGES = GPT_EDGES

# Section VII-B of the paper names the vendor's four partitions, VII-C what DFModel moved: as slots of the products.
VENDOR = {"Q": 0, "K": 0, "V": 0, "MHA_GEMM_1": 1, "MHA_GEMM_2": 1, "PROJ_GEMM": 1, "FFN0": 2, "FFN1": 3}
DFMODEL = {**VENDOR, "PROJ_GEMM": 2}


def gpt_layer(
    *, tensor: int = 8, tile: int = 128, pins: Mapping[str, int] | None = None, chip: OnChip = SN10, **choices: object
) -> FusionProblem:
    """The problem for one tile size and degree of tensor parallelism."""
    kernels, tensors = mapping_graphs.gpt_layer(tensor=tensor, tile=tile)
    return FusionProblem(
        kernels=tuple(replace(kernel, pinned=(pins or {}).get(kernel.name)) for kernel in kernels),
        tensors=tuple(tensors),
        tiles=SEQUENCE // tile,
        chip=chip,
        choices=FusionChoices(**choices),  # type: ignore[arg-type]
    )
