"""A stack's constants after a few runs of one's own: what all published runs leave open, and what own runs add to it.

A user is a new source. Of software and chips that many published runs are of, little is left open; of others, as much
as the priors of the fit say (`stack_fit.PRIORS`). Beside that every machine has something of its own, a share of those
priors, of attention all; and its products go wrong alike where they are of one shape. Share, scatter and the spread
over shapes are those that make left-out sources likeliest, from calibration runs alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.training.stack_fit import (
    PRIORS,
    Effect,
    EffectModel,
    Run,
    Table,
    effects_on,
    errors_and_slopes,
    shipped_logs,
)
from volvelle.catalogue.model_errors import ModelErrorRegime, model_error
from volvelle.catalogue.own_spread import OwnScatter
from volvelle.catalogue.residuals import residuals
from volvelle.estimators.factored import CONSTANTS, FACTORED, NETWORK, WIDE, chip_shares, run_variance
from volvelle.estimators.own_shapes import OwnRunsTold, OwnShapes, product_shapes, shape_covariance
from volvelle.laws.shrinkage import LinearPosterior, linear_posterior, student_tails
from volvelle.mapping.parallelism import MappingTable

_WIDE = "bf16"
OWN_WHOLE = ("attention_efficiency",)
"""Constants of which a machine's own is all of their priors: fused attention comes with a version of software, and is
as unlike between two versions of one name as between two names. Ranges of left-out publications then score 0.545 for
0.608, most by runs of long sequences."""
_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_SCATTERS = (0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1)
_SHAPES = (0.0, 0.04, 0.06, 0.08, 0.1, 0.12)
_REACHES = (1.0, 2.0)
_FREEDOMS = (1.0, 1.5, 2.0, 3.0, 4.0)
_AS_LIKELY = 0.5
"""Of logarithms of likelihoods."""
_MOST_ROWS = 60
"""Of one source, of which likelihoods are found."""


def own_variances(share: float) -> Table:
    """Of constants of a machine: of all that priors leave to families, software and both, a share of each deviation."""
    found = {
        name: (1.0 if name in OWN_WHOLE else share) ** 2
        * sum(deviation**2 for kind, deviation in PRIORS[name].items() if kind != "all")
        for name in FACTORED
    }
    return np.array([(found | {WIDE: found[FACTORED[0]], NETWORK: 0.0})[name] for name in CONSTANTS])


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFit:
    """What own runs tell."""

    posterior: LinearPosterior
    kept: bool = True
    """Whether they are followed."""
    before: Table
    """Errors of own runs, each left out: as shipped, and with constants that the others tell."""
    after: Table
    prior: Table
    """Covariance of logarithms of constants without them."""
    shapes: Table
    slopes: Table
    """Of runs: shapes of their products, and slopes of ln(time) in constants."""
    spread: OwnScatter

    @property
    def change(self) -> Table:
        """Of logarithms of constants."""
        return self.posterior.change if self.kept else np.zeros_like(self.posterior.change)

    @property
    def told(self) -> OwnRunsTold:
        """What is left open of a new run."""
        known, runs = self.posterior, len(self.shapes) if self.kept else 0
        wider = sqrt(known.inflation)
        return OwnRunsTold(
            covariance=known.covariance if self.kept else known.inflation * self.prior,
            scatter=wider * self.spread.scatter,
            network=wider * self.spread.network,
            freedom=known.freedom,
            stretch=self.spread.stretch,
            inflation=known.inflation,
            shapes=OwnShapes(
                shapes=self.shapes[:runs],
                slopes=self.slopes[:runs],
                left=known.left[:runs],
                noise=known.noise[:runs],
                spread=wider * self.spread.shape,
                reach=self.spread.reach,
            ),
        )


def fit_own(
    slopes: Table, errors: Table, shapes: Table, *, prior: Table, spread: OwnScatter, doubts: Table | None = None
) -> OwnFit:
    """Constants from own runs, and what is left of runs by their shapes.

    `doubts` say by what factor each run may be further off than others. Rows after those that have shapes are no runs
    but tell constants alone.
    """
    runs = len(shapes)
    shares = chip_shares(slopes[:runs])
    alike = np.zeros((len(errors), len(errors)))
    alike[:runs, :runs] = shape_covariance(shapes, shares, spread=spread.shape, reach=spread.reach)
    variances = run_variance(slopes, scatter=spread.scatter, network=spread.network)
    wide = variances + spread.shape**2
    variances[runs:] = wide[runs:]
    if doubts is not None:
        variances = variances + (doubts**2 - 1.0) * wide
    posterior = linear_posterior(
        slopes, errors, covariance=prior, noise=np.sqrt(variances), freedom=spread.freedom, alike=alike
    )
    return OwnFit(
        posterior=posterior,
        before=errors,
        after=posterior.left_out,
        prior=prior,
        shapes=shapes,
        slopes=slopes[:runs],
        spread=spread,
    )


def collectives_off() -> ModelErrorRegime:
    """How far collectives are off that their fit did not see: what a step waits for is off as they are."""
    return model_error("collectives")


class Corpus:
    """All published runs as they are predicted now, and what they leave open of constants."""

    def __init__(self, runs: Sequence[Run], *, calibration: NDArray[np.bool_] | None = None) -> None:
        self.runs = tuple(runs)
        self.calibration = np.ones(len(self.runs), dtype=bool) if calibration is None else calibration
        self.errors, self.slopes = errors_and_slopes(self.runs, shipped_logs(self.runs))
        self.shapes = shapes_of(self.runs)
        self.sources = np.array([run.source for run in self.runs])
        # Constants that the fit holds were fitted to runs as well, and are as open as these leave them.
        fitted = tuple(run for run, kept in zip(self.runs, self.calibration, strict=True) if kept)
        self._model = EffectModel(fitted, held={})
        self._spreads: dict[tuple[str, float], Table] = {}

    @cached_property
    def left_out(self) -> Table:
        """ln(measured / predicted) by a fit that did not see the run's source; of runs held out, as shipped."""
        known = {run.row_id: run.new_source for run in residuals()}
        return np.array(
            [known.get(run.row.head.row_id, error) for run, error in zip(self.runs, self.errors, strict=True)]
        )

    def spread(self, stack: str, family: str, element: str, *, without: str = "", share: float = 0.0) -> Table:
        """Covariance of logarithms of constants of a new machine, by all calibration runs but those of a source."""
        own = own_variances(share)
        if (without, share) not in self._spreads:
            fitted = self.calibration
            kept = self.sources[fitted] != without
            errors, slopes = self.errors[fitted], self.slopes[fitted]
            self._spreads[without, share] = self._model.covariance(errors, slopes, kept, own=own)
        known = self._spreads[without, share]
        felt = [(name, effects_on(stack, family, element)) for name in FACTORED]
        felt.append((FACTORED[0], effects_on(stack, family, _WIDE)))
        places = np.zeros((len(CONSTANTS), len(known)))
        found = np.diag(own)
        # No run tells of software's network: it is as far off as collectives of other publications are.
        at_network = CONSTANTS.index(NETWORK)
        found[at_network, at_network] += collectives_off().between ** 2
        unseen = defaultdict[Effect, list[int]](list)
        for at, (name, keys) in enumerate(felt):
            for kind, whose in keys.items():
                if kind not in PRIORS[name]:
                    continue
                number = self._model.effects.get((name, kind, whose))
                if number is None:
                    unseen[name, kind, whose].append(at)
                else:
                    places[at, number] = 1.0
        found += places @ known @ places.T
        for (constant, kind, _), felt_by in unseen.items():
            here = np.zeros(len(CONSTANTS))
            here[felt_by] = PRIORS[constant][kind]
            found += np.outer(here, here)
        return found

    def machines(self, *, fewest: int) -> Mapping[tuple[str, str, str, str], NDArray[np.int64]]:
        """Source, accelerator, element type and software → its runs, of those with enough."""
        found = defaultdict[tuple[str, str, str, str], list[int]](list)
        for place, run in enumerate(self.runs):
            found[run.source, run.row.accelerator, run.element, run.stack].append(place)
        return {key: np.array(places) for key, places in found.items() if len(places) >= fewest}


def shapes_of(runs: Sequence[Run]) -> Table:
    """Shapes of their products, a row a run."""
    found = [product_shapes(run.question.work, MappingTable.of([run.question.decision])) for run in runs]
    return np.array([one[0] if one is not None else np.zeros(3) for one in found]).reshape(-1, 3)


def own_spreads(corpus: Corpus, *, fewest: int = 8) -> tuple[tuple[float, OwnScatter], ...]:
    """Shares of priors that are a machine's own, and scatters of its rows, that make left-out sources likeliest.

    All that are as likely as so few sources can tell, the likeliest first.
    """
    drawn = list(_drawn(corpus, fewest))

    def unlikely(share: float, scatter: OwnScatter) -> float:
        total = 0.0
        for (source, _, element, stack), places in drawn:
            family = corpus.runs[places[0]].family
            prior = corpus.spread(stack, family, element, without=source, share=share)
            slopes, errors, count = corpus.slopes[places], corpus.left_out[places], len(places)
            together = shape_covariance(
                corpus.shapes[places], chip_shares(slopes), spread=scatter.shape, reach=scatter.reach
            )
            alone = np.diag(run_variance(slopes, scatter=scatter.scatter, network=scatter.network))
            root = np.linalg.cholesky(slopes @ prior @ slopes.T + together + alone)
            rest = np.linalg.solve(root, errors)
            tails = student_tails(float(rest @ rest), count, freedom=scatter.freedom)
            # A source of many rows is not as many sources.
            total += (tails + float(np.log(np.diag(root)).sum())) / count**0.5
        return total

    network = float(f"{collectives_off().within:.4g}")
    scatters = [
        OwnScatter(scatter=scatter, shape=shape, reach=reach, network=network, freedom=freedom)
        for scatter, shape, reach, freedom in product(_SCATTERS, _SHAPES, _REACHES, _FREEDOMS)
    ]
    tried = {pair: unlikely(*pair) for pair in product(_SHARES, scatters)}
    best = min(tried.values())
    return tuple(pair for pair, value in sorted(tried.items(), key=lambda one: one[1]) if value < best + _AS_LIKELY)


def _drawn(corpus: Corpus, fewest: int) -> Iterator[tuple[tuple[str, str, str, str], NDArray[np.int64]]]:
    for key, places in corpus.machines(fewest=fewest).items():
        if corpus.calibration[places].all():
            few = len(places) <= _MOST_ROWS
            yield key, places if few else np.random.default_rng(0).choice(places, _MOST_ROWS, replace=False)
