"""A batch through a pipeline of dataflow chips: how often an interval repeats, and what filling the pipeline adds."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Number, Seconds


@cites("dfmodel", place="section IV-A, pipeline parallelism; as in the authors' intra-chip step")
def fill_factor(stages: Count, *, micro_batches: Count, layers: Count) -> Number:
    r"""How much longer a batch takes because the pipeline fills and drains.

    $$ f = 1 + \frac{p - 1}{m\,\max(1, \lambda - 1)} $$

    λ is the layers of a stage, m the micro-batches. Assumes stages are interleaved layer by layer, as often as they
    have layers less one.
    """
    return 1.0 + (stages - 1.0) / (micro_batches * np.maximum(1.0, layers - 1.0))


@cites("dfmodel", place="section V-B4, time of a batch; as in the authors' intra-chip step")
def pipelined_batch_time(
    interval: Seconds, *, layers: Count, samples: Count, factor: Number, transfer: Seconds
) -> Seconds:
    r"""Time of a batch.

    $$ T = I\,f\,\lambda\,s + t_\mathrm{p2p} $$

    I is the time of one layer's partitions for one sample, λ the layers of a stage, s the samples of a replica. Assumes
    handing activations from stage to stage is hidden but for once a batch.
    """
    return interval * factor * layers * samples + transfer
