"""Constants of a serving engine from one's own benchmark: read, replayed, fitted, and saved as an engine file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from volvelle.applications.serving.instance import Instance
from volvelle.base.python_function import asks
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import hub_model
from volvelle.catalogue.engine_files import EngineFile, write_engine_file
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.interchange.bench_results.readers import read_results
from volvelle.interchange.bench_results.result import BenchResult
from volvelle.questions.serving_benchmarks import BenchmarkQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import catalogue_of
from volvelle.verbs.serving.checkpoint import with_weights
from volvelle.verbs.serving.question import ServingQuestion

if TYPE_CHECKING:
    from volvelle.applications.serving.bench_fit import BenchFit

_WORDS = {"tensor": "tp", "pipeline": "pp", "expert": "ep", "data": "dp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingCalibration:
    """An engine fitted to runs."""

    question: ServingQuestion
    instance: Instance
    cluster: Cluster
    results: tuple[BenchResult, ...]
    fit: "BenchFit"
    saved: Path | None = None
    """Where the engine file was written; None: nowhere."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the runs do not cover."""
        return tuple(_uncovered(self))

    @property
    def file(self) -> EngineFile:
        """As a file that ``--engine`` takes."""
        served, layout = self.instance.served, self.instance.layout
        return EngineFile(
            engine=self.instance.engine.name,
            family=self.instance.chip.family,
            fitted_to=f"{len(self.results)} runs of {served.shape.name} on {layout.chips} × {self.instance.chip.name}",
            covers={
                "model": served.shape.name,
                "chip": self.instance.chip.name,
                "layout": {name: getattr(layout, name) for name in ("tensor", "pipeline", "expert", "data")},
                "weights": served.weights,
                "kv": served.cache,
                "clients": sorted({run.clients for run in self.results if run.clients is not None}),
                "rates": sorted({run.rate for run in self.results if run.rate != float("inf")}),
                "input_tokens": sorted({round(float(run.input_tokens.mean())) for run in self.results}),
                "output_tokens": sorted({round(float(run.output_tokens.mean())) for run in self.results}),
            },
            host_overlapped=self.fit.constants.host_overlapped,
            constants={name: float(f"{getattr(self.fit.constants, name):.6g}") for name in self.fit.told},
            error={name: float(f"{value:.4g}") for name, value in self.fit.error.items()},
        )


@asks(BenchmarkQuestion)
def calibrate_serving(question: BenchmarkQuestion) -> ServingCalibration:
    """Return constants of an engine, fitted to results of your own benchmark and to nothing else.

    `bench` are results of ``vllm bench serve --save-result`` (better with ``--save-detailed``), of SGLang's
    ``bench_serving`` or of AIPerf, all of one model on one server. State what the files do not: the machine, and the
    layout and settings of the server as `serve` has them. `save` is the engine file to write, which
    ``serve(engine=…)`` reads.
    """
    known = catalogue_of(question.catalogue)
    if not question.bench:
        raise DescriptionError("no result of a benchmark is given; give --bench with one file or several")
    results = tuple(result for file in question.bench for result in read_results(Path(file)))
    names = ("engine", "version", "weights", "kv", "tensor", "pipeline", "expert", "max_batched_tokens", "max_seqs")
    given = {name: getattr(question, name) for name in names}
    given |= {"data": question.ranks, "memory_share": question.si("memory_share")}
    said = _agreed(results, {name: value for name, value in given.items() if value is not None})
    cluster = question.on if isinstance(question.on, Cluster) else known.cluster(question.on)
    _check_chip(results, cluster, known)
    server = _question(_model(results, question.model, known), cluster, said)
    shape = known.model(server.model)
    weights = None if said.get("weights") is None else str(said["weights"])
    server = with_weights(server, weights, known, shape, cluster)
    instance = server.instance(known, shape, cluster)
    _check_version(said.get("version"), instance, results)
    fit = _fit(results, instance, question.told or (lambda line: None))
    found = ServingCalibration(question=server, instance=instance, cluster=cluster, results=results, fit=fit)
    if question.save is None:
        return found
    write_engine_file(found.file, Path(question.save))
    return replace(found, saved=Path(question.save))


def _fit(results: tuple[BenchResult, ...], instance: Instance, told: Callable[[str], None]) -> "BenchFit":
    from volvelle.applications.serving.bench_fit import bench_run, fit_runs  # noqa: PLC0415 - its compiler is slow

    for result in results:
        longest = int((result.input_tokens + result.output_tokens).max())
        if not instance.fits(float(longest)):
            raise DescriptionError(
                f"{result.place}: {instance.why_not(float(longest))}, yet it was measured; check --tp"
            )
    return fit_runs([bench_run(result, instance) for result in results], told=told)


def _agreed(results: tuple[BenchResult, ...], given: Mapping[str, object]) -> dict[str, object]:
    """What is told and what files say, if all agree."""
    said: dict[str, object] = dict(given)
    where = dict.fromkeys(said, "you")
    for result in results:
        for field in ("engine", "version", "weights", "kv", *_WORDS, "max_batched_tokens", "max_seqs", "memory_share"):
            text = result.told.get(_WORDS.get(field, field))
            if text is None:
                continue
            value = _read(field, text, result.place)
            if said.setdefault(field, value) != value:
                flag = field if field == "version" else ServingQuestion.option_named(field).flag.removeprefix("--")
                raise DescriptionError(
                    f"{result.place} was measured with {flag} {value}, and {where[field]} said {said[field]}; fit "
                    f"runs of one server at a time"
                )
            where.setdefault(field, result.place)
    return said


def _read(field: str, text: str, place: str) -> object:
    if field in ("engine", "version", "weights", "kv"):
        return text
    try:
        return float(text) if field == "memory_share" else int(text)
    except ValueError:
        raise DescriptionError(f"{place}: {field} is {text!r}, and a number is needed; mend the metadata") from None


def _model(results: tuple[BenchResult, ...], given: str | None, catalogue: Catalogue) -> str:
    """The model of all files, which is the one that was told."""
    wanted = None if given is None else catalogue.model(given).name
    for result in results:
        name = hub_model(result.model) if result.model else None
        if name is None and result.model:
            try:
                name = catalogue.model(result.model).name
            except (UnknownNameError, DescriptionError):
                name = None
        if name is not None and wanted is not None and name != wanted:
            raise DescriptionError(
                f"{result.place} is of {result.model} ({name}), and {wanted} was asked for or measured by others; fit "
                f"one model at a time"
            )
        wanted = wanted or name
    if wanted is None:
        called = results[0].model or "nothing"
        raise DescriptionError(
            f"{results[0].place} calls its model {called!r}, which is not in the catalogue; name it by --model"
        )
    return wanted


def _question(model: str, cluster: Cluster, said: Mapping[str, object]) -> ServingQuestion:
    told = {name: value for name, value in said.items() if name not in ("version", "weights")}
    return ServingQuestion(model=model, on=cluster.name, **told)  # type: ignore[arg-type]


def _check_chip(results: tuple[BenchResult, ...], cluster: Cluster, catalogue: Catalogue) -> None:
    for result in results:
        chip = result.told.get("chip")
        if chip is not None and catalogue.chip(chip).name != cluster.chip.name:
            raise DescriptionError(
                f"{result.place} was measured on {chip}, and {cluster.name} has {cluster.chip.name}; say the machine "
                f"that it ran on with --on"
            )


def _check_version(version: object, instance: Instance, results: tuple[BenchResult, ...]) -> None:
    """Refuse runs of a version whose rules are not those that are followed."""
    if version is None:
        return
    least, _, most = instance.engine.version.partition(" to ")
    parts = _parts(str(version))
    if not parts:
        raise DescriptionError(f"the version {version!r} cannot be read; write it like 0.19.0")
    low, high = _parts(least), _parts(most or least)
    if parts[: len(low)] < low or parts[: len(high)] > high:
        raise DescriptionError(
            f"{results[0].place} was measured on {instance.engine.title} {version}, and the rules that are followed "
            f"are those of {instance.engine.version}; measure such a version, or name an --engine of that time"
        )


def _parts(version: str) -> tuple[int, ...]:
    numbers = []
    for part in version.lower().removeprefix("v").split("."):
        digits = part[: next((at for at, sign in enumerate(part) if not sign.isdigit()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def _uncovered(found: ServingCalibration) -> Iterator[str]:
    """What was not measured, so what the constants do not say."""
    results, fit = found.results, found.fit
    clients = sorted({run.clients for run in results if run.clients is not None})
    rates = sorted({run.rate for run in results if run.rate != float("inf")})
    if len(clients) + len(rates) <= 1:
        only = f"{clients[0]} clients" if clients else f"{rates[0]:g} requests a second" if rates else "one load"
        yield f"one load only ({only}): what changes with more or fewer requests at once rests on the catalogue"
    prompts = sorted({round(float(run.input_tokens.mean())) for run in results})
    if prompts[-1] < 2 * prompts[0]:
        yield f"prompts of about {prompts[0]:,} tokens only: longer and shorter ones rest on the laws"
    if not all(run.detailed for run in results):
        yield "files without lengths of requests: all are taken to be the mean (--save-detailed, --output-details)"
    if any(run.rate != float("inf") and run.arrival is None for run in results):
        yield "files without times of requests: arrivals are drawn again at their rate"
    yield f"one layout ({found.instance.layout.chips} × {found.instance.chip.name}) and one model"
    from volvelle.applications.serving.bench_fit import FITTED_TO_RUNS  # noqa: PLC0415 - its compiler is slow

    left = [name.replace("_", " ") for name in FITTED_TO_RUNS if name not in fit.told]
    if left:
        yield f"not told apart by these figures, so left as they were: {', '.join(left)}"
    if len(results) < 3:
        yield "fewer than three runs: intervals stay as wide as the catalogue's"
