"""``volvelle calibrate serving --bench result.json … --save mine.yaml``."""

import click

from volvelle.base.python_function import ask
from volvelle.cli.output import Json
from volvelle.cli.waiting import waiting
from volvelle.errors import DescriptionError
from volvelle.questions.serving_benchmarks import BenchmarkQuestion, CalibrateServing


def fit_to_benchmark(question: CalibrateServing, output: Json) -> None:
    """Fit an engine to results of your own benchmark, and show the constants."""
    if question.more and not question.bench:
        raise DescriptionError(f"{str(question.more[0])!r} has no option before it; write --bench before results")
    if not question.bench:
        raise DescriptionError(f"{question.own[0]} describes your own benchmark; give --bench, too")
    if question.data is not None:
        raise DescriptionError("--data is a table of published rows, --bench is your own benchmark; give one of them")
    if question.on is None:
        raise DescriptionError("results of benchmarks do not state the machine; give it with --on, like dgx-h100/8")
    from volvelle.report.applications.bench_fit_text import bench_fit_document, print_bench_fit  # noqa: PLC0415 - slow
    from volvelle.verbs.serving.calibrate import calibrate_serving as answered  # noqa: PLC0415 - its compiler is slow

    with waiting("reading") as told:
        bench = (*question.bench, *question.more)
        calibration = ask(answered, question.as_question(BenchmarkQuestion, bench=bench, told=told))
    if output.as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("calibrate", bench_fit_document(calibration)))
    else:
        print_bench_fit(calibration)
