"""A design space: every point evaluated, then the best, the front, and why; or what meets a requirement."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from volvelle.base.python_function import ask, asks
from volvelle.errors import DescriptionError
from volvelle.questions.explore import ExploreQuestion
from volvelle.studies.answers.answers import Answers, answer
from volvelle.studies.answers.invert import Inversion, invert
from volvelle.studies.design_space.accounts import Accounts
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.sweep.chunk import Forecast, forecast
from volvelle.studies.sweep.local import cores, run_local
from volvelle.studies.sweep.manifest import Results, open_results
from volvelle.studies.sweep.query import check_engines
from volvelle.verbs.named import catalogue_of
from volvelle.verbs.other_machine import numbers_of

_SHORT = 5.0
"""Seconds of a study that no other process is started for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """A study before it runs: what it will take."""

    question: ExploreQuestion
    study: DesignStudy
    forecast: Forecast
    cores: int

    @property
    def compiled(self) -> bool:
        """Whether the model is compiled first."""
        return self.question.compiled

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


@asks(ExploreQuestion)
def outlook(question: ExploreQuestion) -> Outlook:
    """Return the size of a study, and the time that it takes by a trial of a few of its points.

    `on`, `stack` and `margin` replace what the study states. `set` changes fields of its machine
    (``{"scale_up.rate": "2x"}``).
    """
    study = question.study
    if not isinstance(study, DesignStudy):
        source = Path(study) if isinstance(study, str) else study
        folders = catalogue_of(question.catalogue).own_folders
        study = read_study(source, folders=tuple(map(Path, folders)))
    on, software = question.on, question.software
    said: dict[str, Any] = {
        name: value
        for name, value in (("system", on), ("stack", software), ("margin", question.margin))
        if value not in ("", None)
    }
    if on and (study.published is not None or "system" in study.form.axes):
        raise DescriptionError(f"the study {study.form.name!r} states its machines; leave --on out")
    if on:
        study = replace(study, form=study.form.model_copy(update=said))
    if question.set:
        numbers = numbers_of(study.base, question.set)
        said["set"] = {**study.form.set, **{path: _with_unit(path, value, study) for path, value in numbers.items()}}
    if said:
        study = replace(study, form=study.form.model_copy(update=said))
    Accounts(study).check()
    expected = forecast(study, compiled=question.compiled)
    return Outlook(question=question, study=study, forecast=expected, cores=question.workers or cores())


def _with_unit(path: str, value: float, study: DesignStudy) -> str | float:
    """Return a number in SI units as a study states it: with its unit, if it has one."""
    kind = study.kind_of(path)
    return value if kind is None else f"{value!r} {next(unit for unit, size in kind.units.items() if size == 1.0)}"


def sweep(
    ahead: Outlook,
    *,
    advance: Callable[[int], None] = lambda rows: None,
    told: Callable[[str], None] = lambda text: None,
) -> Sweep:
    """Evaluate every point that is not yet in the folder of results.

    `advance` is called with the points that are done, first with the points of an earlier run; `told` with notes.
    """
    question, study, count = ahead.question, ahead.study, ahead.cores
    check_engines()
    results = open_results(
        Path(question.out or f"{study.form.name}.results"),
        study,
        chunk=question.chunk or ahead.forecast.chunk(count),
        fresh=question.fresh,
    )
    for text in results.told:
        told(text)
    begun = time.perf_counter()
    advance(sum(shard.rows for shard in results.finished().values()))
    try:
        if question.ray is None:
            rows = run_local(results, workers=count, compiled=question.compiled, advance=advance, told=told)
        else:
            from volvelle.studies.sweep.on_ray import run_on_ray  # noqa: PLC0415 - an extra

            rows = run_on_ray(
                results, address=question.ray or None, compiled=question.compiled, advance=advance, told=told
            )
    except BaseException:
        results.give_up()
        raise
    return Sweep(study=study, results=results, rows=rows, seconds=time.perf_counter() - begun)


@asks(ExploreQuestion)
def explore(question: ExploreQuestion) -> Answers:
    """Return the answers of a study after every point is evaluated: the best, the front, what limits and what pays.

    `study` is the file of a study, or its fields. Results stay in the folder `out` (by default the study's name), and
    are not computed twice. A study of a few seconds runs in this process, unless `workers` states how many to start.
    """
    ahead = ask(outlook, question)
    if question.workers is None and ahead.forecast.seconds(1) < _SHORT:
        ahead = replace(ahead, cores=1)
    return sweep(ahead).answers()
