"""Reads the phases of a run from YAML: tokens of each, and what differs from the rest of the question.

phases:
  - {tokens: 14.2T, sequence: 8192, batch: 2048, layout: tp8 pp16}
  - {name: long context, tokens: 800B, sequence: 131072, batch: 128, layout: tp8 cp16 pp16}
  - {name: annealing, tokens: 40B, step: 6.3 s}
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from volvelle.domains import SEQUENCES, STEP_TIME, TOKENS, WIDTH
from volvelle.interchange.workload_form import Closed, in_domain
from volvelle.interchange.yaml_file import read_form


class PhaseForm(Closed):
    """Tokens that are trained on at one pace."""

    name: str = ""
    tokens: Annotated[float, in_domain(TOKENS, "tokens"), TOKENS]
    batch: Annotated[int, SEQUENCES] | None = None
    """None: as asked for the whole run, as of all below."""
    sequence: Annotated[int, WIDTH] | None = None
    layout: str = ""
    """In words, such as ``tp8 pp16 zero1``."""
    step: Annotated[float, in_domain(STEP_TIME, "step"), STEP_TIME] | None = None
    """As measured; None: as estimated."""
    element: str = ""


class PhasesForm(Closed):
    """All of them, in their order."""

    phases: tuple[PhaseForm, ...] = Field(min_length=1)


def read_phases_form(source: Path | Sequence[Mapping[str, object]]) -> tuple[PhaseForm, ...]:
    """Phases of a file, or as they are given."""
    written = source if isinstance(source, Path) else {"phases": [dict(phase) for phase in source]}
    return read_form(written, PhasesForm, what="run's phases", examples="docs/how-to").phases
