"""How far a model may be off on a machine: wider where no fitted row was like it."""

from dataclasses import dataclass
from math import log2

from volvelle.catalogue.sourced_file import CLOSED, Plain
from volvelle.laws.model_error import combined_doubt
from volvelle.system.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelError:
    """One standard deviation of the model as a factor, and what it grows to outside the fitted rows."""

    __pydantic_config__ = CLOSED

    inside: Plain
    """Of another publication on machines like those fitted."""
    chip: Plain
    """What a chip adds that no fitted row ran on."""
    doubling: Plain
    """What every doubling of the most chips that were fitted adds, or halving of the fewest."""
    link: Plain = 1.0
    """What exchanging over a link of another kind adds."""
    chips: tuple[str, ...] = ()
    """Chips that were fitted."""
    counts: tuple[int, int] = (1, 1)
    """Fewest and most chips."""
    links: tuple[str, ...] = ()
    """How the names of links begin that were fitted; where there are none, links are not told apart."""

    def on(self, cluster: Cluster, *, networks: bool = True) -> float:
        """For a question about a machine; without `networks`, whose doubt is counted by who times exchanges."""
        ways = (
            (self.chip, float(self._other_chip(cluster))),
            (self.doubling, self._doublings(cluster)),
            (self.link, float(bool(self._other_links(cluster) if networks else self.other_inside(cluster)))),
        )
        return float(combined_doubt(self.inside, ways))

    def axes(self, cluster: Cluster) -> tuple[str, ...]:
        """Ways in which a machine leaves those fitted, by name."""
        left = {"chip": self._other_chip(cluster), "size": self._doublings(cluster), "link": self._other_links(cluster)}
        return tuple(name for name, found in left.items() if found)

    def outside(self, cluster: Cluster) -> tuple[str, ...]:
        """In which ways a machine is outside_calibration those fitted, for people."""
        found = []
        if self._other_chip(cluster):
            found.append(f"no fitted run was on {cluster.chip.name}")
        if self._doublings(cluster):
            fewest, most = self.counts
            known = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            found.append(f"fitted runs had {known} chips, not {cluster.accelerators}")
        found += [f"no fitted run exchanged over {name}" for name in self._other_links(cluster)]
        return tuple(found)

    def other_inside(self, cluster: Cluster) -> tuple[str, ...]:
        """The innermost link, if it is of another kind than those fitted."""
        inmost = next((each.link.name for each in cluster.dimensions if each.size > 1), None)
        return tuple(name for name in self._other_links(cluster) if name == inmost)

    def other_networks(self, cluster: Cluster) -> tuple[str, ...]:
        """Links further out of another kind."""
        inside = self.other_inside(cluster)
        return tuple(name for name in self._other_links(cluster) if name not in inside)

    def _other_chip(self, cluster: Cluster) -> bool:
        return cluster.chip.name not in self.chips

    def _doublings(self, cluster: Cluster) -> float:
        fewest, most = self.counts
        chips = cluster.accelerators
        return max(0.0, log2(chips / most), log2(fewest / chips))

    def _other_links(self, cluster: Cluster) -> tuple[str, ...]:
        if not self.links:
            return ()
        used = (each.link.name for each in cluster.dimensions if each.size > 1)
        return tuple(name for name in used if not name.startswith(self.links))
