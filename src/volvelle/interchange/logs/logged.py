"""What logs say, whichever tool wrote them: runs of steps, collectives, matrix products, Linpack and HPCG.

Every value keeps the line it was read from. What looked like a measurement and is none is kept too, with its line and
the reason; lines of other kinds are counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from volvelle.interchange.logs.steady import SteadySteps

STEP, SAMPLE, TOKEN = "step", "sample", "token a chip"
"""What a run's times are seconds of."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that looked like a measurement, and why it is not taken."""

    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedStep:
    """One line of a training run: a step, or the mean of several."""

    line: int
    step: int
    seconds: float
    """Per what the run says."""
    batch: int | None = None
    """Sequences, where the line says them."""
    power: float | None = None
    """Watts a chip."""
    flop_rate: float | None = None
    """FLOP per second and chip as printed. Tools count differently, so it only serves as a check."""
    memory: float | None = None
    """Bytes that were reserved on a chip at most."""
    clock: float | None = None
    """Seconds since some moment, where the line has a time."""
    beside: str = ""
    """What else was done since the line before: a checkpoint, an evaluation. Such a line is no steady step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRun:
    """A training run: its steps, what of them is steady, and what the log says of its setting."""

    file: str
    tool: str
    first_line: int
    last_line: int
    per: str = STEP
    """What times are seconds of: a step, a sample, or a token that one chip takes part in."""
    steps: tuple[LoggedStep, ...]
    steady: SteadySteps | None
    """None: no line of it is of a steady step."""
    whole_run: bool = False
    """The time is a mean over a whole run, its start included: the weakest evidence there is."""
    batch: int | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What the log says of the run, by the tool's own names."""
    warnings: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.file}, lines {self.first_line} to {self.last_line}"

    @property
    def power(self) -> float | None:
        """Watts a chip in the steady steps, the middle one of those that say it."""
        return _middle([step.power for step in self.steady_steps])

    @property
    def flop_rate(self) -> float | None:
        """FLOP per second and chip as printed in the steady steps, the middle one of those that print it."""
        return _middle([step.flop_rate for step in self.steady_steps])

    @property
    def memory(self) -> float | None:
        """Most bytes that a chip reserved."""
        return max((step.memory for step in self.steps if step.memory), default=None)

    @property
    def steady_steps(self) -> tuple[LoggedStep, ...]:
        """Those the statistics are of."""
        kept = () if self.steady is None else self.steady.lines
        return tuple(step for step in self.steps if step.line in kept)


def _middle(values: list[float | None]) -> float | None:
    known = sorted(value for value in values if value is not None)
    return known[len(known) // 2] if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCollective:
    """One timed collective."""

    line: int
    operation: str
    """all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce or send_recv."""
    size: int
    """Bytes of the whole array."""
    seconds: float
    ranks: int | None
    """None: neither said nor told by the rates."""
    nodes: int | None = None
    device: str = ""
    """What the log calls the chips."""
    element: str = ""
    in_place: bool = False
    bus_rate: float
    """Bytes per second, as printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedGemm:
    """One timed matrix product."""

    line: int
    m: int
    n: int
    k: int
    batch: int = 1
    element: str | None = None
    """None: the log does not say it."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedLinpack:
    """One run of Linpack that passed its check."""

    line: int
    n: int
    nb: int
    p: int
    q: int
    seconds: float
    flop_rate: float
    """FLOP per second, as printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedGradients:
    """One run of HPCG that the benchmark itself calls valid."""

    line: int
    ranks: int | None
    """None: the excerpt does not say them."""
    grid: tuple[int, ...] | None
    """Points along x, y and z that each rank has."""
    flop_rate: float
    """FLOP per second, the rating as printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """All that was read from one file."""

    file: str
    tool: str
    digest: str
    """SHA-256 of the file."""
    runs: tuple[LoggedRun, ...] = ()
    collectives: tuple[LoggedCollective, ...] = ()
    gemms: tuple[LoggedGemm, ...] = ()
    linpack: tuple[LoggedLinpack, ...] = ()
    gradients: tuple[LoggedGradients, ...] = ()
    refused: tuple[Refused, ...] = ()
    warnings: tuple[str, ...] = ()
    lines: int = 0
    """Lines of the file."""

    @property
    def measurements(self) -> int:
        """How many were taken."""
        found = (self.runs, self.collectives, self.gemms, self.linpack, self.gradients)
        return sum(map(len, found))
