"""How layers are dealt out to stages."""

from volvelle.mapping.stages import middle_stages


def test_stages_beyond_the_layers_are_alike_and_not_counted_one_by_one() -> None:
    assert middle_stages((0, 1) * 13, 3_000_000, 1) == ((1, (1, 0)), (2, (0, 1)))


def test_stages_of_whole_patterns_are_all_alike() -> None:
    assert middle_stages((0, 1) * 13, 13, 1) == ((1, (1, 1)),)
