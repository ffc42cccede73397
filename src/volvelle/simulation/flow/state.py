"""What a simulation of flows holds: arrays where it is compiled, lists where Python runs it."""

from typing import Any, NamedTuple, TypeAlias

Column: TypeAlias = Any
"""Of numbers: an array where functions are compiled, else a list, which Python indexes ten times as fast."""

LIVE, WAITING, HEAD, TAIL, DONE, SOLVED, USED = range(7)
"""Of `tally`: flows that run, those to start in the heap, ends of the queue of others to start, flows that have ended,
times that rates were found, links with flows."""


class FlowState(NamedTuple):
    """Links, routes and flows as they are given, and what is worked with."""

    capacity: Column
    """Bytes a second of every link."""
    first: Column
    """Of a route: the place of its first link; of the next, the end."""
    links: Column
    shares: Column
    """Part of a flow that crosses the link at the same place."""
    route: Column
    """Of every flow."""
    latency: Column
    """Seconds from the last of those a flow waits for to its first byte."""
    next_first: Column
    next_flows: Column
    """Those that wait for a flow."""
    waits: Column
    """For how many a flow still waits."""
    ready: Column
    """When the last of them ended, or not before when it may start."""
    left: Column
    """Bytes still to send."""
    rate: Column
    limit: Column
    """The link that sets a flow's rate; −1: none does."""
    begin: Column
    end: Column
    live: Column
    """Flows that run; its first LIVE."""
    due: Column
    """Heap of flows that are to start, by `ready`; its first WAITING."""
    queue: Column
    """Flows that are to start and came in the order in which they will, from HEAD to TAIL: most of an exchange."""
    limited: Column
    """Seconds of flows whose rate a link has set."""
    free: Column
    """Of a link: bytes a second not yet given away."""
    open: Column
    """Of a link: shares of flows without a rate."""
    busy: Column
    """Of a link: flows on it."""
    place: Column
    """Of a link: where its flows stand in `crossing`."""
    used: Column
    """Links with flows."""
    crossing: Column
    """Flows of one link after another."""
    heap: Column
    """Links that flows without a rate cross."""
    key: Column
    """Of a place in the heap: the share of its link when it was put there; shares only grow, so it may be too low."""
    tally: Column
