"""A calibration of one's own: a file with what one's own logs taught of a machine, used in place of a stack's name.

It says which software, chip, family and element type it is of, what it covers, and which logs it was made from. Numbers
are sealed: a file that was changed by hand is refused, one of another version of the package is used with a note.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib import import_module
from math import exp, hypot, log
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from volvelle.catalogue.own_spread import own_runs_spread, symmetric
from volvelle.catalogue.saved_file import read_saved_file, write_saved_file
from volvelle.catalogue.stacks import default_stack, software_stack, stack_named
from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.estimators.factored import CONSTANTS, FACTORED, NETWORK, WIDE
from volvelle.estimators.own_shapes import OwnRunsTold, OwnShapes
from volvelle.estimators.stack import OwnRan, Stack

_FACTOR = NumberDomain(0.01, 100.0)
_ERROR = NumberDomain(1.0, 100.0)
_TRIANGLES = tuple(count * (count + 1) // 2 for count in (len(CONSTANTS), CONSTANTS.index(NETWORK)))
"""Numbers that a covariance has: of all constants, or of those before the network was among them, which is last."""


def this_version() -> str:
    """Of the package."""
    return str(import_module("volvelle").__version__)


class UsedLog(BaseModel):
    """A log that it was made from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    tool: str
    sha256: str


class KeptLinpack(BaseModel):
    """What own runs of High-Performance Linpack say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate: float
    """Over what is predicted without them."""
    error: float
    """One standard deviation of another run, as a factor."""
    runs: int
    note: str


class KeptRan(BaseModel):
    """What a run of one's own needed of a chip's memory by prediction: it ran, so that fits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: str
    """File and line."""
    needed: float
    """Bytes on the fullest rank; more than there are, where prediction is too high."""
    capacity: float
    """Bytes of the chip."""


_OF_A_RUN = ("rows", "width", "tensor", "left", "noise")


def _kept(numbers: Iterable[float]) -> list[float]:
    """With as many digits as are worth keeping."""
    return [float(f"{number:.6g}") for number in numbers]


class KeptShape(BaseModel):
    """A run of one's own, by the shape of its products: rows of a micro-batch, width, tensor ranks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: float
    width: float
    tensor: float
    left: float
    """ln(measured / predicted) with the constants of the file."""
    noise: float
    """One standard deviation of it that nothing explains."""
    slopes: list[float]
    """Of ln(time) in the logarithms of constants."""


class KeptRuns(BaseModel):
    """What own runs leave open of a step, one standard deviation each, as logarithms."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    covariance: list[float]
    """Of the constants: the upper triangle, row by row."""
    scatter: float
    """Of a run around what constants and shapes say."""
    shape: float
    """Of what a chip takes for products of one shape, beside those of others."""
    reach: float
    """Doublings of a shape within which that is alike."""
    network: float = 0.0
    """Of what a run waits for the network, by itself; 0: a file of before this was kept."""
    freedom: float
    """Of Student's distribution that all this is of."""
    stretch: float
    """By what ranges are wider than that says."""
    inflation: float
    """Of variances, by how far own runs lie from what was believed of them."""
    shapes: list[KeptShape]

    @classmethod
    def of(cls, told: OwnRunsTold) -> "KeptRuns":
        """With as many digits as are worth keeping."""
        known, triangle = told.shapes, np.triu_indices(len(told.covariance))
        columns = (*(2.0**known.shapes).T, known.left, known.noise)
        return cls(
            covariance=_kept(told.covariance[triangle]),
            scatter=float(f"{told.scatter:.6g}"),
            shape=float(f"{known.spread:.6g}"),
            reach=known.reach,
            network=float(f"{told.network:.6g}"),
            freedom=told.freedom,
            stretch=told.stretch,
            inflation=float(f"{told.inflation:.6g}"),
            shapes=[
                KeptShape(**dict(zip(_OF_A_RUN, _kept(row), strict=True)), slopes=_kept(slopes))
                for *row, slopes in zip(*columns, known.slopes, strict=True)
            ],
        )

    def told(self, *, beside: float) -> OwnRunsTold:
        """As estimators take it; `beside` is one standard deviation of what is not of these runs."""
        rows = np.array([[getattr(one, name) for name in _OF_A_RUN] for one in self.shapes]).reshape(-1, len(_OF_A_RUN))
        known = symmetric(self.covariance)
        slopes = np.array([one.slopes for one in self.shapes]).reshape(-1, len(known))
        more = (0, len(CONSTANTS) - len(known))
        return OwnRunsTold(
            covariance=np.pad(known, more),
            scatter=self.scatter,
            network=self.network,
            freedom=self.freedom,
            stretch=self.stretch,
            inflation=self.inflation,
            beside=beside,
            shapes=OwnShapes(
                shapes=np.log2(rows[:, :3]),
                slopes=np.pad(slopes, ((0, 0), more)),
                left=rows[:, 3],
                noise=rows[:, 4],
                spread=self.shape,
                reach=self.reach,
            ),
        )


class OwnCalibration(BaseModel):
    """What such a file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    """Of the package that wrote it."""
    chip: str
    family: str
    element: str
    stack: str
    runs: int
    """Training runs behind the constants."""
    covers: dict[str, Any] = {}
    """Models, chips, batches and sequences of those runs."""
    constants: dict[str, float] = {}
    """Factors on the constants that the stack has."""
    error: float | None = None
    """One standard deviation of any run on the machine, as a factor."""
    told: KeptRuns | None = None
    """What is left open of a very step; None: not known, the same of any."""
    links: dict[str, dict[str, float]] = {}
    """Link → its constants."""
    power: float | None = None
    """Watts of a busy chip."""
    memory: float | None = None
    """What chips reserve over what is predicted."""
    memory_error: float | None = None
    """How far that may be off of another layout, one standard deviation as a factor; None: as without own runs."""
    ran: list[KeptRan] = []
    """What is known to fit; nothing: a file of benchmarks, or of before this was kept."""
    linpack: KeptLinpack | None = None
    report: dict[str, float] = {}
    """Errors of own runs, each left out: before and after."""
    logs: list[UsedLog]
    seal: str = ""

    def sealed(self) -> "OwnCalibration":
        """With a seal over all that it says."""
        return self.model_copy(update={"seal": self._seal()})

    def _seal(self) -> str:
        # What has no runs of Linpack is sealed as before there were any, and so is what else came later.
        empty = {name for name in ("linpack", "told", "ran", "memory_error") if not getattr(self, name)}
        said = self.model_dump(exclude={"seal", *empty})
        if self.told is not None and not self.told.network:
            said["told"].pop("network")
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def untouched(self) -> bool:
        """Whether it says what was written."""
        return self.seal == self._seal()


def read_calibration(path: Path) -> OwnCalibration:
    """The file, if it is as it was written."""
    file = read_saved_file(
        path,
        OwnCalibration,
        made_by="volvelle calibrate from LOG --on SYSTEM",
        looks="a calibration is as volvelle calibrate from --save writes it",
    )
    if not file.untouched:
        raise DescriptionError(
            f"{path.name} is not as it was written: its numbers do not belong to its seal; make it again with "
            f"volvelle calibrate from, or change numbers of a machine with --set"
        )
    for name, value in file.constants.items():
        if name not in CONSTANTS:
            raise DescriptionError(f"{path.name}: constants has no {name!r}; it has {', '.join(CONSTANTS)}")
        _FACTOR.check(value, f"{path.name}: constants.{name}")
    if file.linpack is not None:
        _FACTOR.check(file.linpack.rate, f"{path.name}: linpack.rate")
        _ERROR.check(file.linpack.error, f"{path.name}: linpack.error")
    for name in ("error", "memory_error"):
        if (value := getattr(file, name)) is not None:
            _ERROR.check(value, f"{path.name}: {name}")
    for one in file.ran:
        _FACTOR.check(one.needed / max(one.capacity, 1.0), f"{path.name}: ran: needed / capacity of {one.run}")
    if file.told is not None and len(file.told.covariance) not in _TRIANGLES:
        raise DescriptionError(
            f"{path.name}: told.covariance has {len(file.told.covariance)} numbers, and constants need "
            f"{_TRIANGLES[0]}; make it again with volvelle calibrate from"
        )
    if stack_named(file.stack) is None and file.stack:
        raise DescriptionError(f"{path.name} is of the software {file.stack!r}, which is not known here; make it again")
    return file


def write_calibration(file: OwnCalibration, path: Path) -> None:
    """Write it, sealed."""
    write_saved_file(
        file.sealed(),
        path,
        says="What runs of one's own taught of a machine: volvelle estimate … --calibrated THIS-FILE",
    )


def own_stack(path: str, *, chip: str, family: str) -> Stack:
    """The software of a file as its runs have it, on a chip of the family that they ran on."""
    file = read_calibration(Path(path))
    if family != file.family:
        raise DescriptionError(
            f"{Path(path).name} is of {file.chip} ({file.family}), and the machine has {chip} ({family}): what was "
            f"learned on one family of chips is not carried over to another; leave out --calibrated"
        )
    base = software_stack(file.stack) if file.stack else default_stack(family) or Stack(name="")
    kinds = file.covers.get("mixtures") or []
    # Wider on another chip of the family.
    beside = own_runs_spread().transfer if chip != file.chip else 0.0
    return replace(
        base,
        own_chips=max(file.covers.get("chips") or [0]) or None,
        own_mixture=bool(kinds[0]) if len(kinds) == 1 else None,
        own_unpriced=tuple(file.covers.get("unpriced") or ()),
        factors={**base.factors, **_factors(file, base)},
        own_errors={} if file.error is None else {(family, file.element): exp(hypot(log(file.error), beside))},
        own_runs=None if file.told is None else partial(file.told.told, beside=beside),
        own_ran={}
        if not file.ran or chip != file.chip
        else {(family, file.element): tuple(OwnRan(**one.model_dump()) for one in file.ran)},
    )


def _factors(file: OwnCalibration, base: Stack) -> Mapping[tuple[str, str, str], float]:
    found = {
        (file.family, file.element, name): float(base.factor(name, file.family, file.element)) * factor
        for name, factor in file.constants.items()
        if name != WIDE
    }
    if WIDE in file.constants:
        key = (file.family, "bf16", FACTORED[0])
        found[key] = float(base.factor(FACTORED[0], file.family, "bf16")) * file.constants[WIDE]
    return found


def calibration_notes(file: OwnCalibration, name: str, *, chip: str, chips: int, version: str) -> tuple[str, ...]:
    """What is to be said of a machine that is asked about with it."""
    runs = f"{file.runs} own run{'' if file.runs == 1 else 's'}"
    found = [f"calibrated by {name}: {runs} of {file.stack or 'any software'} on {file.chip}, {file.element}"]
    if chip != file.chip:
        found.append(f"{name} is of {file.chip} and carried over to {chip}: the range is wider for it")
    least, most = (file.covers.get("chips") or [chips, chips])[:2]
    if not least <= chips <= most:
        found.append(
            f"own runs had {least} to {most} chips, not {chips}: beyond them constants are the same by assumption"
        )
    if version != file.version:
        found.append(f"{name} was written by version {file.version}, and this is {version}: make it again when you can")
    return tuple(found)
