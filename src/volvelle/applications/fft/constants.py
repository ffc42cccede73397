"""How far the model of Fourier transforms is off, from ``data/benchmarks/fft.yaml``."""

from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from volvelle.applications.model_error import ModelError
from volvelle.applications.model_error_file import ModelErrorFile
from volvelle.catalogue.loader import Catalogue

__all__ = ["fft_model_error"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    model_error: ModelErrorFile


@cache
def fft_model_error() -> ModelError:
    """How far whole transforms are off, by machine."""
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "fft.yaml"
    written = _File.model_validate(YAML(typ="safe", pure=True).load(file.read_text("utf-8")))
    return written.model_error.read(where="transforms", sources=Catalogue().sources)
