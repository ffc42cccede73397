"""Addition and multiplication of a finite field, as tables: what low-diameter graphs are made of."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int64]


def field_tables(order: int) -> tuple[Table, Table]:
    """Sums and products of the elements 0 … order − 1 of the field of a prime power; 1 is the unit of products.

    An element is a polynomial over the prime field, its coefficients the digits of its number, lowest first; products
    are taken modulo the first polynomial that leaves every element but 0 an inverse.
    """
    prime = next(d for d in range(2, order + 1) if order % d == 0)
    degree = round(float(np.log(order) / np.log(prime)))
    elements = [_digits(number, prime, degree) for number in range(order)]
    sums = np.array([[_number([(a + b) % prime for a, b in zip(x, y, strict=True)], prime) for y in elements]
                     for x in elements])  # fmt: skip
    for tail in product(range(prime), repeat=degree):
        products = np.array([[_number(_times(x, y, tail, prime), prime) for y in elements] for x in elements])
        if all((row[1:] > 0).all() for row in products[1:]):
            return sums, products
    raise AssertionError(f"there is no irreducible polynomial of degree {degree} over {prime}")


def primitive_powers(products: Table) -> list[int]:
    """All elements but 0, as powers 0, 1, 2 … of the first that makes them all."""
    order = len(products)
    for root in range(1, order):
        powers = [1]
        while len(powers) < order - 1 and (value := int(products[powers[-1], root])) != 1:
            powers.append(value)
        if len(powers) == order - 1:
            return powers
    raise AssertionError(f"the field of {order} has no primitive element")


def _digits(number: int, prime: int, degree: int) -> list[int]:
    return [number // prime**place % prime for place in range(degree)]


def _number(digits: list[int], prime: int) -> int:
    return sum(digit * prime**place for place, digit in enumerate(digits))


def _times(x: list[int], y: list[int], tail: tuple[int, ...], prime: int) -> list[int]:
    """The product modulo z^degree = tail."""
    degree = len(x)
    whole = [0] * (2 * degree - 1)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            whole[i + j] = (whole[i + j] + a * b) % prime
    for place in range(2 * degree - 2, degree - 1, -1):
        high, whole[place] = whole[place], 0
        for j, t in enumerate(tail):
            whole[place - degree + j] = (whole[place - degree + j] + high * t) % prime
    return whole[:degree]
