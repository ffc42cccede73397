"""A batch through the stages of a pipeline, where stages take their layers in turn and hand over behind their work."""

from dataclasses import dataclass

from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.dataflow_pipeline import fill_factor, pipelined_batch_time


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinedBatch:
    """A batch of layers that repeat, through the stages of a pipeline."""

    samples: float
    """Of one replica."""
    held: int
    """Layers of a stage."""
    factor: float
    transfer: float

    @classmethod
    def of(
        cls, handed: float, *, layers: int, stages: int, samples: float, rate: float, micro_batch: int = 1
    ) -> "PipelinedBatch":
        """So many layers, each of which hands on so many bytes, and samples of a replica."""
        held = -(-layers // stages)
        return cls(
            samples=samples,
            held=held,
            factor=float(fill_factor(float(stages), micro_batches=samples / micro_batch, layers=float(held))),
            transfer=float(point_to_point_time(handed * layers, rate=rate, latency=0.0)) if stages > 1 else 0.0,
        )

    def time(self, interval: float) -> float:
        """Seconds, where a layer and sample take `interval`."""
        return float(
            pipelined_batch_time(
                interval, layers=self.held, samples=self.samples, factor=self.factor, transfer=self.transfer
            )
        )
