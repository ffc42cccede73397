"""Every application by its word; one line makes another known to all commands."""

from importlib import import_module
from typing import TYPE_CHECKING

from volvelle.errors import UnknownNameError

if TYPE_CHECKING:
    from volvelle.applications.contract import AnyApplication

APPLICATIONS: dict[str, str] = {
    "acceptance": "volvelle.applications.acceptance.application:ACCEPTANCE",
    "collectives": "volvelle.applications.collectives.application:COLLECTIVES",
    "dlrm": "volvelle.applications.dlrm.application:DLRM",
    "fft": "volvelle.applications.fft.application:FFT",
    "hpcg": "volvelle.applications.hpcg.application:HPCG",
    "hpl": "volvelle.applications.hpl.application:HPL",
    "hpl-mxp": "volvelle.applications.hpl_mxp.application:HPL_MXP",
    "kernels": "volvelle.applications.kernels.application:KERNELS",
    "layouts": "volvelle.applications.training.application:LAYOUTS",
    "memory": "volvelle.applications.memory.application:MEMORY",
    "serving": "volvelle.applications.serving.application:SERVING",
    "stencil": "volvelle.applications.stencil.application:STENCIL",
    "training": "volvelle.applications.training.application:TRAINING",
}
"""Word → module and name; a module is loaded when its word is used, so that commands start fast."""

SHIPPED = frozenset(APPLICATIONS)
"""Applications of the package; others are added by third parties."""


def application(word: str) -> "AnyApplication":
    """Return an application by its word."""
    from volvelle.applications.contract import Application  # noqa: PLC0415 - names alone load nothing

    if word not in APPLICATIONS:
        raise UnknownNameError.among("application", word, APPLICATIONS)
    module, _, name = APPLICATIONS[word].partition(":")
    found = getattr(import_module(module), name)
    assert isinstance(found, Application), f"{APPLICATIONS[word]} is no application"
    return found
