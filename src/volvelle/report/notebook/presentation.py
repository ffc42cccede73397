"""Answers as notebooks show them: which module knows how an answer looks, and the four ways to show it.

An answer is known by the name of its class, so that showing one loads what that one needs and no more.
"""

import json
from importlib import import_module
from typing import Any

from volvelle.report.documents.document import json_text
from volvelle.report.notebook.shown import Presentation

_ROOM = "volvelle.report.notebook"
PRESENTATIONS: dict[str, str] = {
    "volvelle.studies.answers.answers.Answers": "explore:ANSWERS",
    "volvelle.studies.answers.invert.Inversion": "explore:INVERSION",
    "volvelle.verbs.collective.ask.CollectiveAnswer": "collective:COLLECTIVE",
    "volvelle.verbs.compare.Comparison": "compare:COMPARISON",
    "volvelle.verbs.cost.Account": "cost:ACCOUNT",
    "volvelle.verbs.crosscheck.answers.CrossCheck": "crosscheck:CROSSCHECK",
    "volvelle.verbs.crosscheck.suite_check.SuiteCheck": "crosscheck:SUITE",
    "volvelle.verbs.estimate.Answer": "estimate:ESTIMATE",
    "volvelle.verbs.fleet.answer.Fleet": "fleet:FLEET",
    "volvelle.verbs.how_many.Sizing": "plan:SIZING",
    "volvelle.verbs.map.MapAnswer": "map:MAP",
    "volvelle.verbs.mpi.MpiAnswer": "mpi:MPI",
    "volvelle.verbs.plan.Plan": "plan:PLAN",
    "volvelle.verbs.plan_serving.plan.ServingPlan": "plan_serving:SERVING_PLAN",
    "volvelle.verbs.replay.ReplayAnswer": "replay:REPLAY",
    "volvelle.verbs.job.answer.Job": "job:JOB",
    "volvelle.verbs.scale.Scaling": "scale:SCALING",
    "volvelle.verbs.serving.serve.LoadedServing": "serve:SERVING",
    "volvelle.verbs.serving.serve.StaticServing": "serve:SERVING",
    "volvelle.verbs.serving.split.SplitServing": "serve_split:SPLIT",
    "volvelle.verbs.validate.GoodputRuns": "validate:GOODPUT_RUNS",
    "volvelle.verbs.validate.Validation": "validate:VALIDATION",
}
"""Class of an answer → module of this room, and the presentation in it."""


def presentation_of(answer: object) -> Presentation:
    """How an answer is shown."""
    kind = type(answer)
    module, _, name = PRESENTATIONS[f"{kind.__module__}.{kind.__qualname__}"].partition(":")
    found = getattr(import_module(f"{_ROOM}.{module}"), name)
    assert isinstance(found, Presentation)
    return found


def screen(answer: object) -> str:
    """The answer on one screen."""
    from volvelle.report.notebook.screen import screen_text  # noqa: PLC0415 - rich is slow

    return screen_text(presentation_of(answer).shown(answer))


def fragment(answer: object) -> str:
    """The answer as a piece of HTML, with its picture where pictures can be drawn."""
    from volvelle.report.notebook.card import card  # noqa: PLC0415 - pictures are slow

    return card(presentation_of(answer).shown(answer))


def document(answer: object) -> dict[str, Any]:
    """The document that the command prints with ``--json``."""
    known = presentation_of(answer)
    found: dict[str, Any] = json.loads(json_text(known.verb, known.document(answer), **known.settings))
    return found


def frame(answer: object, library: str) -> Any:
    """The rows of the answer's document as a frame."""
    from volvelle.report.notebook.frames import frame_of  # noqa: PLC0415 - an extra

    return frame_of(presentation_of(answer).rows(answer, document(answer)), library)
