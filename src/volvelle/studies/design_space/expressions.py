"""Small expressions over named columns: arithmetic, comparisons, and, or, not; as NumPy or as SQL.

Names may have dots (``chip.memory.rate``), numbers may have units (``power <= 10 MW``). Nothing else is understood, so
a study file can hold no program.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from volvelle.errors import DescriptionError, UnitError
from volvelle.quantities import KINDS, Quantity

_WITH_UNIT = re.compile(r"(?<![\w.])(\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?)\s*([A-Za-zµ$%][A-Za-zµ$]*(?:/[A-Za-zµ]+)?)")
_LITERAL = re.compile(r"('[^']*'|\"[^\"]*\")")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)+")
_BINARY: dict[type, tuple[Callable[[Any, Any], Any], str]] = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "*"),
    ast.Div: (operator.truediv, "/"),
    ast.Pow: (operator.pow, "**"),
}
_COMPARE: dict[type, tuple[Callable[[Any, Any], Any], str]] = {
    ast.Lt: (operator.lt, "<"),
    ast.LtE: (operator.le, "<="),
    ast.Gt: (operator.gt, ">"),
    ast.GtE: (operator.ge, ">="),
    ast.Eq: (operator.eq, "="),
    ast.NotEq: (operator.ne, "<>"),
}
_CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "min": (np.minimum, "least"),
    "max": (np.maximum, "greatest"),
    "sqrt": (np.sqrt, "sqrt"),
    "log2": (np.log2, "log2"),
    "log": (np.log, "ln"),
    "exp": (np.exp, "exp"),
    "ceil": (np.ceil, "ceil"),
    "floor": (np.floor, "floor"),
    "abs": (np.abs, "abs"),
}


@dataclass(frozen=True)
class Expression:
    """One expression, checked when made."""

    text: str

    def __post_init__(self) -> None:
        _ = self.names

    @cached_property
    def _tree(self) -> ast.expr:
        dotted: list[str] = []

        def hide(match: re.Match[str]) -> str:
            dotted.append(match.group())
            return f"_name_{len(dotted) - 1}_"

        try:
            pieces = _LITERAL.split(self.text)  # every second piece is a quoted word, and stays as it is
            pieces[::2] = [_DOTTED.sub(hide, _WITH_UNIT.sub(_plain, piece)) for piece in pieces[::2]]
            tree = ast.parse("".join(pieces).strip(), mode="eval").body
        except SyntaxError as error:
            raise DescriptionError(f"{self.text!r} is no expression: {error.msg}") from None
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id.startswith("_name_"):
                node.id = dotted[int(node.id[6:-1])]
        return tree

    @cached_property
    def kinds(self) -> tuple[Quantity, ...]:
        """Kinds of quantity that its numbers with units are."""
        unquoted = " ".join(_LITERAL.split(self.text)[::2])
        found = (_kind(match) for match in _WITH_UNIT.finditer(unquoted))
        return tuple(kind for kind in found if kind is not None)

    def check_units(self, kinds: Mapping[str, Quantity | None]) -> None:
        """Refuse a number with a unit that none of the names has; `kinds` are those of the names."""
        own = [kinds.get(name) for name in self.names]
        for kind in self.kinds:
            if kind not in own:
                about = ", ".join(
                    f"{name} is a {kinds[name].name}" if kinds.get(name) else f"{name} has no unit"  # type: ignore[union-attr]
                    for name in sorted(self.names)
                )
                raise UnitError(f"{self.text!r} has a {kind.name} in it, but {about}")

    @cached_property
    def names(self) -> frozenset[str]:
        """Names it uses."""
        found: set[str] = set()
        self._walk(self._tree, found)
        return frozenset(found)

    def _walk(self, node: ast.expr, found: set[str]) -> None:
        match node:
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                self._walk(left, found)
                self._walk(right, found)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not(), operand=operand):
                self._walk(operand, found)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARE for op in ops):
                for part in (left, *others):
                    self._walk(part, found)
            case ast.BoolOp(values=values):
                for part in values:
                    self._walk(part, found)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS:
                if len(args) != (2 if name in ("min", "max") else 1):
                    raise DescriptionError(f"{self.text!r}: {name} takes {2 if name in ('min', 'max') else 1} values")
                for part in args:
                    self._walk(part, found)
            case ast.Constant(value=value) if isinstance(value, bool | int | float | str):
                pass
            case ast.Name(id=name):
                found.add(name)
            case _:
                raise DescriptionError(
                    f"{self.text!r} uses {ast.unparse(node)!r}, which is not understood; an expression has names, "
                    f"numbers, + - * / **, comparisons, and, or, not, and {', '.join(_CALLS)}"
                )

    def conjuncts(self) -> "tuple[Expression, ...]":
        """The conditions that all must hold, where it is several joined by and; else itself."""
        tree = self._tree
        if not (isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)):
            return (self,)
        return tuple(part for node in tree.values for part in Expression(ast.unparse(node)).conjuncts())

    def sides(self) -> tuple[str, str, str] | None:
        """Left side, comparison and right side as SQL, if it is one comparison of sizes; None: it is not."""
        tree = self._tree
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and not isinstance(tree.ops[0], ast.NotEq)):
            return None
        left, right = (self._sql(part) for part in (tree.left, tree.comparators[0]))
        return left, _COMPARE[type(tree.ops[0])][1], right

    def value(self, names: Mapping[str, Any]) -> Any:
        """Its value where names have these values or columns."""

        def of(node: ast.expr) -> Any:
            match node:
                case ast.BinOp(left=left, op=op, right=right):
                    return _BINARY[type(op)][0](of(left), of(right))
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    return np.logical_not(of(operand))
                case ast.UnaryOp(op=ast.USub(), operand=operand):
                    return -of(operand)
                case ast.UnaryOp(operand=operand):
                    return of(operand)
                case ast.Compare(left=left, ops=ops, comparators=others):
                    sides = [of(part) for part in (left, *others)]
                    found = [_COMPARE[type(op)][0](a, b) for op, a, b in zip(ops, sides[:-1], sides[1:], strict=True)]
                    return found[0] if len(found) == 1 else np.logical_and.reduce(np.broadcast_arrays(*found))
                case ast.BoolOp(op=op, values=values):
                    join = np.logical_and if isinstance(op, ast.And) else np.logical_or
                    return join.reduce(np.broadcast_arrays(*(of(part) for part in values)))
                case ast.Call(func=ast.Name(id=name), args=args):
                    return _CALLS[name][0](*(of(part) for part in args))
                case ast.Constant(value=value):
                    return value
                case ast.Name(id=name):
                    return names[name]
            raise AssertionError(f"checked when made: {ast.unparse(node)}")

        return of(self._tree)

    def sql(self) -> str:
        """The same, as SQL over columns of these names."""
        return self._sql(self._tree)

    def _sql(self, tree: ast.expr) -> str:
        def of(node: ast.expr) -> str:
            match node:
                case ast.BinOp(left=left, op=op, right=right):
                    return f"({of(left)} {_BINARY[type(op)][1]} {of(right)})"
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    return f"(NOT {of(operand)})"
                case ast.UnaryOp(op=ast.USub(), operand=operand):
                    return f"(-{of(operand)})"
                case ast.UnaryOp(operand=operand):
                    return of(operand)
                case ast.Compare(left=left, ops=ops, comparators=others):
                    sides = [of(part) for part in (left, *others)]
                    found = [
                        f"{a} {_COMPARE[type(op)][1]} {b}" for op, a, b in zip(ops, sides[:-1], sides[1:], strict=True)
                    ]
                    return f"({' AND '.join(found)})"
                case ast.BoolOp(op=op, values=values):
                    return f"({(' AND ' if isinstance(op, ast.And) else ' OR ').join(of(part) for part in values)})"
                case ast.Call(func=ast.Name(id=name), args=args):
                    return f"{_CALLS[name][1]}({', '.join(of(part) for part in args)})"
                case ast.Constant(value=bool() as value):
                    return "TRUE" if value else "FALSE"
                case ast.Constant(value=str() as value):
                    return "'" + value.replace("'", "''") + "'"
                case ast.Constant(value=value):
                    return repr(value)
                case ast.Name(id=name):
                    return '"' + name.replace('"', '""') + '"'
            raise AssertionError(f"checked when made: {ast.unparse(node)}")

        return of(tree)


def _kind(match: re.Match[str]) -> Quantity | None:
    return next((kind for kind in KINDS if match.group(2) in kind.units), None)


def _plain(match: re.Match[str]) -> str:
    """A number with a unit as a plain number, if that is a unit at all."""
    kind = _kind(match)
    return match.group() if kind is None else repr(float(match.group(1)) * kind.units[match.group(2)])
