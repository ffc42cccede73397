"""The cost model by which NCCL chooses among its algorithms: a latency and a rate for each.

The library compares; as a prediction the model leaves out the filling of the pipeline, which
:func:`~volvelle.laws.collectives.pipeline_fill_time` adds.
"""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Fraction, Number, Seconds


@cites("nccl-tuning", place="src/graph/tuning.cc, ncclTopoTuneModel, ring")
def nccl_ring_latency(steps: Count, crossings: Count, *, base: Seconds, inside: Seconds, between: Seconds) -> Seconds:
    r"""Latency of a ring that leaves a node in some of its steps.

    $$ \lambda = \lambda_0 + (s - x)\,\alpha_{in} + x\,\alpha_{net} $$

    Assumes that steps follow each other and take the same time each, inside nodes and between them.
    """
    return base + (steps - crossings) * inside + crossings * between


@cites("nccl-tuning", place="src/graph/tuning.cc, ncclTopoTuneModel, tree")
def nccl_tree_latency(chips: Count, nodes: Count, *, base: Seconds, inside: Seconds, between: Seconds) -> Seconds:
    r"""Latency of an all-reduce up and down a tree of nodes, each a chain of its chips.

    $$ \lambda = \lambda_0 + 2\left((g - 1)\,\alpha_{in} + \lfloor\log_2 N\rfloor\,\alpha_{net}\right) $$

    g chips a node, N nodes. Assumes a balanced tree.
    """
    return base + 2.0 * ((chips - 1.0) * inside + np.floor(np.log2(nodes)) * between)


@cites("nccl-tuning", place="src/graph/tuning.cc, ncclTopoTuneModel, ring bandwidth")
def nccl_ring_rate(bus: BytesPerSecond, ranks: Count, steps: Count) -> BytesPerSecond:
    r"""Bytes of the whole tensor a second around rings whose links carry `bus` together.

    $$ B = b\,\frac{R}{s} $$

    s steps: 2(R − 1) in an all-reduce, R − 1 in a gather or a scatter. Assumes that every link is busy in every step.
    """
    return bus * ranks / steps


@cites("nccl-tuning", place="src/graph/tuning.cc, ncclTopoTuneModel, tree bandwidth and treeCorrectionFactor")
def nccl_tree_rate(bus: BytesPerSecond, size: Bytes, *, corrections: Number) -> BytesPerSecond:
    r"""Bytes of the whole tensor a second up and down two trees.

    $$ B = \tfrac{1}{2}\,b\,k\!\left(\lfloor\log_2(n/64)\rfloor\right) $$

    k are what the library found by measuring, for messages of 64 bytes and each doubling; 1 beyond the last. Assumes
    that the trees carry half of the tensor each, which passes every link twice.
    """
    factors = np.append(np.asarray(corrections), 1.0)
    place = np.clip(np.floor(np.log2(np.maximum(size / 64.0, 1.0))), 0, len(factors) - 1)
    return 0.5 * bus * factors[place.astype(np.intp)]


@cites("nccl-tuning", place="src/graph/tuning.cc, ncclTopoTuneModel, NVLS")
def nccl_switch_rate(channels: Count, speed: BytesPerSecond, *, efficiency: Fraction, passes: Number) -> BytesPerSecond:
    r"""What the switches of a node carry when they add up or multiply what passes (NVLS).

    $$ b = c\,s\,\eta\,\frac{c - 1}{c}\,k $$

    c channels at speed s; k is 2 in an all-reduce, which a switch halves, and (g − 1)/g in a gather or a scatter among
    g chips. Assumes η as the library states it for the generation of the chips.
    """
    return channels * speed * efficiency * (channels - 1.0) / channels * passes
