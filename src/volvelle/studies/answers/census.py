"""What became of a study's points: how many run, how many meet the constraints, and what stopped the others."""

from collections.abc import Mapping
from dataclasses import dataclass

from volvelle.studies.answers.designs import where
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.sweep.query import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Points counted."""

    points: int
    reasons: Mapping[str, int]
    """Points that cannot run, by reason, most first."""
    met: int
    """Points that run and meet every constraint."""
    failing: Mapping[str, int]
    """Constraint → points that run and do not meet it."""
    proven: int | None = None
    """Points that run whose mapping is proven best; None: the study maps nothing."""
    largest_gap: float = 0.0
    """Of those that are not."""

    @property
    def runs(self) -> int:
        """Points that can run."""
        return self.points - sum(self.reasons.values())


def census(query: Query, study: DesignStudy) -> Census:
    """Count the points of a study's results."""
    rows = query.rows("SELECT reason, feasible, count(*) AS points FROM points GROUP BY ALL ORDER BY points DESC")
    failed = [f"feasible AND NOT {one.sql()}" for one in study.constraints]
    tests = [f"count(*) FILTER (WHERE {test}) AS __{place}" for place, test in enumerate(failed)]
    if study.maps:
        tests += ["count(*) FILTER (WHERE feasible AND gap = 0) AS proven", "max(gap) FILTER (WHERE feasible) AS gap"]
    counted = ", ".join([f"count(*) FILTER (WHERE {where(study.constraints)}) AS met", *tests])
    (found,) = query.rows(f"SELECT {counted} FROM points")
    return Census(
        points=sum(int(row["points"]) for row in rows),
        reasons={str(row["reason"]): int(row["points"]) for row in rows if not row["feasible"]},
        met=int(found["met"]),
        failing={one.text: int(found[f"__{i}"]) for i, one in enumerate(study.constraints)},
        proven=int(found["proven"]) if study.maps else None,
        largest_gap=float(found["gap"] or 0.0) if study.maps else 0.0,
    )
