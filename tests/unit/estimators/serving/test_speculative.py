"""A cycle of speculative decoding as one step."""

import numpy as np

import volvelle
from volvelle.estimators.serving.iteration import Batch
from volvelle.estimators.serving.speculative import FURTHER, SpeculativeIteration


def cycles(speculate: str) -> SpeculativeIteration:
    found = volvelle.serve("llama3-8b", on="dgx-h100/1", speculate=speculate).instance.iteration
    assert isinstance(found, SpeculativeIteration)
    return found


def decoding(sequences: float) -> Batch:
    nothing = np.zeros(1)
    many = np.array([sequences])
    return Batch(prompt_tokens=nothing, prompts=nothing, past=nothing, decodes=many, context=many * 1024)


def test_every_drafted_token_after_the_first_is_a_pass_of_the_drafter() -> None:
    one, three, five = (float(cycles(f"eagle {window}").parts(decoding(4))[FURTHER][0]) for window in (1, 3, 5))
    assert one == 0.0
    assert np.isclose(five, 2.0 * three)


def test_a_parallel_drafter_makes_one_pass_however_many_it_drafts() -> None:
    found = cycles("parallel 5").parts(decoding(4))
    assert found[FURTHER][0] == 0.0
    draft = sum(float(time[0]) for part, time in found.items() if part.startswith("draft"))
    other = cycles("eagle 5").parts(decoding(4))
    assert 0.0 < draft < sum(float(time[0]) for part, time in other.items() if part.startswith("draft"))


def test_drafts_that_are_looked_up_cost_nothing_but_their_verification() -> None:
    found = cycles("ngram 4")
    assert found.draft is None
    assert set(found.parts(decoding(4))) == set(found.target.parts(decoding(4)))
    assert found.steps(decoding(4))[0] > found.target.steps(decoding(4))[0]


def test_verified_tokens_of_a_sequence_read_its_cache_once() -> None:
    found = cycles("ngram 4")
    cycle, step = (one.parts(decoding(16))["attention of decodes"][0] for one in (found, found.target))
    assert step <= cycle < 1.5 * step


def test_a_drafter_reads_prompts_too() -> None:
    nothing = np.zeros(1)
    prompts = Batch(
        prompt_tokens=np.array([2048.0]), prompts=np.ones(1), past=nothing, decodes=nothing, context=nothing
    )
    found = cycles("draft llama3-8b 4")
    assert found.seconds(prompts)[0] > 1.9 * found.target.seconds(prompts)[0] * 0.95
    assert found.parts(prompts)[FURTHER][0] == 0.0
