"""Constants of stencils, from ``data/benchmarks/stencil.yaml``."""

from functools import cache

from volvelle.applications.stencil.estimator import Kernel, StencilConstants
from volvelle.catalogue.sourced_file import Form, Plain, Share, Time, benchmark_file


class _File(Form):
    plain: Share
    blocked: Share
    cache_share: Share
    launch: Time
    error: Plain


@cache
def _file() -> _File:
    return benchmark_file("stencil.yaml", _File)


def stencil_constants(*, kernel: Kernel = "blocked", overlap: bool = True) -> StencilConstants:
    """Those of the catalogue."""
    return StencilConstants(**_file().model_dump(), kernel=kernel, overlap=overlap)
