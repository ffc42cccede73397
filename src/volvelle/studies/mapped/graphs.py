"""A graph by name: a file, a model of the catalogue, or a workload that DFModel published."""

from dataclasses import replace
from pathlib import Path

from volvelle.catalogue import Catalogue
from volvelle.catalogue.published.dfmodel import PublishedWorkload, dfmodel
from volvelle.errors import UnknownNameError
from volvelle.interchange.graph_file import GraphFile, read_graph
from volvelle.workload.families.dlrm import Dlrm, dlrm
from volvelle.workload.families.fft import fft
from volvelle.workload.families.gpt_layer import GptLayer, gpt_layer, gpt_layer_training
from volvelle.workload.families.hpl import Hpl, hpl
from volvelle.workload.families.shape import Transformer
from volvelle.workload.families.transformer import transformer
from volvelle.workload.graph import Workload
from volvelle.workload.transforms import with_backward


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
        from volvelle.interchange.huggingface import read_config  # noqa: PLC0415 - only for files

        return _model(read_config(Path(graph)), forward=forward, gpt_layer_only=gpt_layer_only)
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
    shape = stated.shape
    if isinstance(shape, GptLayer):
        return _streamed(gpt_layer(shape) if forward else gpt_layer_training(shape), "position")
    if isinstance(shape, Dlrm):
        made = dlrm(shape, batch=stated.local_batch or 1)
        return _streamed(made if forward else with_backward(made), "batch")
    if isinstance(shape, Hpl):
        return _streamed(hpl(replace(shape, element="fp64")), None)
    return _streamed(fft(replace(shape, element="fp32")), None)
