"""Examples in the docstrings of public names do what they show."""

import doctest
import inspect

import pytest

import volvelle

EXAMPLES = {
    name: found
    for name in volvelle.__all__
    if not inspect.ismodule(getattr(volvelle, name)) and inspect.getdoc(getattr(volvelle, name))
    for found in [doctest.DocTestFinder(recurse=False).find(getattr(volvelle, name), name, globs={})]
    if any(test.examples for test in found)
}
WITH_AN_EXAMPLE = (
    *("AtOnce", "Closed", "Gamma", "Poisson", "Ramp", "Trace", "FixedLengths", "LengthsAround", "LengthsUpTo"),
    *("Draft", "Eagle", "LatencyLimit", "Mtp", "Ngram", "Parallel"),
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_a_public_name_runs(name: str) -> None:
    for test in EXAMPLES[name]:
        told: list[str] = []
        assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize("name", WITH_AN_EXAMPLE)
def test_a_value_of_a_question_has_an_example(name: str) -> None:
    assert name in EXAMPLES
