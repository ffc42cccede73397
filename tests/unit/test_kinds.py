"""What annotations stand for, and what is read as that."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np
import pytest

from volvelle.domains import DEGREE, SHARE, check_fields, number, within_domains
from volvelle.errors import DescriptionError
from volvelle.kinds import NOT_OF_IT, kind_of

ESTIMATOR = '''
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from volvelle import ClosedForm, TrainingEstimator

if TYPE_CHECKING:
    from fractions import Fraction

    from nowhere import Table


@dataclass(frozen=True)
class Slower(TrainingEstimator):
    """A closed form, times a factor."""

    factor: float
    table: Table | None = None
    shares: tuple[Fraction, ...] = ()
    later: "Table[" = None

    def estimate(self, workload, system, mapping, /):
        found = ClosedForm().estimate(workload, system, mapping)
        return replace(found, time=self.factor * found.time)


def local():
    class Kept:
        pass

    @dataclass(frozen=True)
    class Local(Slower):
        kept: Kept | None = None
        count: int = 1

    return Local
'''


@pytest.fixture
def estimators(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Estimators of somebody's own, of which type checkers alone know some types."""
    module = ModuleType("own_estimators")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(ESTIMATOR, vars(module))
    return module


def test_a_field_whose_type_is_known_to_type_checkers_alone_may_be_anything(estimators: ModuleType) -> None:
    kept = object()
    made = estimators.Slower(2.0, table=kept, shares="any", later=3)
    assert (made.table, made.shares, made.later) == (kept, "any", 3)


def test_fields_beside_one_that_may_be_anything_are_still_looked_at(estimators: ModuleType) -> None:
    assert type(estimators.Slower(np.float32(2.0)).factor) is float
    with pytest.raises(DescriptionError, match="Slower: factor is '2'; it must be a number"):
        estimators.Slower("2")


def test_a_type_of_a_function_is_known_there_alone_and_fields_of_other_classes_are_looked_at(
    estimators: ModuleType,
) -> None:
    local = estimators.local()
    assert local(1.0, kept=3).kept == 3
    for wrong in ({"factor": "2"}, {"factor": 2.0, "count": 1.5}):
        with pytest.raises(DescriptionError, match=f"Local: {list(wrong)[-1]} is"):
            local(**wrong)


def test_a_field_of_a_module_that_is_gone_may_be_anything(
    estimators: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, estimators.__name__)
    assert estimators.Slower("2").factor == "2"


# -- several ---------------------------------------------------------------------------------------------------------

SEVERAL: dict[str, Callable[[], Any]] = {
    "range": lambda: range(1, 4),
    "set": lambda: {3, 1, 2},
    "frozenset": lambda: frozenset({3, 2, 1}),
    "generator": lambda: (one for one in (1, 2, 3)),
    "map": lambda: map(int, "123"),
    "iterator": lambda: iter([1, 2, 3]),
    "keys": {1: "", 2: "", 3: ""}.keys,
    "values": {"a": 1, "b": 2, "c": 3}.values,
    "column": lambda: np.array([1, 2, 3]),
}


@pytest.mark.parametrize("given", SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize(
    "hint", [tuple[int, ...], tuple[int, int, int], tuple[Any, ...], Sequence[int], list[int], int | tuple[int, ...]]
)
def test_whatever_gives_several_values_is_a_tuple_of_them(given: Callable[[], Any], hint: Any) -> None:
    kind = kind_of(hint)
    assert kind is not None
    assert kind.read(given()) == (1, 2, 3)


def test_keys_of_a_table_keep_their_order_and_a_set_that_has_none_gets_one() -> None:
    kind = kind_of(tuple[Any, ...])
    assert kind is not None
    assert kind.read({"b": 1, "a": 2}.keys()) == ("b", "a")
    assert kind.read({"b", 1, "a"}) == ("a", "b", 1)


@pytest.mark.parametrize("given", ["123", b"123", bytearray(b"1"), memoryview(b"1"), StringIO("1\n2"), {1: 2}, 3])
@pytest.mark.parametrize("hint", [tuple[Any, ...], Sequence[Any], Sequence[str] | Sequence[int] | None])
def test_what_is_one_value_is_not_several(given: Any, hint: Any) -> None:
    kind = kind_of(hint)
    assert kind is not None
    assert kind.read(given) is NOT_OF_IT


def test_every_kind_of_several_looks_at_all_that_an_iterator_gives() -> None:
    kind = kind_of(tuple[int, ...] | tuple[str, ...] | None)
    assert kind is not None
    assert kind.read(iter(["a", "b"])) == ("a", "b")
    assert kind.read(iter([1, "b"])) is NOT_OF_IT


def test_an_iterator_is_left_as_it_is_where_that_is_asked_for() -> None:
    for hint in (Iterator[int], tuple[int, ...] | Iterator[int]):
        kind, given = kind_of(hint), iter([1, 2])
        assert kind is not None
        assert kind.read(given) is given
        assert list(given) == [1, 2]


@within_domains
def listed(
    degrees: Annotated[Sequence[int], DEGREE] = (), logs: Sequence[Path | str] = (), share: Annotated[float, SHARE] = 1
) -> Any:
    """What a function with checked arguments is given."""
    return degrees, logs, share


@pytest.mark.parametrize("given", SEVERAL.values(), ids=SEVERAL)
def test_a_function_is_given_all_that_was_looked_at(given: Callable[[], Any]) -> None:
    assert listed(given()) == listed(degrees=given()) == ((1, 2, 3), (), 1)


def test_files_found_in_a_folder_are_given_as_they_are_found(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.log", "b.log")]
    for file in files:
        file.touch()
    assert sorted(listed(logs=tmp_path.glob("*.log"))[1]) == files


@pytest.mark.parametrize("given", [lambda: iter([1, 0]), lambda: {0, 1}, lambda: range(2), lambda: np.array([1, 0])])
def test_every_one_of_several_lies_inside_its_domain(given: Callable[[], Any]) -> None:
    with pytest.raises(DescriptionError, match="degrees is 0; it must be a whole number from 1"):
        listed(given())


# -- numbers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """A value with a share, and with several."""

    share: float = number(SHARE, 1.0)
    shares: tuple[float, ...] = number(SHARE, ())

    def __post_init__(self) -> None:
        check_fields(self, "held")


@pytest.mark.parametrize("given", [Fraction(1, 4), Decimal("0.25"), np.longdouble(0.25)])
def test_a_fraction_or_a_decimal_is_a_number(given: Any) -> None:
    found = Held(given, [given])  # type: ignore[arg-type]
    assert (found.share, found.shares, listed(share=given)[2]) == (0.25, (0.25,), 0.25)
    assert {type(found.share), type(found.shares[0]), type(listed(share=given)[2])} == {float}


@pytest.mark.parametrize(
    "given", [Fraction(5, 4), Decimal(-1), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Fraction(10**400)]
)
def test_a_fraction_outside_the_domain_is_refused(given: Any) -> None:
    for wrong in ({"share": given}, {"shares": (given,)}):
        with pytest.raises(DescriptionError, match=next(iter(wrong))):
            Held(**wrong)
    with pytest.raises(DescriptionError, match="share"):
        listed(share=given)
