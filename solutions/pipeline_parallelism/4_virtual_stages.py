# %% [markdown]
# # Virtual stages
#
# With p stages and m micro-batches a **bubble** (气泡) of (p-1)/(m+p-1) is left, and m cannot grow without limit: the batch is
# fixed. In this notebook the bubble shrinks at the same m. Each GPU gives up its one large piece of the model for several
# small ones, so that everything a GPU waits for is over sooner. Megatron calls it the **interleaved** (交错式) **schedule**
# (调度). It has a price, and you will measure both.
#
# First the ground to start from: **1F1B** on 4 GPUs with 8 **micro-batches** (微批次). The model has 8 layers, so a **stage**
# (阶段) has two of them. A slot of the drawing is the **forward** (前向) of *one* layer, so an operation of a stage takes two
# slots. The number in a box is the micro-batch, with F or B before it where there is room; its row is the GPU, blue is a
# forward, orange with a hatch a backward.

# %% locked="ex4-setup"
from course import Costs, schedules
from course.lessons.chunk_runs import other_order, side_by_side, stage_times, warm_ups, with_latency, your_formulas
from course.lessons.virtual_stages import (
    chunks_beside_stages, map_of, parameters_of_stages, practise_layers, practise_orders, weight_of_the_head, your_map)
from course.notebook import check, explore, hint, predict, reveal, run_for_real, show, when_right

# %%
plain_run = run_for_real(schedules.one_f_one_b(4, 8), costs=Costs(forward=2, backward=2))
plain_run

# %% [markdown]
# More than a quarter of the time is idle. Look at how long each wait is: at the start, the last stage waits until three stages
# have done a forward of two layers each. With stages of one layer each wait would be half as long.
#
# ## One rank, several stages
#
# From here on two words must be kept apart. A **rank** is a GPU, a *physical* stage. A **virtual stage** (虚拟阶段), or
# **model chunk** (模型块), is one of the v pieces of the model that a rank holds; the stages of the pipeline are now these
# pieces, and there are p v of them. Here are 8 layers on 2 ranks, first as before:

# %%
map_of(8, ranks=2, chunks=1)

# %%
map_of(8, ranks=2, chunks=2)

# %% [markdown]
# In the second map each rank holds as many layers as before, but a micro-batch comes by **twice**: rank 0, rank 1, back to
# rank 0, rank 1. The stages are dealt out to the ranks **round-robin**, as one deals cards: stage 0 to rank 0, stage 1 to rank
# 1, and then again from rank 0. That is how chunk 1 of rank 0 is stage 2.
#
# Now 16 layers on 4 ranks with 2 chunks each. On which rank is layer 9? (Everything is counted from 0.) Put your number in
# place of the first `...`, and how sure you are (0 to 100) in place of the second.

# %%
predict("rank-of-layer-9", ..., sure=...)

# %%
reveal("rank-of-layer-9")

# %% [markdown]
# ### Half of one: 12 layers, 3 ranks, 2 chunks each
#
# There are 6 stages of 2 layers. Fill in the two gaps and run the cell. This is practice, it earns no points.

# %%
practise_layers({
    (0, 0): [0, 1], (1, 0): [2, 3], (2, 0): [4, 5],  # (rank, chunk): layers
    (0, 1): [6, 7], (1, 1): ..., (2, 1): ...,
}, layers=12, ranks=3, chunks=2)

# %% [markdown] locked="ex4-layers-question"
# ### Exercise: the layers of a chunk (3 points)
#
# Write `layers_of(num_layers, p, v, rank, chunk)`: the list of the layers that chunk `chunk` of rank `rank` holds. All layers
# are shared out equally, and `num_layers` is a multiple of `p * v`. `rank` and `chunk` are always counted from 0: `rank=0,
# chunk=1` is the second chunk of the first rank. On 8 layers, `layers_of(8, 2, 2, 0, 1)` is the list `[4, 5]`. (The layers in
# your lists may also be counted from 1, as Megatron counts them, if all of them are.)

# %% answer="ex4-layers"
def layers_of(num_layers, p, v, rank, chunk):
    """The layers that a chunk of a rank holds."""
    ### BEGIN SOLUTION
    stage, size = chunk * p + rank, num_layers // (p * v)
    return list(range(stage * size, (stage + 1) * size))
    ### END SOLUTION

# %% check="ex4-layers"
check("ex4-layers", layers_of)

# %%
hint("ex4-layers")

# %% [markdown]
# Your function as a map, 24 layers on 4 ranks with 3 chunks each:

# %%
when_right("ex4-layers", lambda: your_map(layers_of, 24, 4, 3))

# %% [markdown]
# ### Are equal layers equal work?
#
# All stages have the same number of layers. The first one also has the embedding, and the last one the output head, which
# turns the last hidden state into a number for each word of the vocabulary. Does the last stage have `"more"`, `"less"` or the
# `"same"` work as a stage in the middle?

# %%
predict("work-of-the-last-stage", ..., sure=...)

# %%
weight_of_the_head(vocabulary=51200, hiddens=[1024, 4096, 12288], layers=48, ranks=4, micro_batches=32)

# %%
reveal("work-of-the-last-stage")

# %% [markdown]
# **"Equal layer counts are equal stages"** is tempting, and wrong. A layer multiplies by about 12·h² parameters, the head by
# V·h, so the head is worth V/(12·h) layers: four of them in a model with h = 1024 and V = 51200. Every other stage then waits
# for the last one, m times a step. The embedding only looks up rows, which costs no time to speak of, but its parameters lie
# on the first stage. Here are the parameters of the four stages that ran above:

# %%
parameters_of_stages(plain_run)

# %% [markdown]
# Chunks do not change this: the head cannot be dealt out, it stays on one rank. Megatron has flags for it
# (`--account-for-loss-in-pipeline-split` counts the head as one layer, and `--account-for-embedding-in-pipeline-split` the
# embedding). In what follows all stages take the same time, as in all formulas.
#
# ## What the flags say
#
# Megatron is told all this by the flags of its command. The lesson's command starts 8 processes with
#
# ```
# --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4
# --num-layers 48 --num-layers-per-virtual-pipeline-stage 3
# --micro-batch-size 2 --global-batch-size 128
# ```
#
# | flag | what it fixes |
# |---|---|
# | `--tensor-model-parallel-size` | TP: how many processes share each layer of a stage (tensor parallelism, 张量并行) |
# | `--pipeline-model-parallel-size` | PP: the number of ranks of the pipeline, p |
# | `--num-layers` | L: the layers of the whole model |
# | `--num-layers-per-virtual-pipeline-stage` | the layers of a *chunk*, not the number of chunks |
# | `--micro-batch-size` | samples in one micro-batch |
# | `--global-batch-size` | samples in one step, over all replicas of the model |
#
# What is *not* said follows. TP x PP processes hold one replica of the model; DP, the number of replicas (data parallelism,
# 数据并行), is processes / (TP x PP). The **global batch** (全局批量) is micro-batches x micro-batch size x DP. And v is how
# many chunks the layers of a rank make.
#
# **Worked example:** 4 processes, TP 1, PP 2, 8 layers, 2 of them a virtual stage, micro-batch size 4, global batch 64. DP = 4
# / (1 x 2) = 2 replicas. Each has 64 / (4 x 2) = 8 micro-batches a step. A rank holds 8 / 2 = 4 layers, which make 4 / 2 = 2
# chunks. It is the second map above.
#
# **Half of one:** the same with 12 layers and 3 of them a virtual stage. A rank holds 12 / 2 = 6 layers. What is v?

# %%
predict("chunks-of-six-layers", ..., sure=...)

# %%
reveal("chunks-of-six-layers")

# %% [markdown]
# Two divisions must come out even, or Megatron refuses to start: `--num-layers` by `--pipeline-model-parallel-size`, and the
# layers of a rank by `--num-layers-per-virtual-pipeline-stage`. When a chunk is all that a rank has, nothing is interleaved:
# Megatron sets v to `None` and runs its plain 1F1B. (It also refuses v > 1 with one rank, and with two when messages are not
# overlapped with computation. You are not asked about p of 1 or 2.)

# %% [markdown] locked="ex4-flags-question"
# ### Exercise: what the flags say (4 points)
#
# Write `decode(num_layers, p, layers_per_virtual_stage)`: it returns v, or `None` when the run is not interleaved, and raises
# `ValueError` when Megatron would refuse. (An error is raised by `raise ValueError("why")`.)
#
# And for the lesson's command, `lesson_run`: a dict with the replicas `"dp"`, the micro-batches `"m"` of each replica's step,
# and the chunks of a rank `"v"`.

# %% answer="ex4-flags"
def decode(num_layers, p, layers_per_virtual_stage):
    """v, or None when the run is not interleaved; ValueError when Megatron would refuse."""
    ### BEGIN SOLUTION
    if num_layers % p:
        raise ValueError("--num-layers must be a multiple of --pipeline-model-parallel-size")
    if num_layers // p % layers_per_virtual_stage:
        raise ValueError("a rank's layers must be a multiple of --num-layers-per-virtual-pipeline-stage")
    v = num_layers // p // layers_per_virtual_stage
    return v if v > 1 else None
    ### END SOLUTION


lesson_run = {
    "dp": (
        ### BEGIN SOLUTION
        8 // (2 * 4)
        ### END SOLUTION
    ),
    "m": (
        ### BEGIN SOLUTION
        128 // (2 * 1)
        ### END SOLUTION
    ),
    "v": (
        ### BEGIN SOLUTION
        48 // 4 // 3
        ### END SOLUTION
    ),
}

# %% check="ex4-flags"
check("ex4-flags", decode, lesson_run)

# %%
hint("ex4-flags")

# %% [markdown]
# ## The order
#
# Now the ranks need an order for their chunks. 2 ranks, 4 micro-batches, and again the 8 layers: without chunks, 1F1B takes
# (m+p-1)(2+2) = 20 slots, where an operation of a stage takes two. With 2 chunks a rank an operation takes one slot. How many
# slots does the step take?

# %%
predict("slots-with-chunks", ..., sure=...)

# %%
chunks_beside_stages(ranks=2, micro_batches=4, chunks=2)

# %%
reveal("slots-with-chunks")

# %% [markdown]
# ### Worked example: 2 ranks, 2 chunks
#
# Look at the lower picture. A token such as `2F0` says stage, kind and micro-batch, as PyTorch prints it; stages 0 and 2 are
# chunk 0 and 1 of rank 0. In larger pictures, where a token has no room, a box shows its micro-batch alone: then its row is the
# rank, and chunk 1 is told by its look, paler and with a thin line along the upper edge.
#
# 1. Rank 0 does not send micro-batch 0 alone through everything: it would stand idle while rank 1 has it. It runs `0F0 0F1`, p
#    = 2 micro-batches through chunk 0. When `0F1` is done, micro-batch 0 is just back from rank 1, and `2F0 2F1` follow. Then
#    the next p micro-batches, `0F2 0F3 2F2 2F3`. So **forwards go by groups of p micro-batches: a group through chunk 0, then
#    the same group through chunk 1**.
# 2. Backwards (反向) go by the same groups, but **from the last chunk to the first**, because the gradient starts at the loss:
#    `2B0 2B1 0B0 0B1`, then `2B2 2B3 0B2 0B3`.
# 3. The two lists are merged as in 1F1B: a **warm-up** (热身) of forwards, then a forward and a backward in turn (**steady
#    state**, 稳态), then the backwards that are left (**cooldown**, 冷却).
# 4. The warm-up must be longer than 1F1B's. On rank 1, `3B0` needs `3F0`, and before that a whole group goes through chunk 0:
#    its warm-up is `1F0 1F1`. Rank 0 needs more, because a gradient takes longer to reach it. Here it has 4 warm-up forwards.
#
# One example does not show how the warm-up grows, so here is a second one. With 3 ranks, 3 chunks and 6 micro-batches, Megatron
# takes warm-ups of 10, 8 and 6 forwards. Begin with the last rank, which waits for nobody behind it: what are its 2 forwards
# above, and its 6 here? Then go up, rank by rank: each has one rank more behind it. What does that add?
#
# ### Half of one: 3 ranks, 2 chunks, 3 micro-batches
#
# Ranks 0 and 1 are there. Finish rank 2, which has the last stage, in place of the `?`. Practice, no points.

# %%
practise_orders("""
0F0 0F1 0F2 3F0 3F1 3F2 3B0 3B1 3B2 0B0 0B1 0B2
1F0 1F1 1F2 4F0 4F1 4F2 4B0 4B1 4B2 1B0 1B1 1B2
2F0 2F1 2F2 5F0 ?
""", ranks=3, micro_batches=3, chunks=2)

# %% [markdown] locked="ex4-order-question"
# ### Exercise: interleaved 1F1B (5 points)
#
# Write `interleaved_1f1b(p, m, v, rank)`: the list of what `rank` runs, in its order. Tokens are `"<stage>F<micro-batch>"` and
# `"<stage>B<micro-batch>"`, and chunk `c` of the rank is stage `c * p + rank`.
#
# m is a multiple of p: Megatron asks for that. (PyTorch also takes an m that can be cut into equal groups of a little more than
# p.) With `v=1` it is plain 1F1B, and `p=1` is a size too. Ranks, chunks, stages and micro-batches are counted from 0.
#
# Any order is right that has every operation once, comes to its end, is as short as it can be (with backwards of one slot and
# of two), and on no rank holds more chunks' **activations** (激活值) than Megatron's order does.

# %% answer="ex4-order"
def interleaved_1f1b(p, m, v, rank):
    """The operations of one rank in its order: a list such as ["0F0", "2F0", "2B0", "0B0"]."""
    ### BEGIN SOLUTION
    if m % p:
        raise ValueError("m must be a multiple of p")
    units = [(chunk, micro_batch) for group in range(0, m, p) for chunk in range(v) for micro_batch in range(group, group + p)]
    forwards = [f"{chunk * p + rank}F{micro_batch}" for chunk, micro_batch in units]
    backwards = [f"{(v - 1 - chunk) * p + rank}B{micro_batch}" for chunk, micro_batch in units]
    warm_up = min(m * v, 2 * (p - rank - 1) + (v - 1) * p if v > 1 else p - rank - 1)
    order = forwards[:warm_up]
    for forward, backward in zip(forwards[warm_up:], backwards, strict=False):
        order += [forward, backward]
    return order + backwards[m * v - warm_up:]
    ### END SOLUTION

# %% check="ex4-order"
check("ex4-order", interleaved_1f1b)

# %%
hint("ex4-order")

# %% [markdown]
# Your order for 2 ranks, simulated, as far as it goes:

# %%
show(interleaved_1f1b, title="Your order", stages=2, micro_batches=4, chunks=2, summary=False)

# %% [markdown]
# ## Is it free?
#
# The next runs are on 4 ranks with 8 micro-batches and 2 chunks a rank, the same model that ran at the top. Commit to three
# numbers first. The **bubble fraction** (气泡率) was 3/11 without chunks; what is it with 2 chunks a rank?

# %%
predict("bubble-with-chunks", ..., sure=...)

# %% [markdown]
# Without chunks 48 messages were sent in the step: 8 activations forward over each of 3 boundaries, 8 gradients back. How many
# are there with 2 chunks a rank?

# %%
predict("messages-with-chunks", ..., sure=...)

# %% [markdown]
# Rank 0 held the activations of at most 4 micro-batches, of two layers each. With 2 chunks a rank, in Megatron's order, does
# it hold `"more"`, `"less"` or the `"same"` amount?

# %%
predict("memory-with-chunks", ..., sure=...)

# %% [markdown]
# Now your order, on four processes:

# %%
my_run = run_for_real(interleaved_1f1b, stages=4, micro_batches=8, chunks=2, after="ex4-order")
my_run

# %% [markdown]
# Many arrive at one of two right answers: **Megatron's order**, or a **lean** one with a shorter warm-up. The next cells run
# the one that you did not write, lay all three runs side by side, and show where the two differ.

# %%
other_run = run_for_real(other_order(my_run), after="ex4-order")
when_right("ex4-order", lambda: side_by_side(plain_run, my_run, other_run))

# %%
when_right("ex4-order", lambda: warm_ups(4, 8, 2))

# %%
reveal("bubble-with-chunks", after="ex4-order")

# %%
reveal("messages-with-chunks", after="ex4-order")

# %%
reveal("memory-with-chunks", after="ex4-order")

# %% [markdown]
# The losses are equal to the last digit: the schedule cuts the time, not the mathematics. Now put into formulas what you have
# seen.

# %% [markdown] locked="ex4-cost-question"
# ### Exercise: what it gains and what it costs (4 points)
#
# Three functions, for equal stages and messages that take no time:
#
# - `bubble_interleaved(p, m, v)`: idle over *total* time;
# - `boundary_messages(p, m, v)`: how many messages all ranks together send in a step, forward and backward (for `v > 1` with
#   at least two ranks);
# - `activation_factor(p, v)`: the activations that rank 0 holds at its worst moment in Megatron's order, over those it holds
#   in 1F1B without chunks; for `v > 1` and m of at least 2 p.

# %% answer="ex4-cost"
def bubble_interleaved(p, m, v):
    """Idle over total time."""
    ### BEGIN SOLUTION
    return (p - 1) / (v * m + p - 1)
    ### END SOLUTION


def boundary_messages(p, m, v):
    """Messages of a step, both directions, all ranks."""
    ### BEGIN SOLUTION
    return 2 * m * (p * v - 1)
    ### END SOLUTION


def activation_factor(p, v):
    """Rank 0's activations in Megatron's order, over 1F1B's."""
    ### BEGIN SOLUTION
    return (2 * (p - 1) + (v - 1) * p + 1) / (p * v)
    ### END SOLUTION

# %% check="ex4-cost"
check("ex4-cost", bubble_interleaved, boundary_messages, activation_factor)

# %%
hint("ex4-cost")

# %% [markdown]
# Your formulas, beside what the processes did, and for the lesson's command:

# %%
when_right("ex4-cost", lambda: your_formulas(bubble_interleaved, boundary_messages, activation_factor,
                                             plain_run, my_run, other_run))

# %% [markdown]
# (Over *ideal* time, as the Megatron paper counts, the bubble is (p-1)/(v m): exactly 1/v of what it was. Compare only like
# with like.)
#
# **"Interleaving saves memory, since the chunks are smaller"** is the tempting wrong idea. A chunk holds half as much as a
# stage, but a rank has two of them, and Megatron's warm-up runs further ahead: rank 0 holds 11 chunks, as much as 5.5
# micro-batches of a whole stage, where 1F1B held 4. At best, in the lean order, it is equal on rank 0, which holds the most;
# the other ranks hold more than before.
#
# **"Interleaving is free"** is the other one. There are p v - 1 boundaries in place of p - 1, and every micro-batch crosses
# each of them twice. A rank in the middle sends v times as much as before; in all there is more still, because there is now
# also a way from the last rank back to the first, which did not exist before. In Megatron, m must be a multiple of p as well.
# And each message is one more that may be late: here is the step when a message arrives some time after it was sent.

# %%
when_right("ex4-order", lambda: with_latency(4, 8, 2, [0, 0.25, 0.5, 1, 2, 3]))

# %% [markdown]
# This is what Megatron's longer warm-up is for. The lean order has no slack: each operation starts in the very slot in which
# its input arrives, and with the smallest delay everything is late, again and again. Megatron buys slack with memory. When
# links are slow enough, plain 1F1B is the fastest of the three: it sends the least.
#
# What rank 0 holds over time, measured on the processes of your run:

# %%
my_run.memory()

# %% [markdown]
# ## One slow stage
#
# So far all layers took the same time. Suppose that layers 4 and 5 take twice as long. Without chunks both are on rank 2:

# %%
layer_times = [1, 1, 1, 1, 2, 2, 1, 1]
slow_stage = stage_times(layer_times, stages=4)
slow_plain = run_for_real(schedules.one_f_one_b(4, 8), forward=slow_stage, backward=slow_stage)
slow_plain

# %% [markdown]
# 72 slots in place of 44: everyone waits for rank 2. With 2 chunks a rank, layers 4 and 5 are stages 4 and 5; find their ranks
# first. Then commit to one number: how many slots does the step take, where it took 38 with equal layers?

# %%
predict("heavy-with-chunks", ..., sure=...)

# %%
slow_chunk = stage_times(layer_times, stages=8)
slow_chunks = run_for_real(interleaved_1f1b, stages=4, micro_batches=8, chunks=2, forward=slow_chunk, backward=slow_chunk,
                           after="ex4-order")
slow_chunks

# %%
reveal("heavy-with-chunks", slow_chunks.slots)

# %% [markdown]
# Round-robin spreads a slow part of the model over several ranks: each has one slow layer and one fast one for every
# micro-batch, in place of one rank with two slow ones. The step is governed by the rank with the most work, and that is now
# less. It does not help against a slow *GPU*, which is slow with all of its chunks.
#
# ## In your own words

# %% [markdown] locked="ex4-explain-question"
# ### Exercise: explain virtual stages (4 points)
#
# For a colleague who knows 1F1B but has not seen this notebook, in about eight sentences, marked by your instructor:
#
# - what is the difference between a physical and a virtual stage;
# - what does `--num-layers-per-virtual-pipeline-stage` fix, and how does v follow;
# - why does the bubble shrink, at the same m;
# - what does it cost? Name one cost that you measured, with its number.

# %% [markdown] manual="ex4-explain"
# A physical stage is a rank, a GPU with all that it holds. A virtual stage is one of the v chunks of the model on it; chunk c
# of rank r is stage c p + r of the pipeline, so a micro-batch comes by v times.
#
# The flag fixes how many layers a chunk has. A rank has L/p layers, so v is L/p divided by the flag; in the lesson's command
# 48/4 = 12 layers, 12/3 = 4 chunks. Both divisions must come out even.
#
# Fill and drain still pass p-1 other ranks, but each wait is now a chunk long, 1/v of a stage, while the work of a rank stays
# the same. So the bubble falls from (p-1)/(m+p-1) to (p-1)/(v m+p-1), in the runs above from 27.3% to 15.8%.
#
# It costs messages, 2 m (p v - 1) in place of 2 m (p - 1), here 112 in place of 48; and in Megatron's order memory, 11 chunks
# in place of the worth of 8 on rank 0, which is 1 + (p-1)/(p v) = 1.375 times 1F1B's.
#
# **Rubric (for the instructor), 1 point each, half a point where marked (½):**
#
# 1. Physical against virtual: a rank or GPU, against one of the v chunks of layers that it holds.
# 2. What the flag fixes, the layers of a chunk, and how v follows: layers / p / flag.
# 3. Why the bubble shrinks: each wait of fill and drain is 1/v as long, their number and the work stay the same. (Not: there
#    are fewer waits, or there is less work.)
# 4. A true cost with its number: messages, (p v - 1)/(p - 1) times in all or v times on a rank in the middle; or more
#    activations in Megatron's order; or that m must be a multiple of p; or sensitivity to latency. (½ for a true cost without
#    a number, and for "v times the messages" without saying where.) "Less memory" is none.

# %%
hint("ex4-explain")

# %% [markdown]
# ## Any other size
#
# Move the sliders: chunks, ranks, micro-batches, the length of a backward. How many chunks does it take to halve the bubble,
# and what does rank 0 hold then? Compare with 1F1B in the list of schedules.
#
# Mind the unit. A slot is the forward of one *chunk*, so with more chunks there are more slots, and each is shorter. To compare
# steps of different v, take the length in forwards of a whole rank, slots / v: the line of the step says it where v is above 1.
# Without chunks a slot is the forward of a whole rank. The same goes for what is held, in chunks or in micro-batches of a whole
# rank. And with one rank it draws an order for 2 chunks as well, though Megatron would refuse that run.

# %%
when_right("ex4-order", lambda: when_right("ex4-cost", lambda: explore("interleaved_1f1b", ranks=4, micro_batches=8, chunks=2)))

# %% [markdown]
# ## What to take along
#
# - A rank with v chunks takes part in v stages, dealt out round-robin. The flag says how many layers a chunk has.
# - The bubble is (p-1)/(v m + p - 1): v times the micro-batches would do the same, without chunks.
# - The price is messages, and in Megatron's order activations; both are worth it where links are fast and memory is left.
# - Equal layers are not equal stages: the head weighs on the last one, the embedding on the first.
# - When m must stay small, chunks help; when links are slow, they hurt. Between which GPUs a model is cut, and into what, is
#   the next notebook.
