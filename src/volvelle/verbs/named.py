"""What names stand for: a catalogue, a machine or a model may be given as it is, or by its name."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from volvelle.catalogue import Catalogue
from volvelle.catalogue.saved_file import is_yaml_name
from volvelle.errors import DescriptionError, brief
from volvelle.estimators.calibration import with_margin
from volvelle.input_limits import other_reader
from volvelle.questions.machine import Changes
from volvelle.system.cluster import Cluster
from volvelle.workload.families.shape import TRAINING_LENGTH, Transformer, training_length
from volvelle.workload.families.transformer import transformer
from volvelle.workload.graph import Workload

Folder = Catalogue | Path | str | Sequence[Path | str] | None
"""A catalogue, or folders of the user that are searched before the catalogue of the package."""
Machine = Cluster | str
"""A cluster, or its name and accelerators, like ``dgx-h100/64``."""
Model = Transformer | Path | str
"""A model, its name in the catalogue, or a Hugging Face config.json (or the folder that holds one)."""
NO_BATCH = "no batch is given; give --batch, the sequences per step: e.g. --batch 512"


def catalogue_of(given: Folder) -> Catalogue:
    """Return the catalogue to look names up in."""
    several = (given,) if given is None or isinstance(given, Catalogue | Path | str) else tuple(given)
    catalogues = [one for one in several if isinstance(one, Catalogue)]
    if catalogues:
        if len(several) > 1:
            raise DescriptionError(
                "a catalogue and something beside it are given; give the catalogue alone, or folders"
            )
        return catalogues[0]
    return Catalogue(*(Path(folder) for folder in several if folder is not None and not isinstance(folder, Catalogue)))


def cluster_of(
    given: Machine,
    catalogue: Catalogue,
    *,
    stack: str = "",
    margin: str | float | None = None,
    changes: Changes | None = None,
) -> Cluster:
    """A cluster, by name or as it is; with what a software stack makes of its chips, where one is named.

    `margin` is the share of memory that is left free, by default what its calibration says; `changes` are numbers that
    it has otherwise.
    """
    if not isinstance(given, Cluster):
        cluster: Cluster = catalogue.cluster(given, stack=stack)
    else:
        cluster = catalogue.calibrated(given, stack=stack) if stack else given
    if is_yaml_name(stack):
        from volvelle.applications.own_machine import as_calibrated  # noqa: PLC0415 - keeps start-up short

        cluster = as_calibrated(cluster, Path(stack), margin=margin)
    if changes:
        from volvelle.verbs.other_machine import changed  # noqa: PLC0415 - keeps start-up short

        named = given if isinstance(given, str) else None
        cluster = changed(cluster, changes, catalogue, named=named, stack=stack)
    return with_margin(cluster, margin)


def forward_pass(
    model: Model | Workload, known: Catalogue, sequence: int | None
) -> tuple[Transformer | None, Workload, tuple[str, ...]]:
    """Return a model's architecture, its forward pass at some length, and a note where the length is the default.

    A workload has no architecture, and its own length.
    """
    if isinstance(model, Workload):
        return None, model, ()
    shape = model_of(model, known)
    return shape, workload_of(shape, sequence), length_notes(shape, sequence)


def length_notes(shape: Transformer, sequence: int | None) -> tuple[str, ...]:
    """Return the note that the sequence length is the default; nothing where the question or the shape states one."""
    if sequence is not None or shape.sequence != training_length(shape.context):
        return ()
    why = f"the context of {shape.name}" if shape.sequence < TRAINING_LENGTH else "the default"
    return (f"no --seq given: {shape.sequence:,} tokens per sequence, {why}",)


@lru_cache(maxsize=64)
def workload_of(shape: Transformer, sequence: int | None) -> Workload:
    """The forward pass of a model, made once a shape: estimators keep what they make of it by its identity."""
    return transformer(shape, sequence=sequence)


def model_of(given: Model, catalogue: Catalogue) -> Transformer:
    """A model, by name, from its file, or as it is."""
    if isinstance(given, Transformer):
        return given
    if not str(given).strip() or (isinstance(given, str) and "\0" in given):
        raise DescriptionError(
            f"the model is {brief(given)}; name one (volvelle catalogue models), or give a Hugging Face config.json"
        )
    if isinstance(given, Path) or given.endswith(".json") or Path(given).is_dir():
        from volvelle.interchange.huggingface import read_config  # noqa: PLC0415 - only for files

        return read_config(Path(given))
    other = other_reader(given, b"") if Path(given).is_file() else ""
    if other:
        raise DescriptionError(f"{given!r} is no model's config.json: {other}")
    return catalogue.model(given)
