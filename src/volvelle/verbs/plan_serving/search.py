"""The search: groups in the order of what a closed form allows, until none that is left can be among the first."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from math import ceil
from multiprocessing import current_process, get_context

from volvelle.applications.serving.goodput import Trial
from volvelle.errors import DescriptionError
from volvelle.verbs.plan_serving.candidates import Group
from volvelle.verbs.plan_serving.screening import GroupScreen, Key, Screened, Search, TrialKey

_MANY = 2000
"""Candidates from which on several processes share them."""
_TOGETHER = 4
"""Groups that a process takes at a time."""
_UNGUARDED = (
    "processes of the search ended before they began: a script that asks for several must ask below "
    "if __name__ == '__main__', or with workers=1"
)
Noted = Callable[[int, dict[TrialKey, Trial]], None]
"""Told how many candidates are done, and which trials were made."""


@dataclass(slots=True, kw_only=True)
class Found:
    """What came of a search."""

    best: list[Screened] = field(default_factory=list)
    """The best candidate of each group that serves the load, best first; as many as were asked for, and ties."""
    broken: list[Screened] = field(default_factory=list)
    """Candidates that do not serve it, where none was found before."""
    candidates: int = 0
    followed: int = 0
    """Candidates that were simulated."""
    trials: int = 0
    processor_seconds: float = 0.0
    """Of all processes that searched."""


def order_of(one: Screened) -> tuple[float, float, int]:
    """Of candidates: by key, ties as they were listed."""
    return (*one.key, one.group.place)


def run_search(
    search: Search,
    groups: Sequence[Group],
    *,
    top: int,
    known: dict[TrialKey, Trial] | None = None,
    workers: int | None = None,
    enough: int | None = None,
    noted: Noted = lambda done, trials: None,
) -> Found:
    """The `top` groups by their best candidates; or the first that are found, as many as are `enough`."""
    memory: dict[TrialKey, Trial] = {} if known is None else known
    found = Found(candidates=sum(len(group.questions) for group in groups))
    begun = time.process_time()
    ordered = _ordered(search, groups)
    cores = _cores() if workers is None else workers
    if cores > 1 and enough is None and (workers is not None or found.candidates >= _MANY):
        _in_parallel(search, ordered, found, memory, top=top, workers=cores, noted=noted)
    else:
        for group in ordered:
            screened, fresh, followed = screen_group(search, group, _threshold(found.best, top), memory)
            _take(found, screened, followed, len(fresh))
            noted(len(group.questions), fresh)
            if enough is not None and len(found.best) >= enough:
                break
    found.best.sort(key=order_of)
    found.processor_seconds += time.process_time() - begun
    return found


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ordered(search: Search, groups: Sequence[Group]) -> list[Group]:
    """Those first whose first candidate may serve the load for least."""
    if not search.bounded:
        return list(groups)

    def likely(group: Group) -> tuple[float, float, int]:
        screen = GroupScreen(search, group, {})
        bounds, share = screen.bounds(group.questions[0])
        if not bounds.possible or share <= 0.0:
            return float("inf"), 0.0, group.place
        data = group.layout.data
        return ceil(1.0 / (share * data)) * screen.unit, -share * data / screen.unit, group.place

    return sorted(groups, key=likely)


def _threshold(best: Sequence[Screened], top: int) -> Key | None:
    """The key of the last of so many groups; None: there are not as many yet."""
    keys = sorted(one.key for one in best)
    return keys[top - 1] if len(keys) >= top else None


def screen_group(
    search: Search, group: Group, threshold: Key | None, known: dict[TrialKey, Trial]
) -> tuple[list[Screened], dict[TrialKey, Trial], int]:
    """The best candidate of a group, or those that do not serve the load; the trials made; candidates simulated."""
    screen = GroupScreen(search, group, known)
    best: Screened | None = None
    broken: list[Screened] = []
    followed = 0
    for question in group.questions:
        keys = [key for key in (threshold, None if best is None else best.key) if key is not None]
        before = len(screen.fresh)
        one = screen.screened(question, min(keys) if keys else None)
        followed += len(screen.fresh) > before
        if one is None:
            continue
        if one.replicas is None:
            broken.append(one)
        elif best is None or one.key < best.key:
            best = one
    return ([best] if best is not None else broken), screen.fresh, followed


def _take(found: Found, screened: Sequence[Screened], followed: int, trials: int) -> None:
    for one in screened:
        (found.broken if one.replicas is None else found.best).append(one)
    found.followed += followed
    found.trials += trials


_SHARED: dict[str, Search] = {}
"""In a process that screens: what all candidates have in common."""


def _begin(search: Search) -> None:
    _SHARED["search"] = search


def _screen_several(
    groups: list[Group], threshold: Key | None, known: dict[TrialKey, Trial]
) -> tuple[list[tuple[list[Screened], dict[TrialKey, Trial], int]], float]:
    begun = time.process_time()
    found = [screen_group(_SHARED["search"], group, threshold, known) for group in groups]
    return found, time.process_time() - begun


def _in_parallel(
    search: Search,
    ordered: list[Group],
    found: Found,
    memory: dict[TrialKey, Trial],
    *,
    top: int,
    workers: int,
    noted: Noted,
) -> None:
    """Groups in processes; each is told what was found when it is handed its groups."""
    left = [ordered[place : place + _TOGETHER] for place in range(0, len(ordered), _TOGETHER)]
    running: dict[Future[tuple[list[tuple[list[Screened], dict[TrialKey, Trial], int]], float]], list[Group]] = {}
    if getattr(current_process(), "_inheriting", False):  # a worker reads the script that started it, to its end
        raise DescriptionError(_UNGUARDED)
    context = get_context("forkserver")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(search,)) as pool:
        try:
            while left or running:
                while left and len(running) < workers + 1:
                    groups = left.pop(0)
                    names = {question.command for group in groups for question in group.questions} if memory else set()
                    own = {key: trial for key, trial in memory.items() if key[0] in names}
                    running[pool.submit(_screen_several, groups, _threshold(found.best, top), own)] = groups
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    groups = running.pop(future)
                    results, seconds = future.result()
                    found.processor_seconds += seconds
                    for group, (screened, fresh, followed) in zip(groups, results, strict=True):
                        _take(found, screened, followed, len(fresh))
                        noted(len(group.questions), fresh)
        except BrokenProcessPool as error:
            raise DescriptionError(_UNGUARDED) from error
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
