"""Figure 21 of the DFModel paper: speculative decoding of Llama-3-405B on 16 SN40L, by sequence and by tree."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from volvelle.catalogue.published.dfmodel import DfModel, ServedRate
from volvelle.laws.serving.speculation import (
    accepted_tokens,
    any_accepted,
    cycle_time,
    evenly_accepted_tokens,
    proportion_tokens,
    speculated_rate,
    tree_leaves,
    tree_positions,
)
from volvelle.reproductions.dfmodel.serving import Statement, served_pass

DRAFTS = {"llama-68m": "68M", "llama3-8b": "8B", "llama3-70b": "70B"}
"""Draft models and what the paper calls them."""
TARGET = "llama3-405b"
ACCEPTANCES = (0.6, 0.7, 0.8, 0.9)
WINDOWS = (1, 2, 3, 4, 6, 8)
LOGGED_WINDOW = 4
"""The only one whose verification was logged."""
SEQUENCE, EVEN = "sequence, proportion kept", "sequence, each position"
BRANCHES, LEVELS = "tree, a branch at a time", "tree, a level at a time"
_BRANCHING = 2.0
_MOSTLY = 0.9
"""Share of the best rate from which on a draft is as good as the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRate:
    """Tokens a second of one request with a draft."""

    scheme: str
    draft: str
    window: int
    acceptance: float
    rate: float
    logged: float | None = None
    """From the logged steps, by the authors' own formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A rate that was measured, beside ours."""

    row: ServedRate
    rate: float
    bounds: tuple[float, float] | None
    """With the least and the most accepted of :data:`ACCEPTANCES`; None without a draft."""

    @property
    def difference(self) -> float:
        """Ours over measured, less one."""
        return self.rate / self.row.measured - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """Figure 21: every scheme, draft, window and acceptance; and what was measured."""

    alone: float
    """Tokens a second without a draft."""
    logged_alone: float
    rates: tuple[FoundRate, ...]
    measured: tuple[Measured, ...]

    def of(self, scheme: str, acceptance: float, draft: str | None = None) -> tuple[FoundRate, ...]:
        """Rates of a scheme with one acceptance, of one draft or of all."""
        return tuple(
            one
            for one in self.rates
            if (one.scheme, one.acceptance) == (scheme, acceptance) and draft in (None, one.draft)
        )

    def best(self, scheme: str, acceptance: float) -> dict[str, FoundRate]:
        """The best window of every draft."""
        return {draft: max(self.of(scheme, acceptance, draft), key=lambda one: one.rate) for draft in DRAFTS}


class _Steps:
    """Steps of each model on all chips, by how many positions they compute."""

    def __init__(self, data: DfModel) -> None:
        self._data = data
        self._runs = {
            (run.model, run.tokens): run for run in data.serving if run.study == "figure 21" and run.tensor == 16
        }

    def time(self, model: str, positions: float = 1.0) -> float:
        """Seconds, ours."""
        run = self._runs[model, 1]
        asked = replace(run, tokens=int(positions), context=run.cached)
        return served_pass(self._data, asked).latency

    def logged(self, model: str, positions: int = 1) -> float:
        """Seconds, as the authors' script takes them from the log."""
        return 1.0 / self._runs[model, positions].rate

    def sequence(self, target: str, draft: str, window: int, tokens: float) -> float:
        """Tokens a second with a sequence of drafts."""
        drafting = [self.time(draft)] * window
        return float(speculated_rate(tokens, cycle_time(drafting, self.time(target, window + 1))))

    def logged_sequence(self, target: str, draft: str, proportion: float) -> float:
        """The same from logged steps."""
        drafting = [self.logged(draft)] * LOGGED_WINDOW
        cycle = cycle_time(drafting, self.logged(target, LOGGED_WINDOW + 1))
        return float(speculated_rate(proportion_tokens(proportion, window=float(LOGGED_WINDOW)), cycle))

    def tree(self, target: str, draft: str, window: int, acceptance: float, *, levels: bool) -> float:
        """Tokens a second with a tree of two candidates everywhere.

        By levels, a step drafts all candidates below a level at once, and every node is verified. Otherwise as the
        paper counts: 2^K tokens are drafted one after another, and as many verified with the one before them.
        """
        branching = [_BRANCHING] * window
        tokens = accepted_tokens([any_accepted([acceptance] * int(_BRANCHING))] * window)
        if levels:
            drafting = [self.time(draft, float(tree_leaves(branching[:depth]))) for depth in range(window)]
            positions = float(tree_positions(branching))
        else:
            leaves = float(tree_leaves(branching))
            drafting = [self.time(draft)] * int(leaves)
            positions = leaves + 1.0
        return float(speculated_rate(tokens, cycle_time(drafting, self.time(target, positions))))


def solve_speculation(data: DfModel) -> Speculation:
    """Every point of the figure."""
    steps = _Steps(data)
    rates = []
    for draft in DRAFTS:
        for window in WINDOWS:
            for share in ACCEPTANCES:
                kept = float(proportion_tokens(share, window=float(window)))
                even = float(evenly_accepted_tokens(share, window=float(window)))
                logged = steps.logged_sequence(TARGET, draft, share) if window == LOGGED_WINDOW else None
                found = {
                    SEQUENCE: steps.sequence(TARGET, draft, window, kept),
                    EVEN: steps.sequence(TARGET, draft, window, even),
                    BRANCHES: steps.tree(TARGET, draft, window, share, levels=False),
                    LEVELS: steps.tree(TARGET, draft, window, share, levels=True),
                }
                rates += [
                    FoundRate(
                        scheme=scheme,
                        draft=draft,
                        window=window,
                        acceptance=share,
                        rate=rate,
                        logged=logged if scheme == SEQUENCE else None,
                    )
                    for scheme, rate in found.items()
                ]
    return Speculation(
        alone=1.0 / steps.time(TARGET),
        logged_alone=1.0 / steps.logged(TARGET),
        rates=tuple(rates),
        measured=tuple(_measured(row, steps) for row in data.served_rates),
    )


def _measured(row: ServedRate, steps: _Steps) -> Measured:
    draft, window = row.draft, row.window or 0
    if draft is None:
        return Measured(row=row, rate=1.0 / steps.time(row.target), bounds=None)

    def rate(share: float) -> float:
        return steps.sequence(row.target, draft, window, float(proportion_tokens(share, window=float(window))))

    bounds = (rate(ACCEPTANCES[0]), rate(ACCEPTANCES[-1]))
    return Measured(row=row, rate=rate(row.acceptance or 0.0), bounds=bounds)


def speculation_statements(found: Speculation) -> tuple[Statement, ...]:
    """The three observations of section VIII-B, over all acceptances and windows."""
    small, medium, large = DRAFTS
    trees = [found.best(BRANCHES, share) for share in ACCEPTANCES]
    smallest = all(best[small].rate > max(best[medium].rate, best[large].rate) for best in trees)
    longest = max(best[draft].window for best in trees for draft in DRAFTS)
    long_loses = all(
        found.of(BRANCHES, share, draft)[-1].rate < found.best(BRANCHES, share)[draft].rate
        for share in ACCEPTANCES
        for draft in DRAFTS
    )
    at = {
        draft: [
            one.rate for share in ACCEPTANCES for one in found.of(SEQUENCE, share, draft) if one.window == LOGGED_WINDOW
        ]
        for draft in DRAFTS
    }
    over = {draft: [one / best for one, best in zip(at[draft], at[small], strict=True)] for draft in (medium, large)}
    grid = {(one.draft, one.window, one.acceptance): one.rate for one in found.rates if one.scheme == SEQUENCE}
    rises = all(
        grid[draft, window, share] < grid[draft, *more]
        for draft, window, share in grid
        for more in ((2 * window, share), (window, round(share + 0.1, 1)))
        if (draft, *more) in grid
    )
    even = found.best(EVEN, 0.7)
    return (
        Statement(
            statement="A tree needs the smallest draft, 68M, and a short window.",
            holds=smallest and long_loses,
            figures="at 0.7: "
            + ", ".join(
                f"{DRAFTS[draft]} {one.rate:.0f} tokens/s at K = {one.window}" for draft, one in trees[1].items()
            )
            + f"; no draft is best beyond K = {longest}",
        ),
        Statement(
            statement="For a sequence, 68M and 8B are desirable, 70B has too much overhead.",
            holds=min(over[medium]) > _MOSTLY > max(over[large]),
            figures=f"K = {LOGGED_WINDOW}: 8B has {100 * min(over[medium]):.0f} % of the rate with 68M, "
            f"70B {100 * min(over[large]):.0f} %",
        ),
        Statement(
            statement="For a sequence, a larger window and a higher acceptance improve performance.",
            holds=rises,
            figures="for a proportion kept that does not fall with the window; with 0.7 at each position the best is "
            + ", ".join(f"K = {one.window} for {DRAFTS[draft]}" for draft, one in even.items()),
        ),
    )


def speculation_document(found: Speculation) -> dict[str, Any]:
    """What JSON says of Figure 21."""
    printed = [one for one in found.rates if one.logged is not None]
    return {
        "target": TARGET,
        "without_draft": {"logged": found.logged_alone, "ours": found.alone},
        "rows": [
            {
                "draft": DRAFTS[one.draft],
                "acceptance": one.acceptance,
                "logged": one.logged,
                "ours": one.rate,
                "difference": one.rate / (one.logged or 1.0) - 1,
            }
            for one in printed
        ]
        + [
            {
                "draft": "none",
                "acceptance": None,
                "logged": found.logged_alone,
                "ours": found.alone,
                "difference": found.alone / found.logged_alone - 1,
            }
        ],
        "points": [asdict(one) for one in found.rates],
        "measured": [
            {
                "target": one.row.target,
                "draft": one.row.draft or "none",
                "window": one.row.window,
                "acceptance": one.row.acceptance,
                "measured": one.row.measured,
                "paper": one.row.paper,
                "ours": one.rate,
                "difference": one.difference,
                "least": one.bounds and one.bounds[0],
                "most": one.bounds and one.bounds[1],
                "source": one.row.source,
            }
            for one in found.measured
        ],
        "statements": [one.document for one in speculation_statements(found)],
    }
