"""How far the model of Fourier transforms is off, from ``data/benchmarks/fft.yaml``."""

from functools import cache

from volvelle.applications.model_error import ModelError
from volvelle.catalogue.sourced_file import Form, benchmark_file


class _File(Form):
    model_error: ModelError


@cache
def fft_model_error() -> ModelError:
    """How far whole transforms are off, by machine."""
    return benchmark_file("fft.yaml", _File).model_error
