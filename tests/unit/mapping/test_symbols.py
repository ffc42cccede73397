"""Terms over named symbols."""

from volvelle.mapping.axes import CUTTING, TENSOR
from volvelle.mapping.symbols import MICRO_BATCH, ONE, SYMBOLS, Term, merged, powers, share


def test_symbols_are_the_micro_batch_and_shares_of_axes_that_cut_blocks() -> None:
    assert (MICRO_BATCH, *(axis.name for axis in CUTTING)) == SYMBOLS


def test_powers_add_up_and_cancel_in_the_order_of_symbols() -> None:
    size = Term(3.0, powers(tensor=1)) * Term(2.0, powers(micro_batch=1, tensor=1))
    assert size == Term(6.0, (("micro_batch", 1), ("tensor", 2)))
    assert size / size == ONE
    assert (size * share(TENSOR)).power("tensor") == 3
    assert size.power("context") == 0


def test_terms_of_equal_powers_are_merged() -> None:
    assert merged([Term(1.0), Term(2.0, powers(expert=1)), Term(4.0)]) == (Term(5.0), Term(2.0, powers(expert=1)))
