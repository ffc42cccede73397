"""Constants of recommendation models by whose software runs them, from ``data/benchmarks/dlrm.yaml``."""

from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import Datum
from volvelle.errors import UnknownNameError
from volvelle.estimate.dlrm import DlrmModel
from volvelle.quantities import FRACTION, SECONDS

__all__ = ["dlrm_model", "dlrm_stacks"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Stack(_Strict):
    gather: Datum
    fixed: Datum
    error: Datum
    fused: bool


class _File(_Strict):
    stacks: dict[str, _Stack]


@cache
def _models() -> dict[str, DlrmModel]:
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "dlrm.yaml"
    written = _File.model_validate(YAML(typ="safe", pure=True).load(file.read_text("utf-8")))
    sources = Catalogue().sources
    found = {}
    for name, stack in written.stacks.items():
        where = f"recommendation models by {name}"
        found[name] = DlrmModel(
            gather=read_figure(stack.gather, FRACTION, where=where, sources=sources).value,
            fixed=read_figure(stack.fixed, SECONDS, where=where, sources=sources).value,
            error=read_figure(stack.error, None, where=where, sources=sources).value,
            fused=stack.fused,
        )
    return found


def dlrm_stacks() -> tuple[str, ...]:
    """Software whose steps were fitted."""
    return tuple(_models())


def dlrm_model(stack: str) -> DlrmModel:
    """The model with the constants of one kind of software."""
    if stack not in _models():
        raise UnknownNameError.among("software for recommendation models", stack, _models())
    return _models()[stack]
