"""MODEL on the command line: a name from the catalogue, or a file that describes one."""

from pathlib import Path

from volvelle.catalogue import Catalogue
from volvelle.workload.families.shape import Transformer

__all__ = ["read_model"]


def read_model(model: str, catalogue: Catalogue) -> Transformer:
    """A model by name, or from a Hugging Face config.json (or the folder that holds one)."""
    if model.endswith(".json") or Path(model).is_dir():
        from volvelle.interchange.huggingface import read_config  # noqa: PLC0415 - only for files

        return read_config(Path(model))
    return catalogue.model(model)
