"""The stand-in for hosts whose power a cluster does not state: a share of the rated power of their accelerators."""

from volvelle.spread import Evidence, Figure, Interval

HOST_POWER_SHARE = Figure(
    value=0.5,
    evidence=Evidence.ASSUMED,
    source="volvelle-assumption",
    spread=Interval(0.2, 1.0),
    note="as hosts.power of the price book: DGX A100 and H100 at their maximum take 103 % and 82 %",
    date="2024",
)
"""Rated power of hosts, fans and network over the rated power of accelerators, where a cluster states none."""
