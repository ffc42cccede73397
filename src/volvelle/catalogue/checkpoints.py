"""What engines load of a model: its checkpoint on the hub, by the references that figures of models were read from."""

from collections.abc import Mapping
from functools import lru_cache

from volvelle.catalogue.aliases import hub_model
from volvelle.catalogue.loader import Catalogue

_HUB = "huggingface.co/"
_WRITTEN_IN = {"deepseek-v3": "fp8-block", "gpt-oss-20b": "mxfp4", "gpt-oss-120b": "mxfp4", "kimi-k2.5": "int4"}
"""Models whose publisher has weights in a narrow format, as their model cards say; all others are in 16 bits."""


@lru_cache(maxsize=8)
def _checkpoints(catalogue: Catalogue) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for key in sorted(catalogue.references):
        place = catalogue.references[key].place.split(",")[0].split(" ")[0].removeprefix("https://")
        if place.startswith(_HUB) and place.count("/") == 2:
            name = place.removeprefix(_HUB)
            model = hub_model(name)
            # A shorter name of the same publisher is the base of one that was tuned further.
            if model is not None and len(name) < len(found.get(model, name + "-")):
                found[model] = name
    return found


def checkpoint_of(model: str, catalogue: Catalogue) -> str | None:
    """The checkpoint of a model of the catalogue; None: no reference names one."""
    return _checkpoints(catalogue).get(model)


def checkpoint_format(model: str) -> str:
    """The format of the weights of that checkpoint."""
    return _WRITTEN_IN.get(model, "bf16")
