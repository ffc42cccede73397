"""Constants of recommendation models by whose software runs them, from ``data/benchmarks/dlrm.yaml``."""

from dataclasses import replace
from functools import cache

from volvelle.applications.dlrm.estimator import DlrmModel
from volvelle.applications.model_error import ModelError
from volvelle.catalogue.model_errors import model_error
from volvelle.catalogue.sourced_file import Form, Share, Time, benchmark_file
from volvelle.errors import UnknownNameError
from volvelle.system.cluster import Cluster


class _Stack(Form):
    gather: Share
    fixed: Time
    model_error: ModelError
    fused: bool
    relayed: bool


class _File(Form):
    stacks: dict[str, _Stack]


@cache
def _stacks() -> dict[str, _Stack]:
    return benchmark_file("dlrm.yaml", _File).stacks


def _known(stack: str) -> _Stack:
    if stack not in _stacks():
        raise UnknownNameError.among("software for recommendation models", stack, _stacks())
    return _stacks()[stack]


def dlrm_stacks() -> tuple[str, ...]:
    """Software whose steps were fitted."""
    return tuple(_stacks())


def dlrm_model_error(stack: str) -> ModelError:
    """How far steps by one kind of software are off, by machine."""
    return _known(stack).model_error


def dlrm_model(stack: str, cluster: Cluster | None = None) -> DlrmModel:
    """The model with the constants of one kind of software; as sure of a machine as it is of ones like it."""
    known = _known(stack)
    plain = DlrmModel(gather=known.gather, fixed=known.fixed, fused=known.fused, relayed=known.relayed)
    if cluster is None:
        return replace(plain, error=known.model_error.inside)
    beyond = bool(known.model_error.other_networks(cluster))
    return replace(
        plain,
        error=known.model_error.on(cluster, networks=not beyond),
        network_error=model_error("collectives", "long/across", ("link",)).factor if beyond else 1.0,
    )
