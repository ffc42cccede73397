"""What each command asks: one question per command, its options declared once."""

from importlib import import_module
from typing import TYPE_CHECKING

from volvelle.errors import UnknownNameError

if TYPE_CHECKING:
    from volvelle.base.question import Question

QUESTIONS = {
    "collective": "collective:CollectiveQuestion",
    "compare": "compare:CompareQuestion",
    "config": "config:ConfigQuestion",
    "cost": "cost:CostQuestion",
    "crosscheck": "crosscheck:CrosscheckOrSuiteQuestion",
    "estimate": "estimate:EstimateQuestion",
    "explore": "explore:ExploreQuestion",
    "fleet": "serving:FleetQuestion",
    "job": "job:JobQuestion",
    "map": "map:MapQuestion",
    "mpi": "mpi:MpiQuestion",
    "plan": "plan:PlanOrCountQuestion",
    "plan --serve": "serving:PlanServingQuestion",
    "replay": "replay:ReplayQuestion",
    "scale": "scale:ScaleQuestion",
    "serve": "serving:ServeQuestion",
    "why-unsure": "crosscheck:WhyUnsureQuestion",
}
"""Command → the module and class of its question."""


def question_of_command(command: str) -> "type[Question]":
    """Return the question that a command asks."""
    if command not in QUESTIONS:
        raise UnknownNameError.among("command with a question", command, QUESTIONS)
    module, _, name = QUESTIONS[command].partition(":")
    question: type[Question] = getattr(import_module(f"volvelle.questions.{module}"), name)
    return question
