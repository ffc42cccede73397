"""The arithmetic of the closed form, written out by hand for a GPT on two network dimensions.

Nothing is derived here: every size below was written by a person looking at a transformer layer. It serves as the bare
limit of speed for `table_rate.py`, and as an independent check of what the package derives from declarations.
"""

import numpy as np
from numpy.typing import NDArray

from volvelle import Cluster, MappingTable, TrainingStep
from volvelle.estimators.calibration import fitted_constants

Column = NDArray[np.float64]
CHUNK = 16_384


class _Bare:
    """Constants of one model on one machine."""

    def __init__(self, step: TrainingStep, cluster: Cluster) -> None:
        size = step.model.sizes
        self.batch = float(step.batch)
        self.layers = float(step.model.block("layer").repeat)
        self.s, self.h, self.f, self.v = (float(size[dim]) for dim in ("position", "hidden", "ffn", "vocab"))
        self.slots, self.d, self.a = float(size["places"]), float(size["head_dim"]), float(size["kv_heads"])
        chip, fitted = cluster.chip, fitted_constants(cluster, "bf16")
        self.matrix = float(chip.matrix_rate("bf16") * fitted.matrix_efficiency)
        self.vector = float(chip.vector_rate())
        self.memory = float(chip.memory.rate * fitted.memory_efficiency)
        self.buffer = float(chip.buffer)
        assert chip.units is not None
        assert chip.tile is not None
        self.units, self.half, self.launch = (
            float(chip.units),
            float(fitted.gemm_k_half),
            float(fitted.kernel_launch_time),
        )
        self.dispatch = float(fitted.host_dispatch_time)
        self.tile, self.slowed = float(chip.tile), float(fitted.communication_sm_share)
        self.fused = float(fitted.attention_efficiency * self.s / (self.s + fitted.attention_kv_half))
        shared = fitted.loss_bytes if fitted.sharded_loss_bytes is None else fitted.sharded_loss_bytes
        self.loss, self.shared_loss = (
            float(fitted.loss_bytes) / 2.0,
            float(shared) / 2.0,
        )  # over a logit's own two bytes
        self.copied = float(fitted.gradient_copy_bytes)
        self.reserved, self.gaps = float(step.reserved), 1.0 + step.fragmentation
        self.node = cluster.dimensions[0].size
        self.chips = cluster.accelerators
        (self.in_rate, self.in_step, self.in_setup), (self.out_rate, self.out_step, self.out_setup) = (
            (float(d.link.sustained), float(d.link.latency), float(d.link.setup)) for d in cluster.dimensions
        )
        self.contention = float(cluster.dimensions[1].link.contention)
        self.in_fill, self.out_fill = (float(d.link.fill) for d in cluster.dimensions)

    def product(
        self, first: Column, second: Column, result: Column, work: Column, m: Column, n: Column, k: Column
    ) -> Column:
        """A matrix product: arithmetic on units and tiles, or tiled traffic, whichever is slower."""
        waves = m * n
        waves /= self.tile * self.units
        arithmetic = np.maximum(1.0, waves + 0.5)
        arithmetic /= waves
        arithmetic *= work
        arithmetic *= (k + self.half) / k
        arithmetic /= self.matrix
        traffic = np.ceil(first / self.buffer)
        traffic *= second
        traffic += first
        other = np.ceil(second / self.buffer)
        other *= first
        other += second
        np.minimum(traffic, other, out=traffic)
        traffic += result
        traffic /= self.memory
        np.maximum(arithmetic, traffic, out=traffic)
        traffic += self.launch
        return traffic

    def vector_time(self, flops: float, bytes_moved: float) -> float:
        """A pointwise kernel, for one unit of its size."""
        return max(flops / self.vector, bytes_moved / self.memory)

    def norm(self, spread: Column, x: float, *, flops: float, moved: float, fixed: float) -> Column:
        """A norm: the activations are spread, its weights are not."""
        return np.maximum(spread * (flops * x / self.vector), (spread * (moved * x) + fixed) / self.memory)

    def members(self, group: Column, stride: Column | float) -> tuple[Column, Column]:
        """Members of a group inside a node, and nodes."""
        reach = (group * stride).astype(np.int64)
        step = np.asarray(stride, dtype=np.int64)
        inside = np.maximum(np.gcd(reach, self.node) / np.gcd(step, self.node), 1.0)
        whole = np.gcd(reach, self.chips) / np.gcd(step, self.chips)
        return inside, np.maximum(whole / inside, 1.0)

    def gather(self, size: Column, inside: Column, nodes: Column, steps: Column, setup: Column) -> Column:
        """All-gather or reduce-scatter over both dimensions."""
        passing = (1.0 - 1.0 / (inside * nodes)) * size
        one = (inside > 1) * (1.0 - (nodes > 1) / inside) * passing / self.in_rate
        two = (nodes > 1) * passing / inside * self.slower(nodes) / self.out_rate
        return setup + steps + np.maximum(one, two) + self.filling(one, two)

    def reduce(self, size: Column, inside: Column, nodes: Column, steps: Column, setup: Column) -> Column:
        """All-reduce over both dimensions."""
        one = 2.0 * (inside - 1.0) / inside * size / self.in_rate
        two = 2.0 * (nodes - 1.0) / nodes * (size / inside) * self.slower(nodes) / self.out_rate
        return setup + 2.0 * steps + np.maximum(one, two) + self.filling(one, two)

    def slower(self, nodes: Column) -> Column:
        """How much longer everything between nodes takes when many share it."""
        return 1.0 + self.contention * np.log2(np.maximum(nodes / 2.0, 1.0))

    def filling(self, one: Column, two: Column) -> Column:
        """What filling the pipelines of both dimensions adds."""
        return self.in_fill * np.sqrt(one / (one + self.in_fill)) + self.out_fill * np.sqrt(two / (two + self.out_fill))

    def latency(self, inside: Column, nodes: Column) -> tuple[Column, Column]:
        """Steps of a gather, and its launch."""
        steps = np.ceil(np.log2(inside) - 1e-9) * self.in_step + np.ceil(np.log2(nodes) - 1e-9) * self.out_step
        setup = np.maximum(np.minimum(1.0, inside - 1.0) * self.in_setup, np.minimum(1.0, nodes - 1.0) * self.out_setup)
        return steps, setup

    def price(self, t: MappingTable, *, sequence: bool, recompute: int, fused: bool) -> tuple[Column, Column]:
        """Seconds and bytes of rows that share one structure."""
        s, h, f, v, a, d = self.s, self.h, self.f, self.v, self.a, self.d
        x, wide, scores = s * h, s * f, a * s * s
        b, share = t.micro_batch, 1.0 / t.tensor
        bt = b * share
        p = bt if sequence else b  # what norms and residuals see
        inside, nodes = self.members(t.tensor, 1.0)
        steps, setup = self.latency(inside, nodes)

        # -- layer: matrix products ------------------------------------------------------------------------------
        xb, xt, wt, hh, hf, vh = (
            2 * x * b,
            2 * x * bt,
            2 * wide * bt,
            2 * h * h * share,
            2 * h * f * share,
            2 * v * h * share,
        )
        square, rectangle, head = 2 * x * h * bt, 2 * x * f * bt, 2 * x * v * bt
        sb, ht, ft, vt_ = s * b, h * share, f * share, v * share
        hc = np.full_like(b, h)
        into = self.product(xb, hh, xt, square, sb, ht, hc)  # query, key, value forward; output's input gradient
        out = self.product(xt, hh, xb, square, sb, hc, ht)  # output forward; query, key, value input gradients
        weigh = self.product(xt, xb, hh, square, hc, ht, sb)  # all four weight gradients
        up = self.product(xb, hf, wt, rectangle, sb, ft, hc)
        down = self.product(wt, hf, xb, rectangle, sb, hc, ft)
        weigh_mlp = self.product(wt, xb, hf, rectangle, hc, ft, sb)
        forward = 3 * into + out + up + down
        backward = into + 3 * out + 4 * weigh + up + down + 2 * weigh_mlp

        # -- layer: attention core -------------------------------------------------------------------------------
        if fused:
            rate = self.matrix * self.fused
            core: Column = bt * max(4 * scores * d / rate, 7 * scores / self.vector, 8 * x / self.memory) + self.launch
            fused_back = max(10 * scores * d / rate, 19 * scores / self.vector, 14 * x / self.memory)
            core_back: Column = bt * fused_back + self.launch
        else:
            one, row, heads = 2 * s * d, 2 * s * s, a * bt

            def tile(u: float, w: float, r: float, n: float, k: float) -> Column:
                keep_u = np.ceil(u / self.buffer) * w + u
                keep_w = np.ceil(w / self.buffer) * u + w
                waves = heads * (s * n / (self.tile * self.units))
                arithmetic = np.maximum(1.0, waves + 0.5) / waves * heads
                arithmetic *= (k + self.half) / k * 2 * s * n * k / self.matrix
                moved: Column = np.maximum(arithmetic, heads * ((min(keep_u, keep_w) + r) / self.memory))
                return moved + self.launch

            wide_tile, deep_tile = tile(one, one, row, s, d), tile(row, one, one, d, s)
            soft, drops = self.vector_time(5 * scores, 4 * scores), self.vector_time(2 * scores, 5 * scores)
            core = wide_tile + deep_tile + (soft + drops) * bt + 2 * self.launch
            soft = self.vector_time(10 * scores, 6 * scores)
            core_back = wide_tile + 3 * deep_tile + (soft + drops) * bt + 2 * self.launch

        # -- layer: pointwise ------------------------------------------------------------------------------------
        drop = self.vector_time(2 * x, 5 * x)
        residual = self.vector_time(x, 6 * x)
        act, act_back = self.vector_time(8 * wide, 4 * wide), self.vector_time(8 * wide, 6 * wide)
        norm = self.norm(p, x, flops=5, moved=4, fixed=4 * h)
        norm_back = self.norm(p, x, flops=10, moved=6, fixed=6 * h)
        forward = forward + core + act * bt + (2 * drop + 2 * residual) * p + 2 * norm + 7 * self.launch
        backward = backward + core_back + act_back * bt + 2 * drop * p + 2 * norm_back + 5 * self.launch

        # -- layer: exchanges ------------------------------------------------------------------------------------
        if sequence:
            gather = self.gather(xb, inside, nodes, steps, setup)
            moved, moved_again, again = 8 * gather, 4 * gather, 2 * gather
            once = 6 * self.reduce(np.full_like(b, 2 * h), inside, nodes, steps, setup)
        else:
            moved = 4 * self.reduce(xb, inside, nodes, steps, setup)
            moved_again, again, once = 0.5 * moved, np.zeros_like(b), np.zeros_like(b)
            arrival = self.gather(xb, inside, nodes, steps, setup)
        # The host prepares kernels while the chip works and while it waits for exchanges.
        forward = np.maximum(forward, self.dispatch * (14 if fused else 17) - 0.5 * moved)
        backward = np.maximum(backward, self.dispatch * (18 if fused else 23) - 0.5 * moved)
        # Gathers that are repeated run behind the input gradients of what reads them: queries, keys and values; up.
        beside = np.minimum(0.5 * again, 3 * out) + np.minimum(0.5 * again, down)
        remade = np.zeros_like(b)
        if recompute == 2:
            remade = forward + moved_again
        elif recompute == 1 and not fused:
            remade = np.maximum(core, 4 * self.dispatch)
        layer_forward, layer_backward = forward + 0.5 * moved, backward + 0.5 * moved + again - beside + remade
        each = layer_forward + layer_backward + self.slowed * beside

        # -- embedding -------------------------------------------------------------------------------------------
        table_rows = b * ((8 * s + 4 * x) / self.memory)
        places = p * ((8 * s + 4 * x) / self.memory)
        ahead = table_rows + places + (residual + drop) * p + 4 * self.launch
        scatter = np.maximum(x * b / self.vector, (8 * s * b + 2 * x * b + 2 * v * h * share) / self.memory)
        scatter_places = np.maximum(x * p / self.vector, ((8 * s + 2 * x) * p + 2 * self.slots * h) / self.memory)
        ahead_back = scatter + scatter_places + drop * p + 3 * self.launch
        ahead_forward, ahead_backward = (gather, gather) if sequence else (0.25 * moved, 0.0)
        ahead = np.maximum(ahead, 4 * self.dispatch - ahead_forward)
        ahead = ahead + np.maximum(ahead_back, 3 * self.dispatch - ahead_backward)

        # -- head ------------------------------------------------------------------------------------------------
        vt = 2 * s * v * bt
        logits, logits_back, weigh_head = (
            self.product(xb, vh, vt, head, sb, vt_, hc),
            self.product(vt, vh, xb, head, sb, hc, vt_),
            self.product(vt, xb, vh, head, hc, vt_, sb),
        )
        loss = np.maximum(4 * s * v * bt / self.vector, (vt + 4 * s * b) / self.memory)
        loss_back = np.maximum(8 * s * v * bt / self.vector, (2 * vt + 4 * s * b) / self.memory)
        small = 4 * s * b
        if sequence:
            behind_forward = gather + 2 * self.gather(small, inside, nodes, steps, setup)
        else:
            behind_forward = self.reduce(small, inside, nodes, steps, setup)
        behind_back = logits_back + weigh_head + loss_back + norm_back + 2 * self.launch
        behind_back = np.maximum(behind_back, 4 * self.dispatch - (gather if sequence else 0.25 * moved))
        behind = np.maximum(norm + logits + loss + 2 * self.launch, 3 * self.dispatch - behind_forward) + behind_back
        if sequence:
            behind = behind + 2 * gather + np.maximum(gather - logits_back, 0.0)
            behind = behind + self.slowed * np.minimum(gather, logits_back)
            behind = behind + 2 * self.gather(small, inside, nodes, steps, setup)
            ahead = ahead + 2 * gather
            once_behind = 2 * self.reduce(np.full_like(b, 2 * h), inside, nodes, steps, setup)
            once_ahead = self.reduce(np.full_like(b, 2 * self.slots * h), inside, nodes, steps, setup)
        else:
            reduce = 0.25 * moved
            behind = behind + reduce + self.reduce(small, inside, nodes, steps, setup)
            ahead = ahead + reduce
            once_behind = once_ahead = np.zeros_like(b)

        # -- stages ----------------------------------------------------------------------------------------------
        m = self.batch / (t.data * t.micro_batch)
        most = t.interleave * np.ceil(self.layers / (t.pipeline * t.interleave))
        missing = most * t.pipeline - self.layers
        least = most - np.ceil(missing / t.pipeline)
        at_first = most - np.floor((missing + np.maximum(t.pipeline - 2.0, 0.0)) / t.pipeline)
        single = t.pipeline == 1.0
        first, last, middle = at_first * each + ahead, least * each + behind, most * each
        is_last = (last >= first) & (last >= middle)
        is_first = (first >= middle) & ~is_last
        slow = np.where(single, first + behind, np.maximum(np.maximum(first, last), middle))
        count = np.where(is_last & ~single, least, np.where(is_first | single, at_first, most))
        has_ahead, has_behind = is_first | single, is_last | single
        time = m * slow + (self.layers * each + ahead + behind - slow) / t.interleave
        time += count * once + has_ahead * once_ahead + has_behind * once_behind

        # -- hand-over -------------------------------------------------------------------------------------------
        stage_inside, stage_nodes = self.members(t.pipeline, t.tensor * t.data)
        handed = 2 * x * bt
        over = np.where(stage_inside > 1, self.in_setup + self.in_step + handed / self.in_rate, 0.0)
        over = np.where(stage_nodes > 1, self.out_setup + self.out_step + handed / self.out_rate, over)
        if not sequence:
            over = over + arrival
        waited = 2.0 * (t.pipeline + m - 2.0 - np.ceil((m - 1.0) / t.pipeline))
        waited = np.where(t.interleave > 1, 2.0 * (t.pipeline * t.interleave - 1.0), waited)
        time += waited * over * (t.pipeline > 1)

        # -- replicas --------------------------------------------------------------------------------------------
        held = 4 * h * h * share + 2 * h * f * share + 6 * h + (3 * h + f) * share
        table = v * h * share
        own_first = at_first * held + table + self.slots * h + np.where(single, 2 * h, 0.0)
        own_last = np.where(single, own_first, least * held + 2 * h + table)
        own = np.maximum(np.maximum(own_first, own_last), most * held)
        inside, nodes = self.members(t.data, t.tensor)
        steps, setup = self.latency(inside, nodes)
        full = self.reduce(4 * own, inside, nodes, steps, setup)
        scattered = (t.data > 1) * np.where(t.zero < 1, full, self.gather(4 * own, inside, nodes, steps, setup))
        gathered = (t.data > 1) * (t.zero >= 1) * self.gather(2 * own, inside, nodes, steps, setup)
        often = np.where(t.zero >= 2, m, 1.0)
        between = often * scattered + np.where(t.zero == 3, 2 * m, 1.0) * gathered
        ends = (table + self.slots * h) / own_first
        leaving, taken = scattered * (1.0 - ends), gathered * (1.0 - ends)
        kernels, ahead_of, work = (at_first * part for part in (backward - beside, layer_forward, layer_backward))
        last = work + self.slowed * kernels
        piece = (leaving - last) / t.interleave + last / at_first
        whole = leaving - last * (((t.interleave - 1.0) * t.pipeline + 1.0) / t.interleave - 1.0 / at_first)
        exposed = scattered * ends + np.maximum(np.maximum(leaving / at_first, piece), whole)
        exposed += np.where(t.zero == 2, (m - 1.0) * np.maximum(scattered - ahead_of - work, 0.0), 0.0)
        ahead_each = np.maximum(taken - ahead_of, 0.0) + np.maximum(taken + leaving - work, 0.0)
        ahead_each += 2 * gathered * ends
        exposed += np.where(t.zero == 3, m * ahead_each, gathered)
        exposed = np.where(t.overlap > 0, np.minimum(exposed, between), between)
        time += exposed + self.slowed * np.minimum(between - exposed, often * kernels)
        time += own / np.where(t.zero >= 1, t.data, 1.0) * (4 + 24 + 2) / self.memory

        # -- memory ----------------------------------------------------------------------------------------------
        kept = 10 * x * p + (8 * x + 4 * wide) * bt  # norm inputs and outputs, masks; q, k, v, context; gelu in and out
        interior = 5 * scores * bt
        if not fused and recompute == 0:
            kept = kept + interior
        working = np.zeros_like(b)
        if recompute == 2:
            working = kept - 2 * x * p + (0 if fused else interior)
            kept = 2 * x * p
        kept_ahead, kept_behind = x * p, 4 * x * p + vt
        loss = np.where(t.tensor > 1, self.shared_loss, self.loss) * vt
        # With ZeRO-3 two layers are whole while one is at work, and gradients of one; beside the loss table and layer.
        whole = np.where((t.zero >= 3) & (t.data > 1), 1.0, 0.0)
        working_whole, loss_whole = 8.0 * held * whole, (2.0 * held + 2.0 * table + 4.0 * h) * whole
        at_loss = loss + loss_whole > working + working_whole
        ending = np.where(at_loss, loss, np.maximum(working, np.where(whole, 0.0, loss)))
        ending_whole = np.where(at_loss, loss_whole, working_whole)
        states = 2.0 / np.where(t.zero >= 3, t.data, 1.0) + 4.0 / np.where(t.zero >= 2, t.data, 1.0)
        states = states + 12.0 / np.where(t.zero >= 1, t.data, 1.0) + np.where(t.zero >= 2, 0.0, self.copied)

        def flying(stage: Column | float) -> Column:
            pieces = 2.0 * (t.pipeline - stage - 1.0) + (t.interleave - 1.0) * t.pipeline + 1.0
            return np.minimum(m, np.where(t.interleave > 1, pieces / t.interleave, t.pipeline - stage))

        fly, land = flying(0.0), flying(t.pipeline - 1.0)
        memory = own_first * states + (kept * at_first * fly + np.where(single, ending, working)) * self.gaps
        memory += np.where(single, ending_whole, working_whole)
        memory += (kept_ahead + np.where(single, kept_behind, 0.0)) * fly * self.gaps
        other = own_last * states + (kept * least * land + ending) * self.gaps + ending_whole
        # The piece with the head holds one micro-batch: it goes back through it as soon as it has come.
        through = np.where((t.interleave > 1) & ~single, 1.0, land)
        other += (kept_behind + np.where(single, kept_ahead, 0.0)) * through * self.gaps
        fullest = np.maximum(memory, other)
        if np.any(most > at_first):
            second = (
                most * held * states + (kept * most * flying(np.minimum(1.0, t.pipeline - 1.0)) + working) * self.gaps
            ) + working_whole
            fullest = np.where(t.pipeline > 2, np.maximum(fullest, second), fullest)
        return time, fullest + self.reserved


def bare_table(step: TrainingStep, cluster: Cluster, table: MappingTable) -> tuple[Column, Column]:
    """Seconds and bytes of every row."""
    bare = _Bare(step, cluster)
    time, memory = np.empty(len(table)), np.empty(len(table))
    for structure, found in table.structures():
        rows = np.arange(len(table)) if isinstance(found, slice) else found
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK]
            time[part], memory[part] = bare.price(
                table.take(part),
                sequence=structure.sequence_parallel,
                recompute=int(structure.recompute),
                fused=structure.fused_attention,
            )
    return time, memory
