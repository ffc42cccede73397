"""How far the model of Fourier transforms is off, from ``data/benchmarks/fft.yaml``."""

from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from volvelle.applications.model_error import ModelDoubt
from volvelle.applications.model_error_file import DoubtFile
from volvelle.catalogue.loader import Catalogue

__all__ = ["fft_doubt"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    doubt: DoubtFile


@cache
def fft_doubt() -> ModelDoubt:
    """How far whole transforms are off, by machine."""
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "fft.yaml"
    written = _File.model_validate(YAML(typ="safe", pure=True).load(file.read_text("utf-8")))
    return written.doubt.read(where="transforms", sources=Catalogue().sources)
