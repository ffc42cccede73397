"""Every application by its word; one line makes another known to all commands."""

from importlib import import_module
from typing import Any

from volvelle.applications.contract import Application
from volvelle.errors import UnknownNameError

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


def application(word: str) -> Application[Any, Any, Any, Any]:
    """An application by its word."""
    if word not in APPLICATIONS:
        raise UnknownNameError.among("application", word, APPLICATIONS)
    module, _, name = APPLICATIONS[word].partition(":")
    found = getattr(import_module(module), name)
    assert isinstance(found, Application), f"{APPLICATIONS[word]} is no application"
    return found
