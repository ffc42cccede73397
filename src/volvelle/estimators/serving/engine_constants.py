"""What an engine adds to the kernels of a step, and whose kernels it runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Constants = Mapping[str, float]


USUAL_LONGEST = 4096.0
"""Tokens of the longest request that an engine is told of where nothing else is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSet:
    """Constants of every kind of kernel that a step may run, as one engine runs them on one chip."""

    products: Mapping[str, Constants]
    """By element type."""
    experts: Mapping[str, Sequence[Constants]] = field(default_factory=dict)
    """By element type: kernels that the engine chooses among; the fastest is taken."""
    prompt: Constants
    token: Constants
    latent_prompt: Constants = field(default_factory=dict)
    latent_token: Constants = field(default_factory=dict)
    all_reduce: Sequence[Constants] = ()
    """Ways to do it under a graph; the fastest is taken."""
    all_to_all: Sequence[Constants] = ()
    error: float = 1.15
    """One standard deviation of a kernel's time, as a factor."""
    taken_from: tuple[str, ...] = ()
    """Kinds of kernels whose constants were measured elsewhere, and where."""
    stand_in: str = ""
    """The chip of another family whose kernels stand in for all kernels; empty: kernels of its family were measured."""
    units_expected: bool = False
    """Whether other chips of the family state units: runs on them do not cover a chip that states none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConstants:
    """What is fitted to steps of an engine, beside its kernels."""

    reading: float = 1.0
    """Rate at which products read weights, over that of the kernels alone."""
    narrow: float = 1.0
    """The same of weights of a byte, beside that: scales are read and applied in one kernel or in several."""
    multiplying: float = 1.0
    """Rate at which products multiply, over that of the kernels alone."""
    attending: float = 1.0
    """Rate of attention, over that of the kernels alone."""
    narrow_cache: float = 1.0
    """The same in decoding of caches of a byte an element, beside that."""
    unshared: float = 0.0
    """Share of the heads beyond those of keys that read keys of their own in decoding, though they share them."""
    windows_beyond: float = np.inf
    """Sequences times heads of a chip beyond which all of them do where attention has a window."""
    fetching: float = 1.0
    """Rate at which experts' weights and rows are moved, over that of the kernels alone."""
    grouping: float = 1.0
    """Rate at which experts' products multiply, over that of the kernels alone."""
    unpacking: float = 1.0
    """That rate again, of rows beyond an expert's first tile, where its weights are widened on the way."""
    expert_start: float = 0.0
    """Seconds more that a layer of experts takes: who goes where, and types of rows, in kernels of their own."""
    exchanging: float = 1.0
    """Rate of exchanges between chips, over that of the collectives alone: they are joined with what follows them."""
    exchange_start: float = 0.0
    """Seconds more that each of them takes: ranks come to it one after the other, and wait for the last."""
    launch: float = 2.5e-6
    """Seconds from one kernel of a captured graph to the next."""
    attention_start: float = 5e-6
    """Seconds that attention of a layer takes to start under a graph."""
    small_kernels: float = 5.0
    """Norms, rotations, activations and casts of a layer, as kernels of their own."""
    joins_norms: bool = False
    """Whether the norm after an exchange is one kernel with it."""
    passes: float = 6.0
    """Times that these read or write the stream of a layer."""
    pair_time: float = 0.0
    """Seconds more that each pair of a sequence and a head of keys takes in attention of a captured step, whose graph
    has launches for the longest request there may be, of the usual length; where that is told, in proportion to it."""
    state_reading: float = 0.6
    """Share of the memory's rate at which the states of recurrent layers are read and written."""
    scan_efficiency: float = 0.05
    """Share of peak at which recurrent layers go through a prompt."""
    gathers: bool = False
    """Whether experts that are spread out get all tokens of all ranks, rather than each those that chose it."""
    skew: float = 0.0
    """Exponent of the power law by which tokens fall on experts."""
    host: float = 1e-3
    """Seconds of the scheduler a step."""
    host_rank: float = 0.0
    """Seconds more for each doubling of the chips that a step is handed to, within one rank of data parallelism."""
    host_data: float = 0.0
    """Seconds more for each doubling of ranks of data parallelism, which agree on every step."""
    host_behind: float = 0.0
    """Seconds more where a step is scheduled after the one before it, not beside it, as vLLM does before 0.14."""
    host_sequence: float = 0.0
    """Seconds more for every sequence of it, as the scheduler takes them: its blocks, its inputs, its token."""
    stage_sequence: float = 0.0
    """The same beside that on every stage of a pipeline: each has a host, and hands drawn tokens on to the next."""
    host_overlapped: bool = True
    per_sequence: float = 5e-6
    """Seconds a sequence of a step: sampling, detokenising, streaming."""
    per_admission: float = 1e-3
    """Seconds a request that is let in."""
    first_token: float = 15e-3
    """Seconds of the client and the front end before the first token."""
    tokenising: float = 0.0
    """Seconds more for every token of the prompt: the tokeniser, and text on its way."""
    eager_launch: float = 28e-6
    """Seconds that the host takes to launch a kernel of a step that is not captured."""
    eager_heavy: float = 0.0
    """The same of a kernel of a recurrent layer or of latent attention, whose shapes are found on the way; no less."""
    pieces: float = 0.42
    """Share of these launches that are left where only the pieces between attention are captured."""
    captured_tokens: float = 512.0
    """Tokens of the largest step that is captured."""
