"""Seconds of one step, and of many alike: between two nodes of context a decoding step grows by the same each time."""

import numpy as np

from volvelle.simulation.batching.costs import (
    CAPTURES_PROMPTS,
    CHUNK_START,
    HOST,
    HOST_SEQUENCE,
    OVERLAPPED,
    PER_ADMISSION,
    PER_SEQUENCE,
    Column,
    CostTables,
)
from volvelle.simulation.compiler import compiled

_FOREVER = 1 << 60


@compiled
def _below(nodes: Column, place: float) -> int:
    """The node that a piece of a table starts at: the last one at or before a place, never the very last."""
    low, high = 0, nodes.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= place:
            low = middle
        else:
            high = middle
    return low


@compiled
def chunk_seconds(costs: CostTables, tokens: float, past: float) -> float:
    """Attention of one chunk of a prompt after `past` tokens."""
    rows, columns = costs.chunk_nodes, costs.past_nodes
    row, column = _below(rows, tokens), _below(columns, past)
    down = right = 0.0
    if rows.size > 1 and tokens > rows[0]:
        down = (tokens - rows[row]) / (rows[row + 1] - rows[row])
    if columns.size > 1 and past > columns[0]:
        right = (past - columns[column]) / (columns[column + 1] - columns[column])
    next_row, next_column = min(row + 1, rows.size - 1), min(column + 1, columns.size - 1)
    table = costs.chunk
    upper = table[row, column] * (1.0 - right) + table[row, next_column] * right
    lower = table[next_row, column] * (1.0 - right) + table[next_row, next_column] * right
    return max(0.0, float(upper * (1.0 - down) + lower * down))


@compiled
def decode_piece(costs: CostTables, sequences: int, context: float) -> tuple[float, float, int]:
    """Attention of decoding sequences, what it gains a step, and the steps that this holds for."""
    nodes, row = costs.context_nodes, costs.decode[sequences]
    if nodes.size == 1:
        return row[0], 0.0, _FOREVER
    if context < nodes[0]:
        return row[0], 0.0, int(np.ceil(nodes[0] - context))
    at = _below(nodes, context)
    slope = (row[at + 1] - row[at]) / (nodes[at + 1] - nodes[at])
    seconds = row[at] + slope * (context - nodes[at])
    if at + 2 == nodes.size:
        return seconds, slope, _FOREVER
    return seconds, slope, max(1, int(np.ceil(nodes[at + 1] - context)))


@compiled
def mixed_step(
    costs: CostTables,
    tokens: int,
    rows: int,
    decoding: int,
    context: float,
    chunks: float,
    sequences: int,
    admitted: int,
) -> float:
    """Seconds of a step with prompt tokens in it; `chunks` is the attention of all of them."""
    numbers = costs.numbers
    replayed = numbers[CAPTURES_PROMPTS] != 0.0 and np.isfinite(costs.captured[tokens])
    device = (costs.captured[tokens] if replayed else costs.tokens[tokens]) + costs.head[rows]
    device += chunks + numbers[CHUNK_START]
    if decoding > 0:
        device += decode_piece(costs, decoding, context)[0]
    if not replayed:
        device = max(device, costs.launches[tokens])
    host = numbers[HOST] + numbers[HOST_SEQUENCE] * sequences
    step = max(device, host) if numbers[OVERLAPPED] != 0.0 else device + host
    return float(step + numbers[PER_SEQUENCE] * sequences + numbers[PER_ADMISSION] * admitted)


@compiled
def decode_steps(costs: CostTables, decoding: int, verified: int, context: float) -> tuple[float, float, int]:
    """Seconds of the next step if all it does is decode, what each after it takes more, and how many this holds for.

    Each sequence takes `verified` tokens of it.
    """
    numbers = costs.numbers
    tokens = decoding * verified
    replayed = np.isfinite(costs.captured[tokens])
    device, slope, steps = decode_piece(costs, decoding, context)
    device += (costs.captured[tokens] if replayed else costs.tokens[tokens]) + costs.head[tokens]
    least = 0.0 if replayed else costs.launches[tokens]
    more = numbers[PER_SEQUENCE] * decoding
    host = numbers[HOST] + numbers[HOST_SEQUENCE] * decoding
    if numbers[OVERLAPPED] != 0.0:
        least = max(least, host)
    else:
        more += host
    if device < least:
        # The host, or its launches, decide until attention has grown past them.
        if slope > 0.0:
            steps = int(min(float(steps), max(1.0, np.ceil((least - device) / slope))))
        return least + more, 0.0, steps
    if slope < 0.0:
        steps = int(min(float(steps), np.floor((least - device) / slope) + 1.0))
    return device + more, slope, steps


@compiled
def after(start: float, first: float, slope: float, steps: int) -> float:
    """The time after so many steps, each longer than the one before by `slope`."""
    return start + steps * first + slope * (0.5 * steps * (steps - 1.0))


@compiled
def steps_until(start: float, first: float, slope: float, steps: int, then: float) -> int:
    """The fewest steps that end at `then` or later; `steps` + 1 where so many do not."""
    if after(start, first, slope, steps) < then:
        return steps + 1
    wait = then - start
    guess = wait / first
    if slope != 0.0:
        # steps · first + slope · steps (steps - 1) / 2 = wait
        linear = first - 0.5 * slope
        root = linear * linear + 2.0 * slope * wait
        guess = 2.0 * wait / (linear + np.sqrt(max(0.0, root)))
    found = min(steps, max(1, int(guess)))
    while found > 1 and after(start, first, slope, found - 1) >= then:
        found -= 1
    while after(start, first, slope, found) < then:
        found += 1
    return found
