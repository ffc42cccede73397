"""What training keeps in memory."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count, Fraction, is_plainly


@cites("rajbhandari2020zero", place="section 5, figure 1: P_os+g+p")
def weight_bytes(
    parameters: Count, *, each: Bytes, data_parallel: Count, zero: Count, shard: Bytes | None = None
) -> Bytes:
    r"""Weights held by one chip: all of its share, or with ZeRO-3 one replica's part of it.

    $$ M = \frac{\Psi\,e_s}{d} \ (z \ge 3), \qquad M = \Psi\,e \ (z < 3) $$

    Assumes parts of equal size. Parts take as many bytes a weight as the whole, unless `shard` says how many: none
    where the optimiser's copy in 32 bits is the only one that is shared out, as PyTorch FSDP has it.
    """
    if shard is None:
        return parameters * each / np.where(zero >= 3, data_parallel, 1.0)
    return parameters * np.where(zero >= 3, shard / data_parallel, each)


@cites("zhao2023fsdp", place="sections 3.2.1, 4.2 and 4.3: units are gathered, and their gradients reduced, one by one")
def gathered_bytes(unit: Bytes, *, ahead: Bytes) -> Bytes:
    r"""Weights that are whole with ZeRO-3 while a unit is at work: its own, and those of the unit that comes next.

    $$ M = u + a $$

    Bytes in the type that is gathered. Assumes a prefetch of one unit, as PyTorch FSDP2 does by default
    (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py@002a76f, pre_backward): the gather for the next unit is
    started when the weights of this one are there. A forward pass holds the buffer of the gather before until the next
    one, which is as much. Gradients of the unit come as its activations go, and are not counted beside them.
    """
    return unit + ahead


@cites("zhao2023fsdp", place="section 4.3, gradients are reduced while the unit before is computed")
def scattered_bytes(behind: Count, *, each: Bytes) -> Bytes:
    r"""Gradients that are whole with ZeRO-3 while they are summed and shared out: those of the unit that ran last.

    $$ M = n\,e $$

    In the type that they are reduced in: PyTorch FSDP2 copies a unit's gradients into one buffer, which lives until the
    backward pass of the next unit has run (_fsdp_param_group.py@002a76f, post_backward). Assumes one such buffer.
    """
    return behind * each


@cites("wang2023zeropp", place="section 3.2, hierarchical partitioning (hpZ): the secondary partition")
def secondary_weight_bytes(parameters: Count, *, each: Bytes, group: Count, zero: Count) -> Bytes:
    r"""Weights held a second time, shared out among a group of near chips, so that the backward pass gathers there.

    $$ M = \frac{\Psi\,e}{g} \ (z \ge 3,\ g > 0), \qquad M = 0 \ \text{otherwise} $$

    Assumes parts of equal size, in the element type of the weights.
    """
    return np.where((zero >= 3) & (group > 0), parameters * each / np.maximum(group, 1.0), 0.0)


@cites("korthikanti2023recompute", place="section 4.3, logits of the loss in 32 bits")
def loss_bytes(logits: Count, *, beside: Bytes) -> Bytes:
    r"""What a cross-entropy needs beside the logits while it runs, or runs backward.

    $$ M = n\,e $$

    e are bytes a logit: 4 where one copy in 32 bits becomes probabilities and then gradients in place, as Megatron-LM
    has it; 10 where log-probabilities, the gradient of those picked and that of all are tensors apart and the logits
    themselves are gone, as PyTorch has it outside a compiled region; 14 where these are added in a fourth, as it has it
    over tensor ranks. Assumes all logits of a micro-batch at once.
    """
    return logits * beside


@cites("rajbhandari2020zero", place="section 5, figure 1: P_os+g")
def gradient_bytes(parameters: Count, *, each: Bytes, data_parallel: Count, zero: Count, copied: Bytes = 0.0) -> Bytes:
    r"""Gradients held by one chip: all, or from ZeRO-2 on one replica's part.

    $$ M = \frac{\Psi\,e}{d} \ (z \ge 2), \qquad M = \Psi\,(e + c) \ (z < 2) $$

    Assumes gradients are accumulated in place over micro-batches. c are bytes of those that a backward pass leaves in
    the type of the weights, where software holds them beside until the next one, as DeepSpeed's BF16_Optimizer does.
    """
    held = parameters * each / np.where(zero >= 2, data_parallel, 1.0)
    return held if is_plainly(copied, 0.0) else held + np.where(zero >= 2, 0.0, parameters * copied)


@cites("rajbhandari2020zero", place="section 5, figure 1: P_os")
def optimiser_bytes(parameters: Count, *, each: Bytes, data_parallel: Count, zero: Count) -> Bytes:
    r"""Optimiser state held by one chip: all, or from ZeRO-1 on one replica's part.

    $$ M = \frac{\Psi\,e}{d} \ (z \ge 1), \qquad M = \Psi\,e \ (z < 1) $$

    12 bytes a parameter for mixed-precision Adam: fp32 weights, momentum and variance. Assumes parts of equal size.
    """
    return parameters * each / np.where(zero >= 1, data_parallel, 1.0)


@cites("hf-training-anatomy", place="anatomy of a model's memory: kernels, functionality, temporary")
def fragmented_bytes(activations: Bytes, *, share: Fraction, reserved: Bytes) -> Bytes:
    r"""Memory that holds no tensor: what software keeps for itself, and gaps between tensors that come and go.

    $$ M = R + \phi\,A $$

    Assumes weights and their states, allocated once, leave no gaps.
    """
    return reserved + share * activations


@cites("korthikanti2023recompute", place="section 4, activations of a pipeline stage")
def activation_bytes(saved_per_layer: Bytes, *, layers: Count, in_flight: Count, working: Bytes = 0.0) -> Bytes:
    r"""Activations held for the backward pass by one pipeline stage.

    $$ M = a\,L\,f + w $$

    a is what one layer saves for one micro-batch (derived from its operations), f the micro-batches in flight and w
    the working set of the layer being recomputed. Assumes each is freed as soon as its backward has run.
    """
    return saved_per_layer * layers * in_flight + working
