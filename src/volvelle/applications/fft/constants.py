"""How far the model of Fourier transforms is off, from ``data/benchmarks/fft.yaml`` and rows left out of its fit."""

from functools import cache
from typing import get_type_hints

from volvelle.applications.model_error import ModelError
from volvelle.catalogue.aliases import accelerator_aliases
from volvelle.catalogue.left_out import publications_left_out
from volvelle.catalogue.model_errors import model_error
from volvelle.catalogue.sourced_file import Form, Plain, benchmark_file
from volvelle.system.cluster import Cluster


class _Beyond(Form):
    """What leaving the fitted rows adds."""

    chip: Plain
    doubling: Plain
    link: Plain
    chips: tuple[str, ...]
    counts: tuple[int, int]


class _File(Form):
    model_error: _Beyond


def fft_model_error(cluster: Cluster | None = None) -> ModelError:
    """How far whole transforms are off, by machine: as those that travelled in the way that it has were.

    Without a machine, or over links that no row travelled in a way told of, as all were.
    """
    return _travelling("" if cluster is None else travelled_by(cluster))


@cache
def _travelling(way: str) -> ModelError:
    beyond = benchmark_file("fft.yaml", _File).model_error
    return ModelError(inside=model_error("fft", way).factor, **{name: getattr(beyond, name) for name in _BEYOND})


_BEYOND = tuple(get_type_hints(_Beyond))


def travelled_by(cluster: Cluster) -> str:
    """By which way of travelling rows on such a machine are told apart; empty: none is on it."""
    ways = {row.regime for row in publications_left_out("fft")}
    template = cluster.name.partition("/")[0]
    named = ((way, name) for alias in accelerator_aliases() for way, name in alias.over.items())
    return next((way for way, name in named if name == template and way in ways), "")
