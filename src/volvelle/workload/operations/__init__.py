"""Kinds of operation, one a file. Each is declared by a signature; the rest is derived."""

from volvelle.workload.operations.base import (
    AbstractKind,
    Gradients,
    Operation,
    Phase,
    SplitChoice,
    Unit,
    Work,
)
from volvelle.workload.operations.contraction import Contraction
from volvelle.workload.operations.convolution import Convolution
from volvelle.workload.operations.factorisation import Factorisation
from volvelle.workload.operations.fourier import Fourier
from volvelle.workload.operations.lookup import Lookup
from volvelle.workload.operations.normalisation import Normalisation, is_loss
from volvelle.workload.operations.pointwise import Pointwise
from volvelle.workload.operations.routing import Routing
from volvelle.workload.operations.scan import Scan

__all__ = [
    "AbstractKind",
    "Contraction",
    "Convolution",
    "Factorisation",
    "Fourier",
    "Gradients",
    "Lookup",
    "Normalisation",
    "Operation",
    "Phase",
    "Pointwise",
    "Routing",
    "Scan",
    "SplitChoice",
    "Unit",
    "Work",
    "is_loss",
]
