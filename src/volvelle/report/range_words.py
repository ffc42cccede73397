"""What a range covers and rests on, in a sentence: the same for every verb."""

from volvelle.applications.training.evidence import RangeBasis
from volvelle.estimators.step_errors import CHIP, PRECISION, SOFTWARE


def range_words(basis: RangeBasis, inputs: str = "the inputs above") -> str:
    """What the range of a step covers; `inputs` says where its numbers are to be seen."""
    words = _covered(basis, inputs)
    if basis.unpriced:
        words += f" It is wider by what runs are off with {_listed(basis.unpriced)}, which nothing prices."
    if basis.own_elements:
        words += f" Runs of one's own are in {_listed(basis.own_elements)}: they do not narrow it here."
    return words


def _listed(words: tuple[str, ...]) -> str:
    return " and ".join(words)


def _covered(basis: RangeBasis, inputs: str) -> str:
    weakest = f"{inputs} (the weakest is {basis.weakest_evidence})"
    if not basis.calibrated:
        nor = [way for way in basis.outside if way != CHIP]
        beside = f" No run is like it in {' and '.join(nor)} either, which widens the range more." if nor else ""
        taken = "by a third itself" if basis.stated is None else f"by a factor of {basis.stated:.2f}, as stated of them"
        return (
            f"The range covers {weakest}; no {basis.unmeasured} was there to calibrate the model, so it is taken to be "
            f"off {taken}.{beside}"
        )
    told, outside = basis.model_error, " and ".join(basis.outside)
    beyond = f" No run is like it in {outside}, which widens the range." if outside else ""
    if basis.by_constants and set(basis.outside) & {SOFTWARE, PRECISION}:
        beyond = f" No run is like it in {outside}: so much more is open, or added."
    if basis.own_runs:
        return f"The range covers {weakest} and what runs of one's own leave open.{beyond}"
    if told is None:
        return f"The range covers {weakest} and how far calibration runs were off.{beyond}"
    if basis.by_constants:
        return (
            f"The range covers {weakest}, what calibration runs leave open of the constants that this step feels, and "
            f"how far {told.rows:,} of them of {told.sources} publications were off by that with their publication "
            f"left out of the fit.{beyond}"
        )
    whose = f"on {told.regime} chips" if told.regime else "on other chips, as too few are on these,"
    return (
        f"The range covers {weakest} and how far {told.rows:,} calibration runs of {told.sources} publications {whose} "
        f"were off with their publication left out of the fit.{beyond}"
    )
