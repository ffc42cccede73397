"""The only module that knows numba: straight-line code on a few rows at a time, in a loop over all rows.

Every value is a vector of `LANES` rows, and most steps are one instruction of the processor on it. The instructions
are written out rather than left to numba's translation of Python: that compiles in a tenth of the time, and the
vectors are certain. Sums and products keep their order and are not contracted, so that results are those of NumPy;
logarithms and powers come from another library and may be a rounding apart.
"""

from collections import Counter
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import MissingExtraError, install_line
from volvelle.estimators.compiled.program import Code, Place, Step
from volvelle.estimators.compiled.vector_functions import VectorFunctions

LANES = 8
"""Rows a vector holds; processors with shorter vectors use several."""

Kernel = Callable[
    [NDArray[np.int64], NDArray[np.float64], NDArray[np.intp], NDArray[np.int64], NDArray[np.uint8]], None
]
"""Addresses of columns, uniform numbers, rows, addresses of results, and whether any row has what is asked."""

_COMPARE = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
_ARITHMETIC = {"add": "fadd", "subtract": "fsub", "multiply": "fmul"}
_ONE_INSTRUCTION = {"sqrt": "sqrt", "ceil": "ceil", "floor": "floor", "absolute": "fabs", "whole": "trunc"}
_LANE_BY_LANE = {"log": "log", "exp": "exp", "power": "pow"}
_FUNCTIONS = {"gcd": "gcd", "log2": "log2"}

_KEPT = 1024
"""Compiled functions kept."""
_KERNELS: dict[Code, Kernel] = {}
_LOCK = Lock()


def compiled(code: Code) -> Kernel:
    """Machine code, from an equal code where there was one."""
    with _LOCK:
        kernel = _KERNELS.pop(code, None)
        if kernel is None:
            kernel = _compile(code)
        _KERNELS[code] = kernel  # the one used last comes last
        if len(_KERNELS) > _KEPT:
            del _KERNELS[next(iter(_KERNELS))]
        return kernel


def _compile(code: Code) -> Kernel:
    try:
        import numba  # noqa: PLC0415 - an extra
        from numba.extending import intrinsic  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(
            f"numba is not installed; run {install_line('compiled')}, or ask without compiling (no --compiled; in "
            "Python, ClosedForm)"
        ) from None

    def body(typing: Any, columns: Any, uniform: Any, rows: Any, results: Any, found: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            arrays = [
                context.make_array(kind)(context, builder, argument)
                for kind, argument in zip(signature.args, arguments, strict=True)
            ]
            _Emitter(code, builder, arrays).loop()
            return context.get_dummy_value()

        return numba.types.void(columns, uniform, rows, results, found), generate

    run: Any = intrinsic(body)

    def kernel(columns: Any, uniform: Any, rows: Any, results: Any, found: Any) -> None:
        run(columns, uniform, rows, results, found)

    signature = "void(int64[::1], float64[::1], int64[::1], int64[::1], uint8[::1])"
    function: Kernel = numba.njit(signature, nogil=True)(kernel)
    return function


def _multiplies_and_adds_at_once() -> bool:
    """Whether this processor rounds a·b + c once, in one instruction."""
    from llvmlite import binding  # noqa: PLC0415 - comes with numba

    return "x86" not in binding.get_process_triple() or bool(binding.get_host_cpu_features().get("fma"))


class _Emitter:
    """Writes the instructions of one code."""

    def __init__(self, code: Code, builder: Any, arrays: Any) -> None:
        from llvmlite import ir  # noqa: PLC0415 - comes with numba

        self.ir = ir
        self.code = code
        self.builder = builder
        self.real = ir.DoubleType()
        self.index = ir.IntType(64)
        self.byte = ir.IntType(8)
        self.vector = ir.VectorType(self.real, LANES)
        columns, uniform, rows, results, found = arrays
        self.columns = [self._address(columns.data, number, self.real) for number in range(self._count("column"))]
        self.results = [
            self._address(results.data, number, self.byte if place in code.truths else self.real)
            for number, place in enumerate(code.stored)
        ]
        self.uniform, self.rows, self.found = uniform.data, rows.data, found.data
        self.length = builder.extract_value(rows.shape, 0)
        self.values: dict[Place, Any] = {}
        self.lanes: list[Any] = []
        divisors = Counter(step.inputs[1] for step in code.steps if step.operation == "divide")
        self.often = {place for place, times in divisors.items() if times > 1 or place[0] == "uniform"}
        self.reciprocals: dict[Place, Any] = {}
        self.functions = VectorFunctions(ir, builder.module, LANES)
        self.fuses = _multiplies_and_adds_at_once()

    def loop(self) -> None:
        """The loop over rows; the last vector repeats the last row."""
        from numba.core import cgutils  # noqa: PLC0415

        ir, builder = self.ir, self.builder
        # Once for all rows, so that the loop only spreads them.
        self.scalars = [self._scalar(number) for number in range(self._count("uniform"))]
        one = ir.Constant(self.real, 1.0)
        self.scalar_reciprocals = {
            place: builder.fdiv(one, self.scalars[place[1]]) for place in sorted(self.often) if place[0] == "uniform"
        }
        zero, last = ir.Constant(self.index, 0), builder.sub(self.length, ir.Constant(self.index, 1))
        step = ir.Constant(self.index, LANES)
        with cgutils.for_range_slice(builder, zero, self.length, step, self.index) as (start, _):
            self.lanes = []
            for lane in range(LANES):
                place = builder.add(start, ir.Constant(self.index, lane))
                place = builder.select(builder.icmp_signed("<", place, last), place, last)
                self.lanes.append(builder.load(builder.gep(self.rows, [place])))
            self._body()

    def _body(self) -> None:
        builder = self.builder
        for number, step in enumerate(self.code.steps):
            self.values["step", number] = self._step(step)
        for number, place in enumerate(self.code.asked):
            slot = builder.gep(self.found, [self.ir.Constant(self.index, number)])
            any_lane = builder.bitcast(self._value(place), self.ir.IntType(LANES))
            builder.store(builder.or_(builder.load(slot), any_lane), slot)
        for address, place in zip(self.results, self.code.stored, strict=True):
            value = self._value(place)
            if place in self.code.truths:
                value = builder.zext(value, self.ir.VectorType(self.byte, LANES))
            for lane, row in enumerate(self.lanes):
                builder.store(self.functions.lane(builder, value, lane), builder.gep(address, [row]))

    # -- values --------------------------------------------------------------------------------------------

    def _count(self, kind: str) -> int:
        used = [place for step in self.code.steps for place in step.inputs]
        return 1 + max(
            (number for found, number in (*used, *self.code.asked, *self.code.stored) if found == kind), default=-1
        )

    def _address(self, addresses: Any, number: int, kind: Any) -> Any:
        found = self.builder.load(self.builder.gep(addresses, [self.ir.Constant(self.index, number)]))
        return self.builder.inttoptr(found, kind.as_pointer())

    def _scalar(self, number: int) -> Any:
        return self.builder.load(self.builder.gep(self.uniform, [self.ir.Constant(self.index, number)]))

    def _spread(self, scalar: Any) -> Any:
        none = self.ir.Constant(self.vector, self.ir.Undefined)
        one = self.builder.insert_element(none, scalar, self.ir.Constant(self.ir.IntType(32), 0))
        places = self.ir.Constant(self.ir.VectorType(self.ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(one, none, places)

    def _value(self, place: Place) -> Any:
        """The vector at a place, loaded where it is first needed."""
        if place not in self.values:
            kind, number = place
            builder = self.builder
            if kind == "uniform":
                value = self._spread(self.scalars[number])
                if place in self.code.truths:
                    value = builder.fcmp_unordered("!=", value, self.functions.all(0.0))
            else:
                value = self.functions.gathered(
                    builder, [builder.load(builder.gep(self.columns[number], [row])) for row in self.lanes]
                )
            self.values[place] = value
        return self.values[place]

    def _number(self, place: Place) -> Any:
        """The vector at a place, a truth as 0 or 1."""
        value = self._value(place)
        return self.builder.uitofp(value, self.vector) if place in self.code.truths else value

    # -- operations ----------------------------------------------------------------------------------------

    def _step(self, step: Step) -> Any:
        builder, operation = self.builder, step.operation
        if operation in ("both", "either", "not"):
            truths = [self._truth(place) for place in step.inputs]
            if operation == "not":
                return builder.not_(truths[0])
            return (builder.and_ if operation == "both" else builder.or_)(*truths)
        if operation == "where":
            condition, *options = step.inputs
            both = all(place in self.code.truths for place in options)
            return builder.select(self._truth(condition), *(map(self._value if both else self._number, options)))
        values = [self._number(place) for place in step.inputs]
        if operation in _ARITHMETIC:
            return getattr(builder, _ARITHMETIC[operation])(*values)
        if operation in _COMPARE:
            compare = builder.fcmp_unordered if operation == "not_equal" else builder.fcmp_ordered
            return compare(_COMPARE[operation], *values)
        if operation in ("minimum", "maximum"):
            return self._extreme(*values, sign="<=" if operation == "minimum" else ">=")
        if operation in _ONE_INSTRUCTION:
            return builder.call(
                self.functions.known(f"llvm.{_ONE_INSTRUCTION[operation]}.v{LANES}f64", self.vector, 1), values
            )
        if operation in _FUNCTIONS:
            return builder.call(getattr(self.functions, _FUNCTIONS[operation])(), values)
        if operation in _LANE_BY_LANE:
            function = self.functions.known(f"llvm.{_LANE_BY_LANE[operation]}.f64", self.real, len(values))
            return self.functions.each_lane(builder, function, values)
        return getattr(self, f"_{operation}")(step, *values)

    def _truth(self, place: Place) -> Any:
        value = self._value(place)
        return value if place in self.code.truths else self.builder.fcmp_unordered("!=", value, self.functions.all(0.0))

    def _extreme(self, first: Any, second: Any, *, sign: str) -> Any:
        """The smaller or larger; what is not a number wins, as in NumPy."""
        builder = self.builder
        wins = builder.or_(builder.fcmp_ordered(sign, first, second), builder.fcmp_unordered("uno", first, first))
        return builder.select(wins, first, second)

    def _divide(self, step: Step, first: Any, second: Any) -> Any:
        """The quotient; where a divisor is used often, by its reciprocal and one correction.

        With y = 1/b and q = a·y, both rounded, q + (a − b·q)·y rounds to a/b in all but the rarest cases, if products
        and sums are rounded once (Markstein 1990, IBM Journal of Research and Development 34(1)).
        """
        builder, place = self.builder, step.inputs[1]
        if place not in self.often or not self.fuses:
            return builder.fdiv(first, second)
        if place not in self.reciprocals:
            known = self.scalar_reciprocals.get(place)
            self.reciprocals[place] = (
                builder.fdiv(self.functions.all(1.0), second) if known is None else self._spread(known)
            )
        reciprocal = self.reciprocals[place]
        fused = self.functions.known(f"llvm.fma.v{LANES}f64", self.vector, 3)
        near = builder.fmul(first, reciprocal)
        rest = builder.call(fused, [builder.fneg(near), second, first])
        exact = builder.call(fused, [rest, reciprocal, near])
        # Zero and infinite operands make the correction meaningless, and are already right.
        return builder.select(builder.fcmp_ordered("ord", exact, exact), exact, near)

    def _negative(self, step: Step, value: Any) -> Any:
        return self.builder.fneg(value)

    def _remainder(self, step: Step, first: Any, second: Any) -> Any:
        """With the sign of the divisor."""
        builder = self.builder
        left = builder.frem(first, second)
        zero = self.functions.all(0.0)
        differ = builder.xor(builder.fcmp_ordered("<", left, zero), builder.fcmp_ordered("<", second, zero))
        apart = builder.and_(builder.fcmp_unordered("!=", left, zero), differ)
        return builder.select(apart, builder.fadd(left, second), left)
