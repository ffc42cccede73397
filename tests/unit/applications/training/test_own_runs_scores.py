"""Three own runs are worth it, and do not do harm where there was little to gain."""

import pytest

from tests.unit.applications.training.test_own_runs import few
from volvelle import Catalogue
from volvelle.applications.training.own_runs_scores import LARGE, OWN_RUNS, pooled, published_corpus, validate_own_runs


def test_own_runs_of_software_that_was_left_out_cut_error_and_range() -> None:
    found = validate_own_runs(few(), draws=8)
    (machine,) = [one for one in found.machines if one.source == "internevo"]
    before, after = machine.scores[0], machine.scores[3]
    assert after.median < 0.5 * before.median
    assert after.half_width < 0.6 * before.half_width
    assert 0.6 < after.coverage < 0.97


def test_the_same_seed_gives_the_same_scores() -> None:
    one, other = (validate_own_runs(few(), draws=4, seed=5).machines for _ in range(2))
    assert [machine.scores for machine in one] == [machine.scores for machine in other]


@pytest.mark.long
def test_published_machines_as_users_are_predicted_within_what_is_promised() -> None:
    found = validate_own_runs(published_corpus(Catalogue()), draws=50)
    machines = found.part(held_out=False)
    scores = {own: pooled(machines, own) for own in OWN_RUNS}
    none, three, eight = scores[0], scores[3], scores[8]
    assert none is not None
    assert three is not None
    assert eight is not None
    # Nine hundred rows of one source are sums of profiled kernels, which own runs do not tell: seven and five cannot be
    # reached with them, now that nothing of what is left out has told constants that are held.
    assert three.median < 0.075
    assert three.median_over_machines < 0.08
    assert eight.median < 0.065
    assert eight.median_over_machines < 0.05
    assert eight.half_width < 0.6 * none.half_width
    before, after, more = (pooled(found.part(held_out=False, measured=True), own) for own in (0, 3, 8))
    assert before is not None
    assert after is not None
    assert more is not None
    assert after.median < 0.07
    assert more.median < 0.05
    assert after.half_width < 0.6 * before.half_width
    every, told = (pooled(found.part(), own) for own in (0, 3))
    assert every is not None
    assert told is not None
    assert told.median < 0.07
    assert told.half_width < 0.6 * every.half_width
    for one in found.machines:
        if one.runs >= LARGE and one.scores[0].median < 0.09:
            assert one.scores[3].median < 0.09
            assert one.scores[8].median < 0.09
