"""Fourier transforms of grids that many chips share: arithmetic, passes through memory, data that change hands."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count, Flop, Number


@cites("cooley1965fft", place="operations of a complex transform of composite length, by the usual count")
def transform_work(points: Count, length: Count) -> Flop:
    r"""FLOP of complex transforms of some length along one dimension of a grid of so many points.

    $$ W = 5\,n\,\log_2 N $$

    Assumes the usual count, by which rates of transforms are quoted; split radices take a fifth less.
    """
    return 5.0 * points * np.log2(np.maximum(length, 1.0))


@cites("bailey1990fft", place="transforms in external or hierarchical memory, passes")
def transform_passes(length: Count, *, held: Count) -> Count:
    r"""How often a transform of some length reads its data from memory and writes them back.

    $$ k = \left\lceil \frac{\log_2 N}{\log_2 H} \right\rceil $$

    H is the longest transform that one unit of the chip holds. Assumes a longer one is done as several of at most H.
    """
    return np.ceil(np.log2(np.maximum(length, 2.0)) / np.log2(held) - 1e-9)


@cites("cooley1965fft", place="transforms of real data have symmetric spectra")
def half_spectrum(length: Count, *, element: Bytes) -> Number:
    r"""Bytes a real point has in its spectrum.

    $$ b = 2e\,\frac{\lfloor N/2 \rfloor + 1}{N} $$

    e is the size of a real number. Assumes the half that symmetry gives is neither kept nor sent.
    """
    return 2.0 * element * (np.floor(length / 2.0) + 1.0) / length
