"""Plans of applications, with the changes of a question that make a plan possible where none is."""

import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from volvelle.applications.contract import AnyApplication, Planned
from volvelle.base.question import Option
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError
from volvelle.estimators.contract import Ranking
from volvelle.questions.applications import OWN_REPORTS, PlanApplicationQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import catalogue_of
from volvelle.verbs.remedies.tried import first_of_each, larger_machines, smaller_machines

_SECONDS = 4.0
"""Seconds after which no further change is tried."""
_MOST = 4
"""Remedies that are offered."""
_SHARED = {part.name for part in PlanApplicationQuestion.options()}
"""Fields that every application has."""


def planned(application: AnyApplication, question: PlanApplicationQuestion) -> Planned[Any, Any, Any]:
    """Return the plan of an application; where nothing can run, with the remedies that were tried and work.

    The violations of a plan that cannot run name the remedies. An error of a question that has no plan ends in them.
    """
    asked = _Asked(application=application, question=question, catalogue=catalogue_of(question.catalogue))
    try:
        found = asked.plan()
    except (MappingError, OutsideDomainError) as error:
        raise _with_remedies(error, asked.remedies()) from None
    except DescriptionError as error:
        if type(error) is not DescriptionError:
            raise  # a name or a unit that does not exist: the message lists those that do
        raise _with_remedies(error, asked.remedies()) from None
    if found.ranking.best:
        return found
    first, *others = found.ranking.refused
    remedies = asked.remedies([violation.name for violation in first.violations])
    first = replace(first, violations=tuple(replace(one, cures=remedies) for one in first.violations))
    ranking: Ranking[Any, Any] = replace(found.ranking, refused=(first, *others))
    return replace(found, ranking=ranking)


def _with_remedies(
    error: MappingError | OutsideDomainError | DescriptionError, remedies: Sequence[str]
) -> MappingError | OutsideDomainError | DescriptionError:
    """Return an error that ends in the changes that work; unchanged where none does."""
    return type(error)(f"{error}; {' or '.join(remedies)}") if remedies else error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question to the command ``plan APPLICATION``."""

    application: AnyApplication
    question: PlanApplicationQuestion
    catalogue: Catalogue
    typed: str = ""
    """The change that made this question of another: options, or the whole command where an argument changes."""

    @property
    def system(self) -> Cluster:
        """The machine."""
        on = self.question.on
        return on if isinstance(on, Cluster) else self.catalogue.cluster(on)

    def plan(self) -> Planned[Any, Any, Any]:
        """Return the candidates in order."""
        asked = self.application.space(self.system, self.catalogue, self.question)
        start = time.perf_counter()
        ranking = self.application.planner(asked).rank(asked.candidates, asked.system, top=self.question.top)
        return Planned(asked=asked, ranking=ranking, seconds=time.perf_counter() - start)

    def runs(self) -> bool:
        """Return whether any candidate can run; other counts of accelerators are not looked at."""
        return bool(replace(self, question=self.question.changed(scaling=False, top=1)).plan().ranking.best)

    def remedies(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the changes that work; `names` are those of the violations, empty where the question was an error."""
        found = first_of_each(self._groups(names), _Asked.runs, seconds=_SECONDS)
        return tuple(dict.fromkeys(islice((one.typed for one in found), _MOST)))

    def _groups(self, names: Sequence[str]) -> Iterator[Iterable["_Asked"]]:
        """Yield groups of changed questions, of each of which the first that works is offered."""
        machine, accelerators = self.system.name, self.system.accelerators
        for part in _given(self.question):
            yield [self._changed({part.name: part.default})]
        if not names or "memory" in names:
            yield map(self._on, larger_machines(machine, accelerators))
        if "memory" not in names:
            yield map(self._on, smaller_machines(machine, accelerators))
        for group in self.application.changes(names, self.question):
            yield map(self._changed, group)

    def _on(self, machine: str) -> "_Asked":
        question = self.question.changed(on=machine)
        return replace(self, question=question, typed=_words(type(question).option_named("on"), machine))

    def _changed(self, other: Mapping[str, Any]) -> "_Asked":
        question = self.question.changed(**other)
        parts = [type(question).option_named(name) for name in other]
        if any(part.is_argument for part in parts):
            return replace(self, question=question, typed=question.command)
        words = []
        for part, value in zip(parts, other.values(), strict=True):
            left_out = value == part.default
            typed = _words(part, getattr(self.question, part.name) if left_out else value)
            words.append(f"without {typed}" if left_out else typed)
        return replace(self, question=question, typed=" ".join(words))


def _given(question: PlanApplicationQuestion) -> Iterator[Option]:
    """Yield the application's options that were given, as they are declared, without arguments and files."""
    given = {part.name: part for part, _ in question.given() if part.name not in _SHARED and not part.is_argument}
    for declared in fields(question):
        part = given.get(declared.name)
        if part is not None and not (part.writes or part.reads_file or part.flag == OWN_REPORTS.flag):
            yield part


def _words(part: Option, value: Any) -> str:
    """Return an option with its value as it is typed."""
    return shlex.join(part.typed(value))
