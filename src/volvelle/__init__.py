"""A working model of big machines: what is computed, where, how it is laid out — and what comes of it.

>>> import volvelle
>>> answer = volvelle.estimate("gpt3-175b", on="dgx-a100/1024", batch=1536, tensor=8, pipeline=8)
>>> answer.estimate.feasible
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from volvelle.surface import *  # noqa: F403 - declared once, there
    from volvelle.surface import __all__ as __all__

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """A name of the public surface, loaded when first asked for: the command starts without what it does not use."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name == "catalogue":  # a room with a public name of its own
        return import_module("volvelle.catalogue")
    surface = import_module("volvelle.surface")
    if name == "__all__" or name in surface.__all__:
        return getattr(surface, name)
    from volvelle.errors import UnknownNameError  # noqa: PLC0415 - only when there is something to say

    raise AttributeError(str(UnknownNameError.among("name in volvelle", name, surface.__all__)), name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("volvelle.surface").__all__})
