"""A design space: every point evaluated, then the best, the front, and why; or what meets a requirement."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from volvelle.domains import MARGIN, PROCESSES, SEQUENCES, within_domains
from volvelle.errors import DescriptionError
from volvelle.questions.machine import Changes
from volvelle.studies.answers.answers import Answers, answer
from volvelle.studies.answers.invert import Inversion, invert
from volvelle.studies.design_space.accounts import Accounts
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.sweep.chunk import Forecast, forecast
from volvelle.studies.sweep.local import cores, run_local
from volvelle.studies.sweep.manifest import Results, open_results
from volvelle.studies.sweep.query import check_engines
from volvelle.verbs.other_machine import numbers_of

Study = Path | str | Mapping[str, object] | DesignStudy
"""A study, its file, or its fields."""


_SHORT = 5.0
"""Seconds of a study that no other process is started for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """A study before it runs: what it will take."""

    study: DesignStudy
    forecast: Forecast
    cores: int
    compiled: bool

    @property
    def seconds(self) -> float:
        """The time it will take."""
        return self.forecast.seconds(self.cores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A study whose points are all evaluated."""

    study: DesignStudy
    results: Results
    rows: int
    """Points evaluated now; those of an earlier run are not evaluated again."""
    seconds: float
    """What that took."""

    def answers(self) -> Answers:
        """The best design, the front, what limits it, what matters and what pays."""
        return answer(self.results, self.study, seconds=self.seconds if self.rows else None)

    def invert(self, requirement: str) -> Inversion:
        """The best design that meets a requirement, like ``days<=30 and usd minimal``."""
        return invert(self.results, self.study, requirement)


@within_domains
def outlook(
    study: Study,
    *,
    workers: Annotated[int | None, PROCESSES] = None,
    compiled: bool = False,
    on: str = "",
    stack: str = "",
    margin: Annotated[str | float | None, MARGIN] = None,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Path | None = None,
) -> Outlook:
    """The size of a study and the time it will take on so many processes (all cores), from a few of its points.

    `on` is the machine that axes start from, `stack` the software that trains and `margin` the share of memory left
    free, by default what the study says; `set` gives numbers of its machine other values (``{"scale_up.rate": "2x"}``).
    """
    if not isinstance(study, DesignStudy):
        source = Path(study) if isinstance(study, str) else study
        study = read_study(source, folders=(catalogue,) if catalogue else ())
    said: dict[str, Any] = {
        name: value for name, value in (("system", on), ("stack", stack), ("margin", margin)) if value not in ("", None)
    }
    if on and (study.published is not None or "system" in study.form.axes):
        raise DescriptionError(f"the study {study.form.name!r} says itself which machines it is of; leave --on away")
    if on:
        study = replace(study, form=study.form.model_copy(update=said))
    if set:
        said["set"] = {**study.form.set, **numbers_of(study.base, set)}
    if said:
        study = replace(study, form=study.form.model_copy(update=said))
    Accounts(study).check()
    expected = forecast(study, compiled=compiled)
    return Outlook(study=study, forecast=expected, cores=workers or cores(), compiled=compiled)


@within_domains
def sweep(
    ahead: Outlook,
    *,
    out: Path,
    ray: str | None = None,
    fresh: bool = False,
    chunk: Annotated[int | None, SEQUENCES] = None,
    advance: Callable[[int], None] = lambda rows: None,
    told: Callable[[str], None] = lambda text: None,
) -> Sweep:
    """Evaluate every point that is not yet in the folder `out`.

    `ray` is the address of a Ray cluster, empty for the one on this machine. `advance` is called with the points that
    are done, first with those of an earlier run; `told` with what is worth knowing.
    """
    study, count, compiled = ahead.study, ahead.cores, ahead.compiled
    check_engines()
    results = open_results(out, study, chunk=chunk or ahead.forecast.chunk(count), fresh=fresh)
    for text in results.told:
        told(text)
    begun = time.perf_counter()
    advance(sum(shard.rows for shard in results.finished().values()))
    try:
        if ray is None:
            rows = run_local(results, workers=count, compiled=compiled, advance=advance, told=told)
        else:
            from volvelle.studies.sweep.on_ray import run_on_ray  # noqa: PLC0415 - an extra

            rows = run_on_ray(results, address=ray or None, compiled=compiled, advance=advance, told=told)
    except BaseException:
        results.give_up()
        raise
    return Sweep(study=study, results=results, rows=rows, seconds=time.perf_counter() - begun)


@within_domains
def explore(
    study: Study,
    *,
    out: Path | str | None = None,
    workers: Annotated[int | None, PROCESSES] = None,
    ray: str | None = None,
    compiled: bool = False,
    fresh: bool = False,
    catalogue: Path | None = None,
) -> Answers:
    """Evaluate every point of a design space, and answer: the best, the front, what limits it, what matters, what pays.

    Results stay in the folder `out` (the study's name), and are not computed twice. A study of a few seconds
    runs in this process, unless `workers` says how many others to start.
    """
    ahead = outlook(study, workers=workers, compiled=compiled, catalogue=catalogue)
    if workers is None and ahead.forecast.seconds(1) < _SHORT:
        ahead = replace(ahead, cores=1)
    return sweep(ahead, out=Path(out or f"{ahead.study.form.name}.results"), ray=ray, fresh=fresh).answers()
