"""Schedulers written out token by token and block by block, slow and plain, to hold the compiled machine against."""

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.rules import Engine, Eviction, Rules
from volvelle.workload.serving.requests import Requests


@dataclass(eq=False)
class Sequence:
    number: int
    prompt: int
    output: int
    limit: int
    yielded: int = 0
    computed: int = 0
    decodes: bool = False
    blocks: list[int] = field(default_factory=list)
    as_prompt: int = 0
    preempted: int = 0
    offered: int = 0
    times: list[float] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        return self.prompt + self.yielded


def line(nodes: NDArray[np.float64], values: NDArray[np.float64], place: float) -> float:
    """Linear between nodes, level before the first, straight on after the last."""
    if len(nodes) == 1 or place <= nodes[0]:
        return float(values[0])
    at = min(int(np.searchsorted(nodes, place, side="right")) - 1, len(nodes) - 2)
    slope = (values[at + 1] - values[at]) / (nodes[at + 1] - nodes[at])
    return float(values[at] + slope * (place - nodes[at]))


def seconds(costs: StepCosts, chunks: list[tuple[int, int]], contexts: list[int], yields: int, admitted: int) -> float:
    """The time of one step as its definition has it."""
    tokens = sum(length for length, _ in chunks) + len(contexts)
    captured = costs.captured[tokens] if not chunks or costs.captures_prompts else math.inf
    device = (captured if math.isfinite(captured) else costs.tokens[tokens]) + costs.head[yields]
    for length, past in chunks:
        along = np.array([line(costs.past_nodes, row, past) for row in costs.chunk])
        device += max(0.0, line(costs.chunk_nodes, along, length))
    device += costs.chunk_start if chunks else 0.0
    if contexts:
        device += line(costs.context_nodes, costs.decode[len(contexts)], sum(contexts) / len(contexts))
    if not math.isfinite(captured):
        device = max(device, costs.launches[tokens])
    sequences = len(contexts) + len(chunks)
    host = costs.host + costs.host_sequence * sequences
    step = max(device, host) if costs.host_overlapped else device + host
    return float(step + costs.per_sequence * sequences + costs.per_admission * admitted)


class PlainEngine:
    def __init__(self, requests: Requests, costs: StepCosts, rules: Rules) -> None:
        self.costs, self.rules, self.clients = costs, rules, requests.clients
        limits = np.maximum(requests.output_tokens, rules.max_output)
        columns = (requests.input_tokens, requests.output_tokens, limits)
        self.all = [Sequence(number, *map(int, row)) for number, row in enumerate(zip(*columns, strict=True))]
        self.offered = requests.arrival.tolist()
        self.sent = list(self.offered[: self.clients or None])
        self.seen = 0
        self.now = self.begun = 0.0
        self.free: deque[int] = deque(range(rules.kv_blocks))
        self.holds: dict[int, tuple[Sequence, int]] = {}
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.ended = 0
        self.waited = self.steps = 0
        self.full = False
        self.partial: Sequence | None = None
        self.first_ratio = self.ratio = min(1.0, 0.7 * rules.conservativeness)
        self.decayed = 0
        self.since = 0

    # -- memory ------------------------------------------------------------------------------------------------------

    def blocks(self, tokens: int) -> int:
        return -(-tokens // self.rules.block_tokens)

    def grow(self, sequence: Sequence, tokens: int) -> None:
        while len(sequence.blocks) < self.blocks(tokens):
            block = self.free.popleft()
            self.holds.pop(block, None)
            sequence.blocks.append(block)

    def found(self, sequence: Sequence) -> list[int]:
        """Leading blocks that are free and still hold what the sequence had computed."""
        places = {place: block for block, (owner, place) in self.holds.items() if owner is sequence}
        matched: list[int] = []
        while len(matched) in places:
            matched.append(places[len(matched)])
        return matched

    def start(self, sequence: Sequence) -> None:
        self.waiting.popleft()
        for block in self.found(sequence):
            self.free.remove(block)
            del self.holds[block]
            sequence.blocks.append(block)
        sequence.computed = min(len(sequence.blocks) * self.rules.block_tokens, sequence.tokens - 1)
        self.running.append(sequence)

    def release(self, sequence: Sequence, kept: int) -> None:
        for place in reversed(range(len(sequence.blocks))):
            block = sequence.blocks[place]
            self.free.append(block)
            if place < kept and self.rules.prefix_caching:
                self.holds[block] = (sequence, place)
        sequence.blocks = []

    def preempt(self, sequence: Sequence) -> None:
        kept = (
            sequence.computed if self.rules.engine is not Engine.SGLANG else min(sequence.computed, sequence.as_prompt)
        )
        self.release(sequence, kept // self.rules.block_tokens)
        self.running.remove(sequence)
        sequence.computed, sequence.decodes = 0, False
        sequence.preempted += 1
        self.full = False

    # -- steps -------------------------------------------------------------------------------------------------------

    def _seen_at(self) -> float:
        tokens = self.all[self.seen].prompt
        return self.sent[self.seen] + self.rules.api_seconds + self.rules.tokenising * tokens

    def receive(self) -> None:
        while self.seen < len(self.sent) and self._seen_at() <= (self.begun if self.rules.ahead else self.now):
            self.waiting.append(self.all[self.seen])
            self.seen += 1

    def run(self) -> "PlainEngine":
        fill = self.fill_sglang if self.rules.engine is Engine.SGLANG else self.fill_in_flight
        while self.ended < len(self.all):
            if self.since >= self.rules.receive_interval or self.rules.receive_interval == 1:
                self.since = 0
                self.receive()
            if not self.running and not self.waiting:
                self.now = self.begun = max(self.now, self._seen_at())
                self.since = self.rules.receive_interval
                self.ratio, self.decayed = self.first_ratio, 0
                continue
            chosen, decoding, admitted = fill()
            if chosen or decoding:
                self.step(chosen, decoding, admitted)
        return self

    def step(self, chosen: dict[Sequence, int], decoding: list[Sequence], admitted: int) -> None:
        chunks = [(tokens, sequence.computed) for sequence, tokens in chosen.items()]
        complete = [each for each, tokens in chosen.items() if each.computed + tokens == each.tokens]
        contexts = [each.computed for each in decoding]
        self.begun = self.now
        self.now += seconds(self.costs, chunks, contexts, len(decoding) + len(complete), admitted)
        self.since += 1000 if chosen else 1
        self.decayed += 0 if chosen else 1
        self.steps += 1 if decoding else 0
        for sequence, tokens in chosen.items():
            sequence.computed += tokens
        for sequence in decoding:
            sequence.computed += 1
        for sequence in [*decoding, *complete]:
            if not sequence.decodes:
                sequence.as_prompt = sequence.computed
            sequence.decodes = True
            sequence.yielded += 1
            sequence.times.append(self.now)
            if self.partial is sequence:
                self.partial = None
        # Those that decoded end by their numbers, then those that yielded their first token.
        for group in (sorted(decoding, key=lambda each: each.number), complete):
            for sequence in group:
                if sequence.yielded == sequence.output:
                    self.running.remove(sequence)
                    self.release(sequence, 0)
                    self.full = False
                    self.ended += 1
                    if self.clients and len(self.sent) < len(self.all):
                        self.sent.append(max(self.offered[len(self.sent)], self.now))

    # -- vLLM and TensorRT-LLM -----------------------------------------------------------------------------------------

    def cut(self, sequence: Sequence, wanted: int, budget: int) -> int:
        if wanted <= budget:
            return wanted
        if not self.rules.chunks and not sequence.preempted:
            return 0
        unit = self.rules.block_tokens if self.rules.engine is Engine.TENSORRT_LLM else 1
        return budget // unit * unit

    def fits(self, sequence: Sequence, found: int, until: int, ahead: list[Sequence]) -> bool:
        if self.rules.eviction is Eviction.NONE:
            kept = sum(self.blocks(each.prompt + each.limit) for each in [*self.running, *ahead, sequence])
            if kept > self.rules.kv_blocks:
                return False
        wanted = sequence.tokens if self.rules.reserve_whole_prompt else until
        taken = sum(self.blocks(each.tokens) for each in ahead)
        return max(0, self.blocks(wanted) - found) + found <= len(self.free) - taken

    def fill_in_flight(self) -> tuple[dict[Sequence, int], list[Sequence], int]:
        rules, budget, preempted = self.rules, self.rules.token_budget, False
        chosen: dict[Sequence, int] = {}
        decoding: list[Sequence] = []
        place = 0
        while place < len(self.running):
            sequence = self.running[place]
            wanted = sequence.tokens - sequence.computed
            tokens = 1 if sequence.decodes else self.cut(sequence, wanted, budget)
            runs = True
            while runs and self.blocks(sequence.computed + tokens) - len(sequence.blocks) > len(self.free):
                victim = self.running[-1]
                self.preempt(victim)
                self.waiting.appendleft(victim)
                preempted = True
                runs = victim is not sequence
            if not runs:
                break
            self.grow(sequence, sequence.computed + tokens)
            budget -= tokens
            if sequence.decodes:
                decoding.append(sequence)
            elif tokens:
                chosen[sequence] = tokens
            if tokens < wanted:
                return chosen, decoding, 0
            place += 1
        if preempted or (decoding and not chosen and self.waits(budget, len(decoding))):
            return chosen, decoding, 0
        admitted = 0
        while self.waiting and len(self.running) < rules.max_sequences and budget > 0:
            sequence = self.waiting[0]
            found = len(self.found(sequence))
            computed = min(found * rules.block_tokens, sequence.tokens - 1)
            tokens = self.cut(sequence, sequence.tokens - computed, budget)
            if not tokens or not self.fits(sequence, found, computed + tokens, []):
                break
            self.start(sequence)
            self.grow(sequence, computed + tokens)
            chosen[sequence] = tokens
            budget -= tokens
            admitted += 1
            if computed + tokens < sequence.tokens:
                break
        return chosen, decoding, admitted

    def waits_for_ranks(self) -> bool:
        rules = self.rules
        if not self.waiting or len(self.running) >= rules.max_sequences:
            return False
        if len(self.waiting) < rules.balance_queue:
            self.waited = 0
            return self.steps % rules.balance_steps > 0
        self.waited = self.waited + 1 if self.waited < rules.balance_wait_steps else 0
        return self.waited > 0

    def waits(self, budget: int, decoding: int) -> bool:
        if self.rules.balance_steps:
            return self.waits_for_ranks()
        if not self.rules.batch_wait_steps:
            return False
        ahead: list[Sequence] = []
        total = decoding
        for sequence in self.waiting:
            tokens = self.cut(sequence, sequence.tokens, budget)
            room = len(self.running) + len(ahead) < self.rules.max_sequences
            if not room or not tokens or not self.fits(sequence, len(self.found(sequence)), tokens, ahead):
                break
            ahead.append(sequence)
            budget -= tokens
            total += tokens
        if not ahead:
            return False
        if self.waited < self.rules.batch_wait_steps and total < self.rules.batch_wait_ratio * self.rules.token_budget:
            self.waited += 1
            return True
        self.waited = 0
        return False

    # -- SGLang ------------------------------------------------------------------------------------------------------

    def reserve(self) -> float:
        decay = (self.first_ratio - self.first_ratio * 0.14) / 600.0
        ratio = max(self.ratio - decay * self.decayed, self.first_ratio * 0.14)
        return ratio * sum(min(each.limit - each.yielded, 4096) for each in self.running if each.decodes)

    def new_blocks(self) -> int:
        return sum(each.computed % self.rules.block_tokens == 0 for each in self.running if each.decodes)

    def fill_sglang(self) -> tuple[dict[Sequence, int], list[Sequence], int]:
        decoding = [each for each in self.running if each.decodes]
        beside = decoding if self.rules.mixes and self.new_blocks() <= len(self.free) else []
        if self.partial is None and len(self.running) >= self.rules.max_sequences:
            self.full = True
        grown = False
        if self.partial is not None or (self.waiting and not self.full):
            for sequence in beside:
                self.grow(sequence, sequence.computed + 1)
                grown = True
            chosen, admitted = self.prompts(len(beside))
            if chosen:
                return chosen, beside, admitted
        if not grown:
            if self.new_blocks() > len(self.free):
                self.retract()
            decoding = [each for each in self.running if each.decodes]
            for sequence in decoding:
                self.grow(sequence, sequence.computed + 1)
        return {}, decoding, 0

    def prompts(self, beside: int) -> tuple[dict[Sequence, int], int]:
        rules, block = self.rules, self.rules.block_tokens
        chosen: dict[Sequence, int] = {}
        budget = rules.token_budget - beside
        chunk = (rules.chunk if rules.chunks else rules.token_budget) - beside
        room = len(self.free) * block - self.reserve()
        if self.partial is not None:
            sequence = self.partial
            held = len(sequence.blocks) * block - sequence.computed + len(self.free) * block
            tokens = min(sequence.tokens - sequence.computed, chunk, held)
            if tokens <= 0:
                return {}, 0
            self.grow(sequence, sequence.computed + tokens)
            chosen[sequence] = tokens
            if sequence.computed + tokens < sequence.tokens:
                return chosen, 0
            self.partial = None
            budget, chunk = budget - tokens, chunk - tokens
            room -= tokens + min(sequence.limit - sequence.yielded, 4096)
        admitted = 0
        while self.waiting:
            if len(self.running) >= rules.max_sequences or room <= 0:
                self.full = True
                break
            if budget <= 0 or chunk <= 0:
                break
            sequence = self.waiting[0]
            found = len(self.found(sequence))
            computed = min(found * block, sequence.tokens - 1)
            tokens = sequence.tokens - computed
            wanted = tokens + min(sequence.limit - sequence.yielded, 4096)
            if wanted >= room - found * block or max(self.blocks(sequence.tokens), found) > len(self.free):
                self.full = True
                break
            if tokens > budget and chosen:
                break
            if tokens > chunk:
                tokens = chunk // block * block
                if tokens <= 0:
                    break
                self.partial = sequence
            self.start(sequence)
            self.grow(sequence, computed + tokens)
            chosen[sequence] = tokens
            admitted += 1
            if self.partial is sequence:
                break
            room -= wanted + found * block
            budget, chunk = budget - tokens, chunk - tokens
        return chosen, admitted

    def retract(self) -> None:
        decoding = [each for each in self.running if each.decodes]
        while self.new_blocks() > len(self.free) and len(decoding) > 1:
            victim = min(decoding, key=lambda each: (each.yielded, -each.prompt, -each.number))
            decoding.remove(victim)
            self.preempt(victim)
            self.waiting.append(victim)
        ahead = sum(each.yielded + 20 for each in decoding)
        self.ratio = min(1.0, ahead / (sum(each.limit for each in decoding) + 1.0))
        self.decayed = 0


class PlainSharing(PlainEngine):
    """vLLM with prompts that share blocks: every block has its users, and a hash is known until its block is reused."""

    def __init__(self, requests: Requests, costs: StepCosts, rules: Rules) -> None:
        super().__init__(requests, costs, rules)
        assert rules.engine is Engine.VLLM
        assert rules.block_tokens == requests.hash_tokens
        whole = requests.input_tokens // requests.hash_tokens
        self.hashes = [
            requests.hash_ids[start : start + min(count, end - start)].tolist()
            for start, end, count in zip(requests.hash_starts, requests.hash_starts[1:], whole, strict=False)
        ]
        self.users: dict[int, int] = {}
        self.known: dict[int, int] = {}

    def found(self, sequence: Sequence) -> list[int]:
        matched = []
        for hashed in self.hashes[sequence.number]:
            if hashed not in self.known:
                break
            matched.append(self.known[hashed])
        return matched

    def fits(self, sequence: Sequence, found: int, until: int, ahead: list[Sequence]) -> bool:
        wanted = sequence.tokens if self.rules.reserve_whole_prompt else until
        unheld = sum(self.users.get(block, 0) == 0 for block in self.found(sequence))
        return max(0, self.blocks(wanted) - found) + unheld <= len(self.free)

    def start(self, sequence: Sequence) -> None:
        self.waiting.popleft()
        for block in self.found(sequence):
            if self.users.get(block, 0) == 0:
                self.free.remove(block)
            self.users[block] = self.users.get(block, 0) + 1
            sequence.blocks.append(block)
        sequence.offered = len(sequence.blocks)
        sequence.computed = min(len(sequence.blocks) * self.rules.block_tokens, sequence.tokens - 1)
        self.running.append(sequence)

    def grow(self, sequence: Sequence, tokens: int) -> None:
        while len(sequence.blocks) < self.blocks(tokens):
            block = self.free.popleft()
            self.known = {hashed: holder for hashed, holder in self.known.items() if holder != block}
            self.users[block] = 1
            sequence.blocks.append(block)
        # A block is offered to others once, when it is full; if they had one like it then, it stays unknown.
        before, after = sequence.offered, tokens // self.rules.block_tokens
        for place, hashed in list(enumerate(self.hashes[sequence.number]))[before:after]:
            self.known.setdefault(hashed, sequence.blocks[place])
        sequence.offered = max(before, after)

    def release(self, sequence: Sequence, kept: int) -> None:
        shared = set(self.known.values())
        # What others cannot find goes first, then the rest from the end of the prompt to its beginning.
        own = [block for block in sequence.blocks if block not in shared]
        for block in own + [block for block in reversed(sequence.blocks) if block in shared]:
            self.users[block] -= 1
            if self.users[block] == 0:
                self.free.append(block)
        sequence.blocks = []
