"""Why something cannot run and what would cure it: a panel, brief lines, warnings."""

from collections.abc import Iterator, Sequence

from rich.panel import Panel
from rich.text import Text

from volvelle.estimators.result import Violation

_CURES = 2
"""That brief answers tell of each problem."""


def violations_panel(violations: Sequence[Violation], *, title: str, no_cure: str = "") -> Panel:
    """Each problem with its cures; where there is none, what is said in their place."""
    lines = violations_text(violations, style="bold", no_cure=no_cure)
    return Panel(lines, title=title, border_style="red", title_align="left")


def violations_text(violations: Sequence[Violation], *, style: str, no_cure: str = "") -> Text:
    """The same as it stands in a panel; a cure of several problems is printed once, after the last of them."""
    text = Text()
    for index, violation in enumerate(violations):
        text.append(("\n" if index else "") + violation.problem, style=style)
        later = {cure for other in violations[index + 1 :] for cure in other.cures}
        for place, cure in enumerate(cure for cure in violation.cures if cure not in later):
            text.append(f"\n  {'or: ' if place else 'fix:'} {cure}")
        if no_cure and not violation.cures and index == len(violations) - 1:
            text.append(f"\n  {no_cure}")
    return text


def brief_violations(violations: Sequence[Violation]) -> Iterator[str]:
    """Each problem on a line, with its first cures; a cure of several problems is printed once."""
    for index, violation in enumerate(violations):
        yield f"cannot run: {violation.problem}"
        later = {cure for other in violations[index + 1 :] for cure in other.cures}
        yield from (f"  fix: {cure}" for cure in violation.cures[:_CURES] if cure not in later)


def violation_warnings(violations: Sequence[Violation]) -> list[str]:
    """Each problem with its first cures, in one sentence."""
    return [f"cannot run: {'; '.join((found.problem, *_either(found.cures[:_CURES])))}" for found in violations]


def _either(cures: Sequence[str]) -> tuple[str, ...]:
    return (" or ".join(cures),) if cures else ()
