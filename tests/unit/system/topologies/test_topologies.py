"""Low-diameter networks, built router by router and held against what their papers say of them."""

import time
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import volvelle
from volvelle import DescriptionError, HyperX, PolarFly, RailOnly, SlimFly
from volvelle.studies.design_space.structure import topology_of
from volvelle.system.topologies.router_graph import RouterGraph, is_prime_power

Matrix = NDArray[np.float64]


def mms_graph(q: int) -> Matrix:
    """McKay, Miller and Širáň's graph for a prime q = 4w + 1, as section II-B of Besta & Hoefler builds it."""
    root = next(g for g in range(2, q) if len({pow(g, n, q) for n in range(q - 1)}) == q - 1)
    even, odd = ({pow(root, n, q) for n in range(start, q - 1, 2)} for start in (0, 1))
    place = {router: index for index, router in enumerate(product((0, 1), range(q), range(q)))}
    joined = np.zeros((len(place), len(place)))
    for (block, x, y), here in place.items():
        for step in (even, odd)[block]:
            joined[here, place[block, x, (y + step) % q]] = 1
        if block == 0:
            for m in range(q):
                there = place[1, m, (y - m * x) % q]
                joined[here, there] = joined[there, here] = 1
    return joined


def polarity_graph(q: int) -> Matrix:
    """Points of the projective plane over a prime field, joined where they are orthogonal."""
    points = [(1, y, z) for y, z in product(range(q), repeat=2)] + [(0, 1, z) for z in range(q)] + [(0, 0, 1)]
    joined = (np.array(points) @ np.array(points).T % q == 0).astype(float)
    np.fill_diagonal(joined, 0.0)
    return joined


def grid(side: int) -> Matrix:
    row, one = np.ones((side, side)) - np.eye(side), np.eye(side)
    return np.kron(row, one) + np.kron(one, row)


@pytest.mark.parametrize(
    ("shape", "joined"),
    [
        (SlimFly(5, 4), mms_graph(5)),
        (SlimFly(13, 10), mms_graph(13)),
        (PolarFly(5, 3), polarity_graph(5)),
        (PolarFly(11, 6), polarity_graph(11)),
        (HyperX(2, 6, 3), grid(6)),
    ],
    ids=str,
)
def test_a_shape_is_the_graph_of_its_paper(shape: RouterGraph, joined: Matrix) -> None:
    assert joined.shape == (shape.routers, shape.routers)
    assert np.array_equal(joined, joined.T)
    assert joined.sum() / shape.routers == pytest.approx(shape.degree)
    reached = np.eye(shape.routers) + joined
    assert np.all(np.linalg.matrix_power(reached, shape.hops) > 0)
    assert not np.all(np.linalg.matrix_power(reached, shape.hops - 1) > 0)
    # Fiedler: no cut into halves has fewer links than a quarter of the routers times the gap of the Laplacian.
    gap = np.linalg.eigvalsh(np.diag(joined.sum(axis=0)) - joined)[1]
    assert shape.cut == pytest.approx(gap * shape.routers / 4.0, rel=1e-9)
    half = np.argsort(np.linalg.eigh(joined)[1][:, -2]) < shape.routers // 2
    assert joined[np.ix_(half, ~half)].sum() >= shape.cut * (1 - 1e-9)


def test_the_examples_of_the_papers() -> None:
    """Besta & Hoefler, table III: 10,830 chips at 722 routers of 29 links; Lakhotia, table 1: 993 routers of 32."""
    slim = SlimFly(19, 15)
    assert (slim.chips, slim.routers, slim.degree) == (10_830, 722, 29)
    assert float(slim.diameter(10_830.0)) == 4  # two between routers, and one to a chip at either end
    polar = PolarFly(31, 16)
    assert (polar.routers, polar.q + 1) == (993, 32)
    assert polar.cut / (polar.routers * polar.degree / 2) == pytest.approx(0.413, abs=0.001)
    assert float(HyperX(2, 8, 4).bisection(256.0)) == 1.0
    assert float(HyperX(2, 8, 8).bisection(512.0)) == 0.5  # S / (2 T)


def test_a_rail_needs_no_second_level_below_its_radix() -> None:
    rail = RailOnly(radix=64)
    assert [float(rail.links(count)) for count in (64.0, 128.0)] == [64, 256]
    assert [float(rail.switch_ports(count)) for count in (64.0, 128.0)] == [64, 384]
    assert [float(rail.diameter(count)) for count in (64.0, 128.0)] == [2, 4]


@pytest.mark.parametrize(("word", "size"), [("slim-fly", 200), ("polar-fly", 57), ("hyper-x", 128), ("rail-only", 512)])
def test_a_shape_is_found_by_its_size(word: str, size: int) -> None:
    shape = topology_of(word, size)
    assert getattr(shape, "chips", size) == size


@pytest.mark.parametrize(
    ("word", "size", "says"),
    [
        ("slim-fly", 57, "there is no Slim Fly of 57 units; the nearest have 54 and 64"),
        ("polar-fly", 128, "there is no PolarFly of 128 units; the nearest have 114 and 133"),
        ("hyper-x", 57, "the nearest have 50 and 64"),
        ("rail-only", 4096, "joins at most 2,048 units, not 4,096"),
        ("slim-fly", 99_999_989, "there is no Slim Fly"),
        ("polar-fly", 1, "there is no PolarFly of 1 units; the nearest have 7"),
    ],
)
def test_a_size_outside_the_construction_is_refused_at_once_with_the_nearest(word: str, size: int, says: str) -> None:
    start = time.perf_counter()
    with pytest.raises(DescriptionError, match=says):
        topology_of(word, size)
    assert time.perf_counter() - start < 5.0


def test_numbers_that_make_no_such_graph_are_refused() -> None:
    for made in (lambda: SlimFly(6, 1), lambda: SlimFly(5, 5), lambda: PolarFly(6, 1), lambda: PolarFly(7, 5)):
        with pytest.raises(DescriptionError, match=r"prime power|has 1 to 4 chips"):
            made()
    with pytest.raises(DescriptionError, match="a HyperX needs"):
        HyperX(2, 1, 1)
    with pytest.raises(DescriptionError, match="2 ports or more"):
        RailOnly(radix=1)
    assert [number for number in range(2, 20) if is_prime_power(number)] == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19]


def test_a_machine_is_asked_about_with_another_network() -> None:
    """1,600 chips in nodes of eight: 200 of them are a Slim Fly of q = 5."""
    asked = {"on": "dgx-h100/1600", "set": {"scale_out.topology": "slim-fly"}}
    answer = volvelle.collective("all-to-all", "1 GB", **asked)  # type: ignore[arg-type]
    assert answer.cluster.dimensions[1].topology == SlimFly(5, 4)
    assert answer.baseline is not None
    assert volvelle.cost(**asked).typical.breakdown.capex > 0  # type: ignore[arg-type]
