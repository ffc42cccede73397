"""How far a model is off, as it is written in files of benchmarks."""

from collections.abc import Collection

from pydantic import BaseModel, ConfigDict

from volvelle.applications.model_error import ModelError
from volvelle.catalogue.figures import read_figure
from volvelle.catalogue.schema import Datum

__all__ = ["ModelErrorFile"]


class ModelErrorFile(BaseModel):
    """The doubts of a model, and what its fit has seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inside: Datum
    chip: Datum
    doubling: Datum
    link: Datum
    chips: tuple[str, ...]
    counts: tuple[int, int]
    links: tuple[str, ...] = ()

    def read(self, *, where: str, sources: Collection[str]) -> ModelError:
        """The same as a value."""

        def number(datum: Datum) -> float:
            return read_figure(datum, None, where=where, sources=sources).value

        return ModelError(
            inside=number(self.inside),
            chip=number(self.chip),
            doubling=number(self.doubling),
            link=number(self.link),
            chips=self.chips,
            counts=self.counts,
            links=self.links,
        )
