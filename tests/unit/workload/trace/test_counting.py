"""What operations ask of a chip, from their names and sizes."""

import pytest

from volvelle.workload.trace.counting import Argument, rank, work_of
from volvelle.workload.trace.operation_names import bare
from volvelle.workload.trace.values import Tensor


def tensor(*dims: int, element: str = "fp32") -> Tensor:
    return Tensor(dims, element)


@pytest.mark.parametrize(
    ("name", "inputs", "product"),
    [
        ("aten::mm", (tensor(8, 16), tensor(16, 32)), (8, 32, 16, 1)),
        ("aten::addmm", (tensor(32), tensor(8, 16), tensor(16, 32)), (8, 32, 16, 1)),
        ("aten::bmm", (tensor(4, 8, 16), tensor(4, 16, 32)), (8, 32, 16, 4)),
        ("aten::baddbmm", (tensor(4, 8, 32), tensor(4, 8, 16), tensor(4, 16, 32)), (8, 32, 16, 4)),
        ("torch.ops.aten.linear.default", (tensor(2, 4, 16), tensor(32, 16)), (8, 32, 16, 1)),
        ("aten::matmul", (tensor(2, 3, 8, 16), tensor(2, 3, 16, 32)), (8, 32, 16, 6)),
        ("aten::matmul", (tensor(2, 3, 8, 16), tensor(16, 32)), (48, 32, 16, 1)),
        ("aten::matmul", (tensor(8, 16), tensor(16)), (8, 1, 16, 1)),
        ("Gemm", (tensor(8, 16), tensor(16, 32)), (8, 32, 16, 1)),
    ],
)
def test_products_have_their_shape(name: str, inputs: tuple[Argument, ...], product: tuple[int, ...]) -> None:
    work = work_of(name, inputs)
    assert work is not None
    rows, columns, depth, instances = product
    assert list(work.product or ()) == [rows, columns, depth, instances]
    assert work.matrix_flop == 2 * rows * columns * depth * instances


def test_a_product_whose_sizes_contradict_each_other_is_not_understood() -> None:
    assert work_of("aten::mm", (tensor(8, 16), tensor(17, 32))) is None
    assert work_of("aten::mm", (tensor(8, 16),)) is None


def test_a_convolution_is_the_same_by_its_result_and_by_its_stride() -> None:
    inputs = (tensor(2, 3, 32, 32), tensor(64, 3, 7, 7), None)
    said = ("", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1")
    by_stride, by_result = (
        work_of("aten::convolution", inputs, outputs, said) for outputs in ((), (tensor(2, 64, 16, 16),))
    )
    assert by_stride == by_result
    assert by_stride is not None
    assert by_stride.matrix_flop == 2 * (2 * 64 * 16 * 16) * 3 * 7 * 7


def test_a_gradient_of_a_convolution_is_two_of_it() -> None:
    forward = work_of("aten::convolution", (tensor(2, 3, 8, 8), tensor(4, 3, 3, 3)), (tensor(2, 4, 8, 8),))
    backward = work_of("aten::convolution_backward", (tensor(2, 4, 8, 8), tensor(2, 3, 8, 8), tensor(4, 3, 3, 3)))
    assert forward is not None
    assert backward is not None
    assert backward.matrix_flop == 2 * forward.matrix_flop


def test_causal_attention_does_half_the_work_and_its_gradient_five_halves() -> None:
    heads = (tensor(2, 4, 128, 64),) * 3
    name = "aten::_scaled_dot_product_flash_attention_for_cpu"
    full, causal = work_of(name, heads, (), ("False",)), work_of(name, heads, (), ("True",))
    backward = work_of(f"{name}_backward", (heads[0], *heads), (), ("False",))
    assert full is not None
    assert causal is not None
    assert backward is not None
    assert full.matrix_flop == 4 * 2 * 4 * 128 * 128 * 64
    assert causal.matrix_flop == full.matrix_flop / 2
    assert backward.matrix_flop == 2.5 * full.matrix_flop
    swapped = work_of("aten::_flash_attention_forward", (tensor(2, 128, 4, 64),) * 3, (), ("False",))
    assert swapped is not None
    assert swapped.matrix_flop == full.matrix_flop


def test_elementwise_operations_move_what_they_read_and_write() -> None:
    added = work_of("aten::add", (tensor(8, 16), tensor(16), None))
    assert added is not None
    assert added.traffic == 4 * (8 * 16 + 16 + 8 * 16)
    listed = work_of("aten::_foreach_add_", ((tensor(8), tensor(4)), (tensor(8), tensor(4))))
    assert listed is not None
    assert listed.traffic == 4 * 3 * 12


def test_what_only_writes_reads_nothing() -> None:
    zeroed = work_of("aten::zero_", (tensor(100),))
    assert zeroed is not None
    assert zeroed.traffic == 400


def test_an_embedding_reads_the_rows_it_is_asked_for() -> None:
    work = work_of("aten::embedding", (tensor(50_000, 64), tensor(8, element="int64")))
    assert work is not None
    assert work.traffic == 2 * 8 * 64 * 4 + 8 * 8


def test_a_conversion_that_ran_copies_inside_it_and_one_of_a_graph_by_itself() -> None:
    ran, planned = (work_of(name, (tensor(8),)) for name in ("aten::to", "aten.to.dtype"))
    assert ran is not None
    assert planned is not None
    assert (ran.kind, planned.kind) == ("view", "copy")


def test_views_move_nothing_and_unknown_names_are_not_guessed() -> None:
    view = work_of("aten::as_strided", (tensor(8),))
    assert view is not None
    assert (view.traffic, rank(view)) == (0.0, 0)
    assert work_of("fbgemm::bounds_check_indices", (tensor(8),)) is None
    assert work_of("", ()) is None


@pytest.mark.parametrize(
    ("name", "plain"),
    [("aten::add_", "add"), ("torch.ops.aten.add.Tensor", "add"), ("aten::_softmax", "_softmax"), ("Relu", "Relu")],
)
def test_names_lose_library_overload_and_the_mark_of_operations_in_place(name: str, plain: str) -> None:
    assert bare(name) == plain
