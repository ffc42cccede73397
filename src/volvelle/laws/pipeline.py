"""Pipelines: stages that work on micro-batches one behind the other."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Seconds


@cites("narayanan2021megatron", place="section 2.2, bubble of 1F1B and interleaved schedules")
def bubble_time(whole: Seconds, slowest: Seconds, *, interleave: Count) -> Seconds:
    r"""Time in which the slowest stage waits while the pipeline fills and drains.

    $$ t_b = \frac{\sum_i t_i - \max_i t_i}{v} $$

    `whole` is one micro-batch through all stages, forward and backward; v is the number of pieces each stage is
    cut into. With p equal stages this is the paper's (p − 1)(t_f + t_b)/v. Assumes one forward, one backward at a
    time; stages hand over without delay (the transfers are counted apart).
    """
    return (whole - slowest) / interleave


@cites("narayanan2021megatron", place="section 2.2, order of 1F1B and interleaved schedules")
def waited_transfers(stages: Count, *, interleave: Count, micro_batches: Count) -> Count:
    r"""Transfers from stage to stage that a pipeline of one forward, one backward waits for, both ways together.

    $$ n = 2\left(p + m - 2 - \left\lceil\tfrac{m-1}{p}\right\rceil\right) \ (v = 1), \qquad n = 2(pv - 1) \ (v > 1) $$

    With v = 1 the p micro-batches in flight are on their way through all stages and back while the first stage has
    nothing else to do: each waits, but one of every p. Pieces have twice as many in flight, so that transfers hide, but
    while the pipeline fills and drains: there p of them stand between one piece and the next. Follows from the order of
    the schedule. Assumes equal stages, and transfers that are short against what a piece takes for a micro-batch.
    """
    plain = 2.0 * (stages + micro_batches - 2.0 - np.ceil((micro_batches - 1.0) / stages))
    return np.where(interleave > 1, 2.0 * (stages * interleave - 1.0), plain)


@cites("qi2024zerobubble", place="figure 3, order of ZB-H1")
def zero_bubble_waited_transfers(stages: Count, *, micro_batches: Count) -> Count:
    r"""The same where weight gradients fill what a stage would wait.

    $$ n = \min\!\left(n_{\mathrm{1F1B}},\; 4(p-1)\right) $$

    Transfers are waited for while the pipeline fills and drains, and once more as weight gradients are put off. Assumes
    equal stages, and transfers shorter than weight gradients.
    """
    return np.minimum(
        waited_transfers(stages, interleave=1.0, micro_batches=micro_batches), 4.0 * np.maximum(stages - 1.0, 0.0)
    )


@cites("deepseek2024v3", place="figure 5, order of DualPipe")
def dual_pipe_waited_transfers(stages: Count, *, micro_batches: Count) -> Count:
    r"""The same where micro-batches enter from both ends, m of them together.

    $$ n = \frac{2(p-1)}{p}\,m + p - 5 $$

    Found by replaying the order for 4 to 12 stages and 8 to 64 micro-batches. Assumes equal stages, an even number of
    them, at least twice as many micro-batches, and short transfers.
    """
    return np.maximum(2.0 * (stages - 1.0) / stages * micro_batches + stages - 5.0, 0.0)


@cites("qi2024zerobubble", place="table 2, ZB-H1")
def zero_bubble_time(
    whole: Seconds,
    slowest: Seconds,
    *,
    forward: Seconds,
    input_gradients: Seconds,
    weight_gradients: Seconds,
    stages: Count,
) -> Seconds:
    r"""Bubble left when weight gradients fill the gaps, with no more memory than the first stage of 1F1B.

    $$ t_b = \max\!\left(\sum_i t_i - \max_i t_i - 2(p-1)\,t_W,\; (p-1)\,t_F,\; (p-1)\,t_I\right) $$

    For p equal stages (p − 1) max(t_F + t_I − t_W, t_F, t_I), the paper's where weight gradients t_W take no longer
    than a forward t_F or the gradients of inputs t_I: what they fill is the wait for a backward, never that for the
    first forward or the last backward. Assumes a micro-batch's weight gradients can wait until the pipeline drains,
    and at least as many micro-batches as stages.
    """
    filled = whole - slowest - 2.0 * (stages - 1.0) * weight_gradients
    return np.maximum(filled, (stages - 1.0) * np.maximum(forward, input_gradients))


@cites("qi2024zerobubble", place="figure 3, order of ZB-H1")
def zero_bubble_in_flight(stages: Count, *, micro_batches: Count) -> Count:
    r"""Micro-batches whose activations a stage of ZB-H1 holds at the worst moment: as many on every stage.

    $$ f = \min(m, p) $$

    A stage r lets the weight gradients of a micro-batch wait for r more backward passes, and keeps what they need.
    Assumes activations are freed when their weight gradients are done.
    """
    return np.minimum(micro_batches, stages)


@cites("deepseek2024v3", place="table 2, DualPipe")
def dual_pipe_bubble_time(forward: Seconds, backward: Seconds, weight_gradients: Seconds, *, stages: Count) -> Seconds:
    r"""Bubble when micro-batches enter from both ends and a forward runs beside a backward.

    $$ t_b = \left(\frac{p}{2} - 1\right)(t_{F+B} + t_B - 3 t_W) $$

    Times are of one stage; the backward includes the weight gradients. Exact where a forward, the gradients of inputs
    and those of weights take equally long: with 1 : 1.2 : 0.8 it has 2.6 for 2.4, with 1 : 0.8 : 1.2 1.4 for 2.0.
    Assumes an even number of stages, and that a forward and a backward side by side take the sum of their times less
    what communication they hide.
    """
    return np.maximum(stages / 2.0 - 1.0, 0.0) * np.maximum(forward + 2.0 * backward - 3.0 * weight_gradients, 0.0)


@cites("korthikanti2023recompute", place="section 4.3, micro-batches kept by the first stage")
def micro_batches_in_flight(stages: Count, *, stage: Count, interleave: Count, micro_batches: Count) -> Count:
    r"""Micro-batches whose activations a stage holds at the worst moment, interleaved pieces counted as shares.

    $$ f = \min\!\left(m,\; p - r\right) \ (v = 1), \qquad
       f = \min\!\left(m,\; \frac{2(p - r - 1) + (v-1)p + 1}{v}\right) \ (v > 1) $$

    for stage r = 0 … p − 1: for the first of an interleaved pipeline p(1 + (p−1)/(pv)), as in the paper. Assumes
    one forward, one backward at a time.
    """
    plain = stages - stage
    pieces = 2.0 * (stages - stage - 1.0) + (interleave - 1.0) * stages + 1.0
    return np.minimum(micro_batches, np.where(interleave > 1, pieces / interleave, plain))
