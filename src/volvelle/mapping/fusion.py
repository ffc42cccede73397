"""Which kernels run together on a chip: partitions one after another, kernels inside one pipelined over tiles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from volvelle.errors import MappingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """The decision: every kernel in one partition, partitions in the order they run."""

    partitions: tuple[tuple[str, ...], ...]
    """Names of the kernels of each partition. An empty one is a slot that pins left open; it takes no time."""
    tiles: int = 1
    """How many tiles pass through every partition."""
    cores: tuple[tuple[int, ...], ...] = ()
    """Cores of each kernel, in the shape of `partitions`; none given: shared out as well as can be."""
    weight_tiles: tuple[int, ...] = ()
    """For each partition: in how many pieces its weights come; none given: all at once."""

    def __post_init__(self) -> None:
        if self.tiles < 1:
            raise MappingError(f"a fusion of {self.tiles!r} tiles; there must be at least one")
        seen: dict[str, int] = {}
        for place, names in enumerate(self.partitions):
            for name in names:
                if name in seen:
                    raise MappingError(
                        f"kernel {name!r} is in partition {seen[name]} and in partition {place}; it runs once"
                    )
                seen[name] = place
        if self.cores:
            self._same_length("cores", self.cores)
            for place, (names, cores) in enumerate(zip(self.partitions, self.cores, strict=True)):
                if len(names) != len(cores) or any(count < 1 for count in cores):
                    raise MappingError(
                        f"partition {place} has {len(names)} kernels and cores {cores}; give each at least one core"
                    )
        if self.weight_tiles:
            self._same_length("weight_tiles", self.weight_tiles)
            for place, pieces in enumerate(self.weight_tiles):
                if pieces < 1:
                    raise MappingError(f"partition {place} has its weights in {pieces} pieces; at least one is needed")

    def _same_length(self, name: str, given: Sequence[object]) -> None:
        if len(given) != len(self.partitions):
            raise MappingError(f"{name} has {len(given)} entries for {len(self.partitions)} partitions")

    def place(self, kernel: str) -> int:
        """In which partition a kernel runs."""
        for place, names in enumerate(self.partitions):
            if kernel in names:
                return place
        raise MappingError(f"kernel {kernel!r} is in no partition")

    def check(self, kernels: Iterable[str], edges: Iterable[tuple[str, str]]) -> None:
        """Refuse it unless it holds these kernels, each once, and no edge runs backwards."""
        places = {name: place for place, names in enumerate(self.partitions) for name in names}
        known = list(kernels)
        for name in known:
            if name not in places:
                raise MappingError(f"kernel {name!r} is in no partition; put it into one")
        for name in places.keys() - set(known):
            raise MappingError(f"partition {places[name]} holds {name!r}, which is no kernel of the graph")
        for producer, consumer in edges:
            if places[producer] > places[consumer]:
                raise MappingError(
                    f"kernel {consumer!r} of partition {places[consumer]} reads what {producer!r} writes "
                    f"in partition {places[producer]}; move {producer!r} to partition {places[consumer]} or before"
                )
