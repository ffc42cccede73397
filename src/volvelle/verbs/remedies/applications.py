"""Plans of applications, with the changes of a question that make a plan possible where none is."""

import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from volvelle.applications.contract import AnyApplication, Option, Planned
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, MappingError, OutsideDomainError
from volvelle.estimators.contract import Ranking
from volvelle.verbs.remedies.tried import first_of_each, larger_machines, smaller_machines

_SECONDS = 4.0
"""Seconds after which no further change is tried."""
_MOST = 4
"""Remedies that are offered."""


def planned(
    application: AnyApplication,
    system: str,
    catalogue: Catalogue,
    options: Mapping[str, Any],
    *,
    top: int,
    folder: Path | None = None,
) -> Planned[Any, Any, Any]:
    """Return the plan of an application; where nothing can run, with the remedies that were tried and work.

    The violations of a plan that cannot run name the remedies. An error of a question that has no plan ends in them.
    `folder` is the catalogue folder that the question named, for remedies that are whole commands.
    """
    asked = _Asked(application=application, system=system, catalogue=catalogue, options=options, folder=folder)
    try:
        found = asked.plan(top=top)
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
    system: str
    catalogue: Catalogue
    options: Mapping[str, Any]
    folder: Path | None = None
    typed: str = ""
    """The change that made this question of another: options, or the whole command where an argument changes."""

    def plan(self, *, top: int) -> Planned[Any, Any, Any]:
        """Return the candidates in order."""
        asked = self.application.space(self.catalogue.cluster(self.system), self.catalogue, **self.options)
        start = time.perf_counter()
        ranking = self.application.planner(asked).rank(asked.candidates, asked.system, top=top)
        return Planned(asked=asked, ranking=ranking, seconds=time.perf_counter() - start)

    def runs(self) -> bool:
        """Return whether any candidate can run; other counts of accelerators are not looked at."""
        return bool(replace(self, options={**self.options, "scaling": False}).plan(top=1).ranking.best)

    def remedies(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the changes that work; `names` are those of the violations, empty where the question was an error."""
        found = first_of_each(self._groups(names), _Asked.runs, seconds=_SECONDS)
        return tuple(dict.fromkeys(islice((one.typed for one in found), _MOST)))

    def _groups(self, names: Sequence[str]) -> Iterator[Iterable["_Asked"]]:
        """Yield groups of changed questions, of each of which the first that works is offered."""
        application, accelerators = self.application, self.catalogue.cluster(self.system).accelerators
        for option in _given(application, self.options):
            yield [self._changed({option.name: _unset(option)})]
        if not names or "memory" in names:
            yield map(self._on, larger_machines(self.system, accelerators))
        if "memory" not in names:
            yield map(self._on, smaller_machines(self.system, accelerators))
        for group in application.changes(names, **self.options):
            yield map(self._changed, group)

    def _on(self, machine: str) -> "_Asked":
        return replace(self, system=machine, typed=f"--on {machine}")

    def _changed(self, other: Mapping[str, Any]) -> "_Asked":
        changed = replace(self, options={**self.options, **other})
        by_name = {option.name: option for option in self.application.plan_options}
        if not all(by_name[name].flag.startswith("-") for name in other):
            return replace(changed, typed=changed._command())
        words = []
        for name, value in other.items():
            option = by_name[name]
            left_out = value == _unset(option)
            typed = shlex.join(_words(option, self.options[name] if left_out else value))
            words.append(f"without {typed}" if left_out else typed)
        return replace(changed, typed=" ".join(words))

    def _command(self) -> str:
        """Return the whole command."""
        own = self.application.plan_options
        arguments = [str(self.options[option.name]) for option in own if not option.flag.startswith("-")]
        given = [word for option in _given(self.application, self.options, files=True) for word in self._words(option)]
        folder = [] if self.folder is None else ["--catalogue", str(self.folder)]
        return shlex.join(["volvelle", "plan", self.application.word, *arguments, "--on", self.system, *given, *folder])

    def _words(self, option: Option) -> list[str]:
        return _words(option, self.options[option.name])


def _given(application: AnyApplication, options: Mapping[str, Any], *, files: bool = False) -> Iterator[Option]:
    """Yield the options that were given; without `files` those whose value is no file."""
    for option in application.plan_options:
        file = option.kind is Path or option.flag == "--runs"
        given = option.flag.startswith("-") and options.get(option.name) not in (None, _unset(option))
        if given and (files or not file):
            yield option


def _unset(option: Option) -> Any:
    """Return the value of an option that is left out."""
    if option.multiple:
        return ()
    return False if option.kind is bool else option.default


def _words(option: Option, value: Any) -> list[str]:
    """Return one option with its value as words of a command line."""
    if option.kind is bool:
        return [option.flag]
    values = value if option.multiple else (value,)
    return [word for one in values for word in (option.flag, str(one))]
