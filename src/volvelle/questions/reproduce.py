"""Questions of ``volvelle reproduce``: which parts of a published study are computed again."""

from collections.abc import Sequence

from volvelle.base.option_kinds import Words
from volvelle.base.question import Option, Question, option

_ONLY = Option("--only", "Part to compute. May be given several times.", several=True, usually="all")
DFMODEL_PARTS = ("table6", "dse", "ratios", *(f"fig{number}" for number in range(7, 23)))
COMET_PARTS = ("targets", "fig5", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12")
PITFALLS_PARTS = ("training", "hpcg", "hpcg-uq", "hpl")
MCL_HPL_PARTS = ("table-1", "table-2-single", "table-2", "table-5", "figure-3", "figure-6", "figure-7", "readings")


class DFModelQuestion(Question):
    """Compute DFModel (Ko and others, arXiv:2412.16432) again, from the inputs in its repository kosho2013/DFModel.

    Each workload is built by its family, sharded, fused to a proven optimum and timed by the model; no result is
    stored. The answer shows each figure next to what the authors logged, and the constants that were used.
    """

    subcommand = "reproduce dfmodel"
    summary = "DFModel: Table VI, Figures 7, 8 and 10–22, and the ratios in the text."
    examples = ("--only table6", "--only fig21 --json")

    only: str | Sequence[str] = option(_ONLY, kind=Words(DFMODEL_PARTS), default=())


class CometQuestion(Question):
    """Compute COMET (Kadiyala and others, arXiv:2211.16648) again, from the tables of the paper.

    The study trains Transformer-1T on DGX A100, TPU v4 and Dojo. Without --json, the command prints the verdicts, and
    the tables of figures that --only names.
    """

    subcommand = "reproduce comet"
    summary = "COMET: Figures 5 and 7–12, and every number in the text, with verdicts."
    examples = ("", "--only fig7 --json")

    only: str | Sequence[str] = option(_ONLY, kind=Words(COMET_PARTS), default=())


class PitfallsQuestion(Question):
    """Compute the figures of "Pitfalls and learnings in performance modeling" (Thierry and others, Intel) again.

    The talk is about a Llama of 1.46 B parameters on one stack of Ponte Vecchio, and about HPCG and HPL on Aurora. The
    answer shows the model of the talk, its run and our model. It names what the slides leave open, and the assumption
    that is made here.
    """

    subcommand = "reproduce pitfalls"
    summary = "The talk on pitfalls: its table of a 1.46 B model, HPCG and HPL of Aurora."
    examples = ("", "--only hpl --json")

    only: str | Sequence[str] = option(_ONLY, kind=Words(PITFALLS_PARTS), default=())


class MclHplQuestion(Question):
    """Compute Kim and others (ETRI Journal 2021) again, next to their printed figures and the measured rates."""

    subcommand = "reproduce mcl-hpl"
    summary = "Tables 1, 2, 5 and figures 3, 6, 7 of the multi-layered model of Linpack."
    examples = ("--only table-1", "--only figure-6 --json")

    only: str | Sequence[str] = option(_ONLY, kind=Words(MCL_HPL_PARTS), default=())
