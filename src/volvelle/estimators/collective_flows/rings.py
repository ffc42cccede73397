"""Ring algorithms as messages: along one dimension after another, or around all chips at once on every rail."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np

from volvelle.estimators.collective_flows.exchange import Exchange, Messages
from volvelle.system.routing import Numbers
from volvelle.system.topologies import AbstractTopology, Ring, Torus


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A part of the data that takes a way of its own."""

    axes: tuple[int, ...]
    """In the order in which they are passed to scatter."""
    rings: tuple[tuple[int, ...], ...]
    """Of every axis: the order of its members in a ring."""


def axes_of(shapes: Sequence[AbstractTopology], along: Sequence[int]) -> tuple[int, ...]:
    """Members along every axis that rings are laid, innermost first: a torus has several."""
    found: list[int] = []
    for shape, members in zip(shapes, along, strict=True):
        found += shape.shape if isinstance(shape, Torus) and shape.chips == members else (members,)
    return tuple(found)


def channels_of(shapes: Sequence[AbstractTopology], along: Sequence[int]) -> list[Channel]:
    """Parts of the data that together use all links that rings can use.

    Inside dimensions as many rings as share no link; of a torus every axis is first for some of them.
    """
    rings: list[list[tuple[int, ...]]] = []
    turned: list[list[int]] = []
    for shape, members in zip(shapes, along, strict=True):
        sides = shape.shape if isinstance(shape, Torus) and shape.chips == members else (members,)
        kind: AbstractTopology = Ring() if isinstance(shape, Torus) else shape
        turned.append(list(range(len(rings), len(rings) + len(sides))))
        rings += [[tuple(ring) for ring in kind.rings(side)] for side in sides]
    ways, turns = lcm(*(len(each) for each in rings)), lcm(*(len(each) for each in turned))
    return [
        Channel(
            axes=tuple(axis for axes in turned for axis in (*axes[turn % len(axes) :], *axes[: turn % len(axes)])),
            rings=tuple(each[way % len(each)] for each in rings),
        )
        for turn in range(turns)
        for way in range(ways)
    ]


class _Passes:
    """What the chips of one channel have sent and received last."""

    def __init__(self, messages: Messages, chips: int) -> None:
        self.messages = messages
        self.received = np.full(chips, -1)
        self.sent = np.full(chips, -1)

    def around(self, lines: Numbers, size: float) -> None:
        """Once around, less one, each step a message to the next; `lines` has a ring in every column."""
        members = len(lines)
        if members == 1:
            return
        source, target = lines, np.roll(lines, -1, axis=0)
        steps = members - 1
        numbers = self.messages.send(
            np.broadcast_to(source, (steps, *source.shape)), np.broadcast_to(target, (steps, *target.shape)), size
        )
        self.messages.order(self.received[source], numbers[0])
        self.messages.order(self.sent[source], numbers[0])
        # A chip passes on what it has received, when it has sent what it sent before.
        self.messages.order(np.roll(numbers[:-1], 1, axis=1), numbers[1:])
        self.messages.order(numbers[:-1], numbers[1:])
        self.received[target] = numbers[-1]
        self.sent[source] = numbers[-1]


def nested_rings(
    axes: Sequence[int], size: float, channels: Sequence[Channel], *, scatter: bool = True, gather: bool = True
) -> Exchange:
    """Reduce-scatter around rings of one axis after the other, then all-gather back; or one of the two.

    Members are numbered along the first axis first. A chip goes on to the next axis when it has all of this one.
    """
    messages = Messages()
    chips = int(np.prod(axes))
    grid = np.arange(chips).reshape(tuple(axes), order="F")
    for channel in channels:
        passes = _Passes(messages, chips)
        left = size / len(channels)
        sizes = []
        for axis in channel.axes:
            left /= axes[axis]
            sizes.append((axis, left))
        for axis, each in [*(sizes if scatter else []), *(reversed(sizes) if gather else [])]:
            lines = np.moveaxis(grid, axis, 0).reshape(axes[axis], -1)
            passes.around(lines[list(channel.rings[axis])], each)
    return messages.exchange()


def rail_rings(units: int, each: int, size: float, *, passes: int = 2) -> Exchange:
    """Rings through all chips of `units` units of `each`, one a channel; channel c leaves a unit by chip c or the next.

    As NCCL lays them where every chip has a port of its own: even units are passed upwards, odd ones downwards, so that
    a ring leaves by the rail on which it enters the next unit. `passes` is 2 for an all-reduce, 1 for a gather.
    """
    messages = Messages()
    chips = units * each
    for channel in range(each):
        inside = (channel + 1 + np.arange(each)) % each
        ring = np.concatenate([unit * each + (inside if unit % 2 == 0 else inside[::-1]) for unit in range(units)])
        going = _Passes(messages, chips)
        for _ in range(passes):
            going.around(ring[:, None], size / chips / each)
    return messages.exchange()
