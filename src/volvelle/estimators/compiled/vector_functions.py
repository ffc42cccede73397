"""Functions of vectors that take more than one instruction: greatest common divisors and logarithms."""

from typing import Any

_MANTISSA, _BIAS, _LARGEST = 52, 1023, 2046
"""Bits of a double's mantissa, what its exponent is shifted by, and the largest exponent of a number."""
_TURNS = 100
"""Euclid's algorithm takes fewer on numbers up to 2^52."""


class VectorFunctions:
    """Functions in one module of machine code, each written when first asked for."""

    def __init__(self, ir: Any, module: Any, lanes: int) -> None:
        self.ir = ir
        self.module = module
        self.lanes = lanes
        self.real = ir.DoubleType()
        self.index = ir.IntType(64)
        self.vector = ir.VectorType(self.real, lanes)
        self.whole = ir.VectorType(self.index, lanes)

    # -- pieces --------------------------------------------------------------------------------------------

    def known(self, name: str, kind: Any, inputs: int) -> Any:
        """A function of the compiler's own."""
        if name in self.module.globals:
            return self.module.globals[name]
        return self.ir.Function(self.module, self.ir.FunctionType(kind, [kind] * inputs), name=name)

    def all(self, number: float) -> Any:
        """The same number in every lane."""
        return self.ir.Constant(self.vector, [self.ir.Constant(self.real, number)] * self.lanes)

    def _whole_numbers(self, number: int) -> Any:
        return self.ir.Constant(self.whole, [self.ir.Constant(self.index, number)] * self.lanes)

    def lane(self, builder: Any, vector: Any, lane: int) -> Any:
        """One lane."""
        return builder.extract_element(vector, self.ir.Constant(self.ir.IntType(32), lane))

    def gathered(self, builder: Any, scalars: list[Any]) -> Any:
        """A vector of one number a lane."""
        vector = self.ir.Constant(self.ir.VectorType(scalars[0].type, self.lanes), self.ir.Undefined)
        for lane, scalar in enumerate(scalars):
            vector = builder.insert_element(vector, scalar, self.ir.Constant(self.ir.IntType(32), lane))
        return vector

    def each_lane(self, builder: Any, function: Any, values: list[Any]) -> Any:
        """A function of numbers, lane by lane."""
        lanes = range(self.lanes)
        return self.gathered(
            builder, [builder.call(function, [self.lane(builder, value, lane) for value in values]) for lane in lanes]
        )

    def _any(self, builder: Any, mask: Any) -> Any:
        bits = self.ir.IntType(self.lanes)
        return builder.icmp_unsigned("!=", builder.bitcast(mask, bits), self.ir.Constant(bits, 0))

    def _new(self, name: str, inputs: int) -> Any:
        function = self.ir.Function(self.module, self.ir.FunctionType(self.vector, [self.vector] * inputs), name=name)
        function.linkage = "internal"
        return function

    # -- functions -----------------------------------------------------------------------------------------

    def log2(self) -> Any:
        """Base-2 logarithms: exponents where all lanes are powers of two, as numbers of chips are; else a library's."""
        name, ir = "volvelle.log2", self.ir
        if name in self.module.globals:
            return self.module.globals[name]
        function = self._new(name, 1)
        entry, powers, others = (function.append_basic_block(place) for place in ("entry", "powers", "others"))
        builder = ir.IRBuilder(entry)
        bits = builder.bitcast(function.args[0], self.whole)
        mantissa = builder.and_(bits, self._whole_numbers((1 << _MANTISSA) - 1))
        exponent = builder.lshr(bits, self._whole_numbers(_MANTISSA))  # with the sign, so that negatives are too large
        odd = builder.or_(
            builder.icmp_unsigned("!=", mantissa, self._whole_numbers(0)),
            builder.or_(
                builder.icmp_unsigned("==", exponent, self._whole_numbers(0)),
                builder.icmp_unsigned(">", exponent, self._whole_numbers(_LARGEST)),
            ),
        )
        builder.cbranch(self._any(builder, odd), others, powers)
        builder.position_at_end(powers)
        builder.ret(builder.sitofp(builder.sub(exponent, self._whole_numbers(_BIAS)), self.vector))
        builder.position_at_end(others)
        builder.ret(self.each_lane(builder, self.known("llvm.log2.f64", self.real, 1), [function.args[0]]))
        return function

    def gcd(self) -> Any:
        """Euclid's algorithm on all lanes until the last has ended; exact up to 2^52, which a guard looks after."""
        name, ir = "volvelle.gcd", self.ir
        if name in self.module.globals:
            return self.module.globals[name]
        function = self._new(name, 2)
        entry, turn, end = (function.append_basic_block(place) for place in ("entry", "turn", "end"))
        builder = ir.IRBuilder(entry)
        absolute, truncated = (self.known(f"llvm.{one}.v{self.lanes}f64", self.vector, 1) for one in ("fabs", "trunc"))
        start = [builder.call(absolute, [argument]) for argument in function.args]
        builder.branch(turn)
        builder.position_at_end(turn)
        large, small, turns = builder.phi(self.vector), builder.phi(self.vector), builder.phi(self.index)
        going = builder.fcmp_ordered("!=", small, self.all(0.0))
        rounds = builder.call(truncated, [builder.fdiv(large, small)])
        rest = builder.fsub(large, builder.fmul(rounds, small))
        next_large = builder.select(going, small, large)
        next_small = builder.select(going, rest, self.all(0.0))
        next_turns = builder.add(turns, ir.Constant(self.index, 1))
        for phi, value, again in (
            (large, start[0], next_large),
            (small, start[1], next_small),
            (turns, ir.Constant(self.index, 0), next_turns),
        ):
            phi.add_incoming(value, entry)
            phi.add_incoming(again, turn)
        unfinished = self._any(builder, builder.fcmp_ordered("!=", next_small, self.all(0.0)))
        few = builder.icmp_unsigned("<", next_turns, ir.Constant(self.index, _TURNS))
        builder.cbranch(builder.and_(unfinished, few), turn, end)
        builder.position_at_end(end)
        builder.ret(next_large)
        return function
