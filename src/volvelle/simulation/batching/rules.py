"""What an engine lets into a step: its scheduler, its limits and its memory, as settings."""

from dataclasses import dataclass, replace
from enum import IntEnum

from volvelle.domains import DELAY, NumberDomain, check_fields, number
from volvelle.errors import DescriptionError

STEP_TOKENS = NumberDomain(1, 10**7, whole=True)
"""Tokens of one step."""
STEP_SEQUENCES = NumberDomain(1, 10**6, whole=True)
BLOCK_TOKENS = NumberDomain(1, 65_536, whole=True)
"""Tokens of one block of the KV cache."""
KV_BLOCKS = NumberDomain(1, 10**12, whole=True)
FEW_STEPS = NumberDomain(0, 10**6, whole=True)
INTERVAL = NumberDomain(1, 10**6, whole=True)
OUTPUT_LIMIT = NumberDomain(0, 10**9, whole=True)
TOKENS_RATIO = NumberDomain(0.0, 1.0)
CONSERVATIVENESS = NumberDomain(0.0, 10.0)


class Engine(IntEnum):
    """Whose scheduler."""

    VLLM = 0
    SGLANG = 1
    TENSORRT_LLM = 2


class Eviction(IntEnum):
    """What happens when sequences outgrow the KV cache."""

    RECOMPUTE = 0
    """A running request gives its blocks back and computes its tokens again later: vLLM, SGLang, MAX_UTILIZATION."""
    NONE = 1
    """A request starts only if its maximum length fits to the end: GUARANTEED_NO_EVICT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Settings of a scheduler; :func:`vllm`, :func:`sglang` and :func:`tensorrt_llm` give those of each engine."""

    engine: Engine = Engine.VLLM
    token_budget: int = number(STEP_TOKENS, 8192)
    """Of a step: ``max_num_batched_tokens``, ``max-prefill-tokens``, ``max_num_tokens``."""
    max_sequences: int = number(STEP_SEQUENCES, 256)
    """That run at once: ``max_num_seqs``, ``max-running-requests``, ``max_batch_size``."""
    block_tokens: int = number(BLOCK_TOKENS, 16)
    kv_blocks: int = number(KV_BLOCKS)
    verified: int = number(INTERVAL, 1)
    """Tokens of a step that each decoding sequence takes: one, or all that are verified of its drafts."""
    chunks: bool = True
    """Whether a prompt may be cut where the budget of a step ends."""
    chunk_tokens: int = number(FEW_STEPS, 0)
    """Prompt tokens of a step of SGLang (``chunked-prefill-size``); 0: the token budget."""
    mixes: bool = True
    """Whether a step with prompts decodes too; SGLang's do not unless ``--enable-mixed-chunk``."""
    reserve_whole_prompt: bool = True
    """Whether a request starts only if blocks for all of its prompt are free, not for its first chunk alone."""
    eviction: Eviction = Eviction.RECOMPUTE
    prefix_caching: bool = True
    """Whether blocks that nobody holds are found again until they are reused."""
    max_output: int = number(OUTPUT_LIMIT, 0)
    """Output tokens that a request is taken to ask for where memory is kept for them; 0: what it will produce."""
    conservativeness: float = number(CONSERVATIVENESS, 1.0)
    """Of SGLang's reserve for tokens to come (``schedule-conservativeness``)."""
    receive_interval: int = number(INTERVAL, 1)
    """Decoding steps between two looks at what has arrived (``scheduler-recv-interval``)."""
    batch_wait_steps: int = number(FEW_STEPS, 0)
    """That prompts wait at most for a fuller step (``batch_wait_timeout_iters``)."""
    batch_wait_ratio: float = number(TOKENS_RATIO, 0.0)
    """Part of the token budget that ends the wait (``batch_wait_max_tokens_ratio``)."""
    balance_steps: int = number(FEW_STEPS, 0)
    """Between two in which prompts start while not all ranks of data parallelism have one (``timeout_iters``); 0: they
    start in any."""
    balance_wait_steps: int = number(FEW_STEPS, 0)
    """That prompts wait once all ranks have one (``batching_wait_iters``)."""
    balance_queue: int = number(STEP_SEQUENCES, 1)
    """Prompts of a rank that wait when every rank has one."""
    ahead: bool = False
    """Whether what goes into a step is chosen when the one before it begins, so that what comes meanwhile waits for the
    one after."""
    stream_interval: int = number(INTERVAL, 1)
    """Tokens that a client gets at a time, after the first."""
    api_seconds: float = number(DELAY, 0.0)
    """From a client to the scheduler: network and API."""
    tokenising: float = number(DELAY, 0.0)
    """More for every token of the prompt, one request after the other."""

    def __post_init__(self) -> None:
        check_fields(self, "rules")
        if self.token_budget < self.max_sequences * self.verified and self.engine is not Engine.SGLANG:
            each = f" that verify {self.verified} each" if self.verified > 1 else ""
            raise DescriptionError(
                f"rules: a step of {self.token_budget} tokens cannot decode {self.max_sequences} sequences{each}; "
                "raise the token budget (--max-batched-tokens) or lower --max-seqs"
            )
        if min(self.token_budget, self.chunk) < self.block_tokens and self.engine is not Engine.VLLM:
            raise DescriptionError(
                f"rules: this engine cuts prompts at whole blocks, and a step of {min(self.token_budget, self.chunk)} "
                f"tokens has no room for a block of {self.block_tokens}; raise the token budget (--max-batched-tokens)"
            )
        if self.eviction is Eviction.NONE and self.engine is not Engine.TENSORRT_LLM:
            raise DescriptionError(
                "rules: only TensorRT-LLM keeps memory for the maximum length; write Eviction.RECOMPUTE"
            )
        if self.receive_interval > 1 and self.engine is not Engine.SGLANG:
            raise DescriptionError("rules: receive_interval is SGLang's; other engines look at every step: write 1")
        if self.batch_wait_steps and self.engine is not Engine.TENSORRT_LLM:
            raise DescriptionError("rules: batch_wait_steps is TensorRT-LLM's; write 0")
        if self.balance_steps and self.engine is not Engine.TENSORRT_LLM:
            raise DescriptionError("rules: balance_steps is TensorRT-LLM's; write 0")
        if not self.mixes and self.engine is not Engine.SGLANG:
            raise DescriptionError("rules: only SGLang keeps prompts and decoding apart; write mixes=True")

    @property
    def chunk(self) -> int:
        """Prompt tokens of one step at most."""
        return self.chunk_tokens or self.token_budget

    @property
    def most_tokens(self) -> int:
        """Of any step."""
        return max(self.token_budget, self.chunk, self.max_sequences * self.verified)

    @property
    def behind_front_end(self) -> "Rules":
        """The same for requests that come tokenised to the scheduler itself."""
        return replace(self, api_seconds=0.0, tokenising=0.0)


def vllm(
    *,
    kv_blocks: int,
    token_budget: int = 8192,
    max_sequences: int = 256,
    block_tokens: int = 16,
    reserve_whole_prompt: bool = True,
    prefix_caching: bool = True,
    ahead: bool = False,
    stream_interval: int = 1,
    api_seconds: float = 0.0,
    tokenising: float = 0.0,
    verified: int = 1,
) -> Rules:
    """Rules of vLLM V1: one budget of tokens, running requests first, prompts in chunks."""
    return Rules(
        engine=Engine.VLLM,
        kv_blocks=kv_blocks,
        token_budget=token_budget,
        max_sequences=max_sequences,
        block_tokens=block_tokens,
        reserve_whole_prompt=reserve_whole_prompt,
        prefix_caching=prefix_caching,
        ahead=ahead,
        stream_interval=stream_interval,
        api_seconds=api_seconds,
        tokenising=tokenising,
        verified=verified,
    )


def sglang(
    *,
    kv_blocks: int,
    token_budget: int = 16_384,
    chunk_tokens: int = 8192,
    max_sequences: int = 256,
    block_tokens: int = 1,
    mixes: bool = False,
    conservativeness: float = 1.0,
    receive_interval: int = 1,
    prefix_caching: bool = True,
    ahead: bool = False,
    stream_interval: int = 1,
    api_seconds: float = 0.0,
    tokenising: float = 0.0,
    verified: int = 1,
) -> Rules:
    """Rules of SGLang: prompts first and alone, and memory kept for tokens to come; a chunk of 0 cuts no prompt."""
    return Rules(
        engine=Engine.SGLANG,
        kv_blocks=kv_blocks,
        token_budget=token_budget,
        chunks=chunk_tokens > 0,
        chunk_tokens=chunk_tokens,
        max_sequences=max_sequences,
        block_tokens=block_tokens,
        mixes=mixes,
        conservativeness=conservativeness,
        receive_interval=receive_interval,
        prefix_caching=prefix_caching,
        ahead=ahead,
        stream_interval=stream_interval,
        api_seconds=api_seconds,
        tokenising=tokenising,
        verified=verified,
    )


def tensorrt_llm(
    *,
    kv_blocks: int,
    token_budget: int = 8192,
    max_sequences: int = 2048,
    block_tokens: int = 32,
    chunks: bool = False,
    eviction: Eviction = Eviction.NONE,
    batch_wait_steps: int = 0,
    batch_wait_ratio: float = 0.0,
    balance_steps: int = 0,
    balance_wait_steps: int = 0,
    balance_queue: int = 1,
    prefix_caching: bool = True,
    ahead: bool = False,
    stream_interval: int = 1,
    api_seconds: float = 0.0,
    tokenising: float = 0.0,
    verified: int = 1,
) -> Rules:
    """Rules of TensorRT-LLM: whole prompts beside decoding sequences, started only if their maximum length fits."""
    return Rules(
        engine=Engine.TENSORRT_LLM,
        kv_blocks=kv_blocks,
        token_budget=token_budget,
        max_sequences=max_sequences,
        block_tokens=block_tokens,
        chunks=chunks,
        eviction=eviction,
        batch_wait_steps=batch_wait_steps,
        batch_wait_ratio=batch_wait_ratio,
        balance_steps=balance_steps,
        balance_wait_steps=balance_wait_steps,
        balance_queue=balance_queue,
        prefix_caching=prefix_caching,
        ahead=ahead,
        stream_interval=stream_interval,
        api_seconds=api_seconds,
        tokenising=tokenising,
        verified=verified,
    )
