"""What training keeps in memory."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count, Fraction, is_plainly


@cites("rajbhandari2020zero", place="section 5, figure 1: P_os+g+p")
def weight_bytes(parameters: Count, *, each: Bytes, data_parallel: Count, zero: Count) -> Bytes:
    r"""Weights held by one chip: all of its share, or with ZeRO-3 one replica's part of it.

    $$ M = \frac{\Psi\,e}{d} \ (z \ge 3), \qquad M = \Psi\,e \ (z < 3) $$

    Assumes parts of equal size.
    """
    return parameters * each / np.where(zero >= 3, data_parallel, 1.0)


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
