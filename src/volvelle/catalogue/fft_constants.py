"""How far the model of Fourier transforms was off, by chip, from ``data/benchmarks/fft.yaml``."""

from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.schema import Datum

__all__ = ["fft_error"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    errors: dict[str, Datum]
    elsewhere: Datum


@cache
def _errors() -> dict[str, float]:
    """Factor by chip; under the empty name that of all others."""
    file = resources.files("volvelle.catalogue") / "data" / "benchmarks" / "fft.yaml"
    written = _File.model_validate(YAML(typ="safe", pure=True).load(file.read_text("utf-8")))
    sources = Catalogue().sources
    return {
        name: read_figure(datum, None, where=f"transforms on {name!r}", sources=sources).value
        for name, datum in {**written.errors, "": written.elsewhere}.items()
    }


def fft_error(chip: str) -> float:
    """One standard deviation of whole transforms on a chip, as a factor."""
    return _errors().get(chip, _errors()[""])
