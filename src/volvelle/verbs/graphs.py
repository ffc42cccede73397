"""A graph by name: a file, a model of the catalogue, or a workload that DFModel published."""

from dataclasses import replace
from pathlib import Path

from volvelle.catalogue import Catalogue
from volvelle.catalogue.published.dfmodel import PublishedWorkload, dfmodel
from volvelle.errors import UnknownNameError
from volvelle.interchange.graph_file import GraphFile, read_graph
from volvelle.verbs.named import model_of
from volvelle.workload.families.dlrm import Dlrm, EmbeddingTables, dlrm
from volvelle.workload.families.fft import Fft, fft
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer, gpt_layer_training
from volvelle.workload.families.hpl import Hpl, hpl
from volvelle.workload.families.shape import Transformer
from volvelle.workload.families.transformer import transformer
from volvelle.workload.graph import Workload
from volvelle.workload.transforms import with_backward

__all__ = ["read_graph_argument"]


def read_graph_argument(
    graph: str | Path | Transformer | Workload, catalogue: Catalogue, *, forward: bool, gpt_layer_only: bool = False
) -> GraphFile:
    """The graph, the dimension it streams and its pins; of a workload as it is, positions stream if it has any.

    A model is all its blocks, with its backward pass unless `forward`; or, where that is asked for, the layer of a GPT
    of its width as DFModel draws it, without embedding, head, gates, groups of heads and experts.
    """
    if isinstance(graph, Workload):
        return _streamed(graph, "position" if "position" in graph.sizes else None)
    if isinstance(graph, Transformer):
        return _model(graph, forward=forward, gpt_layer_only=gpt_layer_only)
    if str(graph).endswith(".json") or Path(graph).is_dir():
        return _model(model_of(graph, catalogue), forward=forward, gpt_layer_only=gpt_layer_only)
    if isinstance(graph, Path) or graph.endswith((".yaml", ".yml")) or Path(graph).exists():
        return read_graph(Path(graph))
    published = {workload.key: workload for workload in dfmodel().workloads}
    models = catalogue.names("models")
    if graph in models:
        return _model(catalogue.model(graph), forward=forward, gpt_layer_only=gpt_layer_only)
    if graph in published:
        return _published(published[graph], forward=forward)
    raise UnknownNameError.among("graph", graph, [*published, *models])


def _model(shape: Transformer, *, forward: bool, gpt_layer_only: bool) -> GraphFile:
    """A model, or a GPT's layer of its width."""
    if not gpt_layer_only:
        whole = transformer(shape)
        return replace(_streamed(whole if forward else with_backward(whole), "position"), is_model=True)
    layer = GptLayer(
        name=shape.name,
        hidden=shape.hidden,
        heads=shape.heads,
        head_dim=shape.head_dim,
        ffn=shape.ffn,
        sequence=shape.sequence,
        layers=shape.layers,
    )
    return _streamed(gpt_layer(layer) if forward else gpt_layer_training(layer), "position")


def _streamed(workload: Workload, stream: str | None) -> GraphFile:
    return GraphFile(workload=workload, stream=stream, pins={block.name: {} for block in workload.blocks})


def _published(stated: PublishedWorkload, *, forward: bool) -> GraphFile:
    """One of DFModel's workloads, by the families of ours."""
    if stated.hidden is not None:
        layer = GptLayer(
            name=stated.key,
            hidden=stated.hidden,
            heads=stated.heads or 1,
            head_dim=stated.head_dim or 1,
            ffn=stated.ffn or 4 * stated.hidden,
            sequence=stated.sequence or 1,
            layers=stated.layers or 1,
        )
        return _streamed(gpt_layer(layer) if forward else gpt_layer_training(layer), "position")
    if stated.layer_width is not None:
        tables = EmbeddingTables(
            count=stated.tables or 1, rows=stated.rows or 1, width=stated.width or 1, pooling=stated.pooling or 1
        )
        shape = Dlrm(
            name=stated.key,
            dense=stated.layer_width,
            bottom=(stated.layer_width,) * (stated.bottom_layers or 1),
            top=(stated.layer_width,) * (stated.top_layers or 1),
            tables=(tables,),
            interaction="apart",
            activation=False,
            element="bf16",
        )
        made = dlrm(shape, batch=stated.local_batch or 1)
        return _streamed(made if forward else with_backward(made), "batch")
    if stated.order is not None:
        return _streamed(
            hpl(Hpl(name=stated.key, order=stated.order, block=stated.block or 1, steps=stated.steps)), None
        )
    return _streamed(fft(Fft(name=stated.key, length=stated.length or 4, radix=stated.radix)), None)
