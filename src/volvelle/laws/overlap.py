"""What communication hides behind computation."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Fraction, Seconds


@cites("kadiyala2024comet", place="section 3.3, non-blocking communication of weight gradients")
def hidden_time(communication: Seconds, window: Seconds, *, overlap: Fraction = 1.0) -> Seconds:
    r"""Part of a communication that runs behind a window of computation.

    $$ h = \min(c,\; \omega\,w) $$

    ω is the usable share of the window; the rest, c − h, is exposed. Assumes the two do not slow each other
    down, but for the units that communication takes (:func:`overlap_slowdown_time`).
    """
    return np.minimum(communication, overlap * window)


@cites("deepseek2024v3", place="section 3.2.2, processors set aside for communication")
def overlap_slowdown_time(hidden: Seconds, *, share: Fraction) -> Seconds:
    r"""What computation loses to communication that runs beside it on the same units.

    $$ t = \varsigma\,h $$

    While h seconds of communication run, computation has 1 − ς of the chip's units, so work that fills the chip ends
    ςh later. Assumes computation beside it could have used all units.
    """
    return share * hidden


@cites("kadiyala2024comet", place="section 3.3, non-blocking communication of weight gradients, layer by layer")
def trailing_exchange_time(
    exchange: Seconds, work: Seconds, *, layers: Count, pieces: Count, stages: Count, last: Seconds
) -> Seconds:
    r"""What is left of an exchange of gradients, layer by layer as each is ready, when the backward pass is over.

    $$ t = e + \max\!\left(\frac{c}{n},\; \frac{c - w}{v} + \frac{w}{n},\;
           c - \frac{(v-1)\,p + 1}{v}\,w + \frac{w}{n}\right) $$

    c is the exchange of all n layers of a stage, w their backward pass of one micro-batch; e, of what comes last and
    has nothing to hide behind (the embedding). A stage of an interleaved pipeline, cut into v pieces, ends a piece
    while p micro-batches of each other piece are still to come. Assumes equal layers, and that exchange and computation
    do not slow each other down, but for the units that communication takes (:func:`overlap_slowdown_time`).
    """
    one = 1.0 / np.maximum(layers, 1.0)
    piece = (exchange - work) / pieces + work * one
    whole = exchange - work * (((pieces - 1.0) * stages + 1.0) / pieces - one)
    return last + np.maximum(np.maximum(exchange * one, piece), whole)


@cites("ren2021offload", place="section 4, transfers beside computation")
def streamed_time(moved: Bytes, window: Seconds, *, rate: BytesPerSecond) -> Seconds:
    r"""What a stream to and from host memory adds to the computation it runs beside.

    $$ t = \max\left(0,\; \frac{Q}{B} - w\right) $$

    Assumes the stream is evenly spread over the window and does not slow the computation down.
    """
    return np.maximum(moved / rate - window, 0.0)


@cites("pytorch-performance-guide", place="launches run ahead of the device")
def host_bound_time(device: Seconds, host: Seconds) -> Seconds:
    r"""What a host that prepares kernels too slowly adds to the device's time.

    $$ t = \max(0,\; t_h - t_d) $$

    Assumes the host runs ahead as long as it can: long kernels hide its work, and so do exchanges that the chip waits
    for; short ones wait for it.
    """
    return np.maximum(host - device, 0.0)
