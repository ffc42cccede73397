import pytest

from volvelle import BlockBuilder, Contraction, GraphError, Phase, Pointwise, Workload, with_backward
from volvelle.workload.operations import Unit
from volvelle.workload.signature import Signature
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, Collective, conversion, split


def product() -> Contraction:
    return Contraction(Signature.parse("m k, k n -> m n"))


def test_flops_of_a_product_are_two_for_every_point() -> None:
    work = product().work()
    assert work.unit is Unit.MATRIX
    assert work.flops({"m": 3, "k": 5, "n": 7}) == 2 * 3 * 5 * 7


def test_splitting_the_summed_dimension_leaves_partial_sums() -> None:
    choice = next(choice for choice in product().choices() if choice.dim == "k")
    assert choice.inputs == (split("k"), split("k"))
    assert choice.outputs == (PARTIAL,)


def test_splitting_an_output_dimension_needs_the_other_operand_whole() -> None:
    choice = next(choice for choice in product().choices() if choice.dim == "n")
    assert choice.inputs == (REPLICATED, split("n"))
    assert choice.outputs == (split("n"),)


def test_a_sum_keeps_partial_sums_partial_but_a_gelu_does_not() -> None:
    add = Pointwise(Signature.parse("a, a -> a"), is_sum=True)
    gelu = Pointwise(Signature.parse("a -> a"))
    assert any(choice.outputs == (PARTIAL,) for choice in add.choices())
    assert not any(choice.outputs == (PARTIAL,) for choice in gelu.choices())


@pytest.mark.parametrize(
    ("found", "wanted", "takes"),
    [
        (PARTIAL, REPLICATED, Collective.ALL_REDUCE),
        (PARTIAL, split("a"), Collective.REDUCE_SCATTER),
        (split("a"), REPLICATED, Collective.ALL_GATHER),
        (split("a"), split("b"), Collective.ALL_TO_ALL),
        (REPLICATED, split("a"), None),
        (split("a"), split("a"), None),
    ],
)
def test_each_change_of_layout_takes_its_collective(found, wanted, takes) -> None:  # type: ignore[no-untyped-def]
    assert conversion(found, wanted) is takes


def test_nothing_is_turned_into_summands() -> None:
    with pytest.raises(GraphError, match="summands"):
        conversion(REPLICATED, PARTIAL)


@pytest.mark.parametrize(
    ("signature", "words"),
    [("m k, k n", "no '->'"), ("m m, m n -> m n", "twice"), ("m k, k n -> m q", "in no input")],
)
def test_a_malformed_signature_says_what_is_wrong(signature: str, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        Signature.parse(signature)


def test_a_contraction_that_sums_over_one_input_alone_is_refused() -> None:
    with pytest.raises(GraphError, match="sums k over one input alone"):
        Contraction(Signature.parse("m k, m n -> m n"))


def test_a_window_meets_a_part_of_a_longer_tensor_and_has_no_parts_itself() -> None:
    near = Contraction(Signature.parse("query deep, window deep -> query window"), window="window")
    assert near.work().flops({"query": 100, "window": 10, "deep": 4}) == 2 * 100 * 10 * 4
    assert near.windows() == near.whole() == {"window"}
    assert product().windows() == frozenset()
    with pytest.raises(GraphError, match="no dimension 'far'"):
        Contraction(Signature.parse("m k, k n -> m n"), window="far")


@pytest.mark.parametrize(("window", "fits"), [(1, True), (8, True), (9, False)])
def test_a_window_is_no_longer_than_what_it_slides_over(window: int, fits: bool) -> None:
    b = BlockBuilder("near")
    q, k = (b.input(name, "position deep") for name in ("q", "k"))
    out = b.contract("scores", "position deep, window deep -> position window", q, k, window="window")
    sizes, block = {"position": 8, "deep": 4, "window": window}, b.build(outputs=(out,))
    if fits:
        assert Workload(name="near", sizes=sizes, blocks=(block,)).flops() == 2 * 8 * 4 * window
        return
    with pytest.raises(GraphError, match=r"'position' of 'k' \(size 8\) as 'window' \(size 9\)"):
        Workload(name="near", sizes=sizes, blocks=(block,))


@pytest.mark.parametrize(("unit", "times"), [(Unit.VECTOR, 3), (Unit.MATRIX, 2)])
def test_the_way_back_of_a_scan_makes_states_again_unless_it_counts_as_products(unit: Unit, times: int) -> None:
    b = BlockBuilder("scan")
    x = b.input("x", "time wide")
    out = b.scan("scan", "time wide, wide -> time wide", x, b.weight("a", "wide"), along="time", flops=5.0, unit=unit)
    sizes = {"time": 7, "wide": 3}
    whole = with_backward(Workload(name="scan", sizes=sizes, blocks=(b.build(outputs=(out,)),)))
    assert whole.flops(unit=unit) == 5 * 7 * 3
    assert whole.flops(phase=Phase.BACKWARD, unit=unit) == times * 5 * 7 * 3
