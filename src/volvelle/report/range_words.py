"""What a range covers and rests on, in a sentence: the same for every verb."""

from volvelle.applications.training.evidence import RangeBasis


def range_words(basis: RangeBasis, inputs: str = "the inputs above") -> str:
    """What the range of a step covers; `inputs` says where its numbers are to be seen."""
    weakest = f"{inputs} (the weakest is {basis.weakest_evidence})"
    if not basis.calibrated:
        return (
            f"The range covers {weakest}; no run on this family of chips was there to calibrate the model, so it "
            "is taken to be off by a third itself."
        )
    told = basis.model_error
    if told is None:
        return f"The range covers {weakest} and how far calibration runs on this family of chips were off."
    whose = f"on {told.regime} chips" if told.regime else "on other chips, as too few are on these,"
    return (
        f"The range covers {weakest} and how far {told.rows:,} "
        f"calibration runs of {told.sources} publications {whose} were off with their publication left out of the fit."
    )
