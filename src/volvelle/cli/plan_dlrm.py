"""``volvelle plan dlrm MODEL --on SYSTEM …``."""

import json
from pathlib import Path

import click

__all__ = ["plan_dlrm"]

_SAMPLES_A_CHIP = 4096
"""Of the batch, where none is given."""


@click.command("dlrm", short_help="The best placement of a recommendation model's tables.")
@click.argument("model", default="dcnv2-mlperf")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/8.")
@click.option("--batch", default=None, type=click.IntRange(1), help="Samples of a step, over all chips.")
@click.option("--element", default="fp16", show_default=True, help="Element type of matrix products.")
@click.option("--software", default="hugectr", show_default=True, help="Whose constants: hugectr, or other.")
@click.option(
    "--state",
    default=4.0,
    type=click.FloatRange(0),
    show_default=True,
    help="Bytes of optimiser state for a number of a table.",
)
@click.option("--top", default=8, type=click.IntRange(1, 100), show_default=True, help="Placements to show.")
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plan_dlrm(
    ctx: click.Context,
    *,
    model: str,
    system: str,
    batch: int | None,
    element: str,
    software: str,
    state: float,
    top: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Rank placements of MODEL's tables on SYSTEM: whole, by rows, by columns, copied, and mixtures of these.

    MODEL is dcnv2-mlperf, dlrm-criteo, dlrm-793b, or a JSON file with the fields dense, bottom, top and tables.
    """
    from volvelle.applications.dlrm.constants import dlrm_model, dlrm_model_error  # noqa: PLC0415 - short start-up
    from volvelle.applications.dlrm.estimator import DlrmStep  # noqa: PLC0415 - short start-up
    from volvelle.applications.dlrm.models import named_dlrm  # noqa: PLC0415 - short start-up
    from volvelle.applications.dlrm.plan import rank_dlrm  # noqa: PLC0415 - short start-up
    from volvelle.applications.dlrm.tables import TableElements  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
    from volvelle.interchange.dlrm_file import read_dlrm  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.dlrm_text import dlrm_document, print_dlrm  # noqa: PLC0415 - short start-up

    cluster = Catalogue(*([folder] if folder else [])).cluster(system)
    shape = read_dlrm(Path(model)) if model.endswith(".json") else named_dlrm(model)
    step = DlrmStep(
        shape=shape,
        batch=batch or _SAMPLES_A_CHIP * cluster.accelerators,
        matrix_element=element,
        tables=TableElements(sent="fp32" if element == "fp32" else "fp16", state=state),
    )
    found = rank_dlrm(step, cluster, model=dlrm_model(software, cluster), top=top)
    if as_json:
        click.echo(
            json.dumps(dlrm_document(found, cluster, outside=dlrm_model_error(software).outside(cluster)), indent=2)
        )
    else:
        print_dlrm(found, cluster, outside=dlrm_model_error(software).outside(cluster))
    if not found.best:
        ctx.exit(1)
