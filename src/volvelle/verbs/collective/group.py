"""Which chips of a machine take part in a collective: a count of consecutive ones, or members along each dimension."""

from collections.abc import Iterator
from math import prod

from volvelle.errors import DescriptionError
from volvelle.mapping.placement import members
from volvelle.questions.collective import Group
from volvelle.system.cluster import Cluster

_MOST = 24
"""Groups of a sweep."""


def members_of(group: Group, cluster: Cluster) -> tuple[int, ...]:
    """Return the members of a group along every network dimension, innermost first."""
    sizes = tuple(part.size for part in cluster.dimensions)
    if group is None:
        return sizes
    assert not isinstance(group, str), "a question reads text"
    counts = (group,) if isinstance(group, int) else group
    stated = f"group is {'x'.join(map(str, counts))}"
    if prod(counts) > cluster.accelerators:
        raise DescriptionError(
            f"{stated}, {prod(counts):,} GPUs; {cluster.name} has {cluster.accelerators:,}: give at most that many, "
            f"or a larger machine, like {_kind(cluster)}/{prod(counts)}"
        )
    if isinstance(group, int):
        return _consecutive(group, cluster)
    if len(counts) > len(sizes):
        raise DescriptionError(
            f"{stated}, {len(counts)} dimensions; {cluster.name} has {len(sizes)}: {_shape(cluster)}"
        )
    along = (*counts, *(1 for _ in sizes[len(counts) :]))
    for count, part in zip(along, cluster.dimensions, strict=True):
        if count > part.size:
            raise DescriptionError(
                f"{stated}, {count} along {part.name}; {cluster.name} has {part.size} there: its dimensions, innermost "
                f"first, are {_shape(cluster)}"
            )
    return along


def groups_of(cluster: Cluster) -> Iterator[tuple[int, ...]]:
    """Groups of consecutive chips that fill the dimensions from the innermost, from two chips to all."""
    counts = [
        inside * own
        for inside, span, part in zip((1, *cluster.spans), cluster.spans, cluster.dimensions, strict=False)
        for own in _divisors(part.size)
        if own > 1 and inside * own <= span
    ]
    while len(counts) > _MOST:  # those nearest to their neighbours are left out, the ends of dimensions last
        between = [place for place in range(1, len(counts) - 1) if counts[place] not in cluster.spans]
        if not between:
            break
        counts.pop(min(between, key=lambda place: counts[place + 1] / counts[place - 1]))
    for count in counts:
        yield _consecutive(count, cluster)


def _consecutive(count: int, cluster: Cluster) -> tuple[int, ...]:
    along = tuple(round(float(part)) for part in members(float(count), 1.0, cluster.spans))
    if prod(along) != count:
        near = [each for each in _divisors(cluster.accelerators) if each > 1]
        below, above = max((n for n in near if n < count), default=None), min(n for n in near if n > count)
        said = " or ".join(f"{each:,}" for each in (below, above) if each is not None)
        raise DescriptionError(
            f"group is {count}, which does not divide the {cluster.accelerators:,} GPUs of {cluster.name}; give "
            f"{said}, or GPUs per dimension, like {_example(cluster)}"
        )
    return along


def _divisors(count: int) -> list[int]:
    small = [each for each in range(1, int(count**0.5) + 1) if count % each == 0]
    return sorted({*small, *(count // each for each in small)})


def _shape(cluster: Cluster) -> str:
    return " × ".join(f"{part.size} ({part.name})" for part in cluster.dimensions)


def _kind(cluster: Cluster) -> str:
    return cluster.name.rpartition("/")[0] or cluster.name


def _example(cluster: Cluster) -> str:
    return "x".join(str(part.size) for part in cluster.dimensions)
