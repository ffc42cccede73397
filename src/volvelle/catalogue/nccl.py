"""Constants of NCCL's cost model (``data/nccl.yaml``)."""

from functools import cache
from importlib import resources

from volvelle.catalogue.sourced_file import Form, Share, Time, read_sourced
from volvelle.estimators.nccl import NcclGeneration, NcclModel

Three = tuple[float, float, float]


class _Generation(Form):
    """Chips of a generation: the fields of the model, in GB/s."""

    link: tuple[float, float]
    inside: tuple[float, ...]
    between: tuple[float, ...]
    ll: Three
    ring_ll128: float
    tree_ll128: Three
    tree: Three
    switch_tree: Three
    switch_efficiency: float
    long_ring_latency: float

    def read(self) -> NcclGeneration:
        """In bytes a second."""
        return NcclGeneration(
            link=(1e9 * self.link[0], 1e9 * self.link[1]),
            inside=tuple(1e9 * speed for speed in self.inside),
            between=tuple(1e9 * speed for speed in self.between),
            ll=_giga(self.ll),
            ring_ll128=1e9 * self.ring_ll128,
            tree_ll128=_giga(self.tree_ll128),
            tree=_giga(self.tree),
            switch_tree=_giga(self.switch_tree),
            switch_efficiency=self.switch_efficiency,
            long_ring_latency=self.long_ring_latency,
        )


class _Model(Form):
    """The file, in GB/s and microseconds."""

    source: str
    base: dict[str, Three]
    inside: dict[str, Three]
    between: dict[str, Three]
    switch_latency: float
    switch_tree_latency: float
    tree_corrections: tuple[tuple[float, ...], ...]
    generations: dict[str, _Generation]
    rate_reached: Share
    fill: Time


def _giga(written: Three) -> Three:
    one, two, more = written
    return 1e9 * one, 1e9 * two, 1e9 * more


def _micro(written: dict[str, Three]) -> dict[str, Three]:
    return {name: (1e-6 * ll, 1e-6 * ll128, 1e-6 * simple) for name, (ll, ll128, simple) in written.items()}


@cache
def nccl_model() -> NcclModel:
    """The model with the constants of the release that the file names."""
    file = resources.files("volvelle.catalogue") / "data" / "nccl.yaml"
    found: _Model = read_sourced(file, _Model, name="nccl.yaml")
    return NcclModel(
        base=_micro(found.base),
        inside=_micro(found.inside),
        between=_micro(found.between),
        switch_latency=1e-6 * found.switch_latency,
        switch_tree_latency=1e-6 * found.switch_tree_latency,
        tree_corrections=found.tree_corrections,
        generations={name: generation.read() for name, generation in found.generations.items()},
        rate_reached=found.rate_reached,
        fill=found.fill,
    )
