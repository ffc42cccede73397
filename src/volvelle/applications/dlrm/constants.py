"""Constants of recommendation models by whose software runs them, from ``data/benchmarks/dlrm.yaml``."""

from dataclasses import replace
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from volvelle.applications.dlrm.estimator import DlrmModel
from volvelle.applications.model_error import ModelError
from volvelle.applications.model_error_file import ModelErrorFile
from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import Datum
from volvelle.errors import UnknownNameError
from volvelle.quantities import FRACTION, SECONDS
from volvelle.system.cluster import Cluster

__all__ = ["dlrm_model", "dlrm_model_error", "dlrm_stacks"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Stack(_Strict):
    gather: Datum
    fixed: Datum
    model_error: ModelErrorFile
    fused: bool


class _File(_Strict):
    stacks: dict[str, _Stack]


@cache
def _models() -> dict[str, tuple[DlrmModel, ModelError]]:
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "dlrm.yaml"
    written = _File.model_validate(YAML(typ="safe", pure=True).load(file.read_text("utf-8")))
    sources = Catalogue().sources
    found = {}
    for name, stack in written.stacks.items():
        where = f"recommendation models by {name}"
        model = DlrmModel(
            gather=read_figure(stack.gather, FRACTION, where=where, sources=sources).value,
            fixed=read_figure(stack.fixed, SECONDS, where=where, sources=sources).value,
            fused=stack.fused,
        )
        found[name] = model, stack.model_error.read(where=where, sources=sources)
    return found


def dlrm_stacks() -> tuple[str, ...]:
    """Software whose steps were fitted."""
    return tuple(_models())


def dlrm_model_error(stack: str) -> ModelError:
    """How far steps by one kind of software are off, by machine."""
    return _known(stack)[1]


def dlrm_model(stack: str, cluster: Cluster | None = None) -> DlrmModel:
    """The model with the constants of one kind of software; as sure of a machine as it is of ones like it."""
    model, error = _known(stack)
    return replace(model, error=error.inside if cluster is None else error.on(cluster))


def _known(stack: str) -> tuple[DlrmModel, ModelError]:
    if stack not in _models():
        raise UnknownNameError.among("software for recommendation models", stack, _models())
    return _models()[stack]
