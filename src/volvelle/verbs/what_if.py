"""What if a machine had other numbers: the answer for the changed machine, with the answer for the machine as it is."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def beside_baseline(answer: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """Return a function that also answers for the machine as it is, if the question changes a field of the machine.

    The answer has the other answer as its `baseline`.
    """

    @wraps(answer)
    def both(question: Asked) -> Answer:
        changed = answer(question)
        if not cast("Any", question).set:
            return changed
        baseline = answer(cast("Any", question).changed(set=None))
        return cast("Answer", replace(cast("Any", changed), baseline=baseline))

    return both


Arguments = ParamSpec("Arguments")


def keyword_baseline(verb: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Do the same for a function of keyword arguments."""

    @wraps(verb)
    def asked(*given: Arguments.args, **named: Arguments.kwargs) -> Answer:
        answer = verb(*given, **named)
        if not named.get("set"):
            return answer
        as_it_is = cast("Any", verb)(*given, **{**named, "set": None})
        return cast("Answer", replace(cast("Any", answer), baseline=as_it_is))

    return asked
