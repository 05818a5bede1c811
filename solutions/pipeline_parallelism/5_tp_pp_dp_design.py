# %% [markdown]
# # Designing a layout: TP, PP and DP
#
# **Pipeline parallelism** (流水线并行, PP) is one of three ways to share the training of a model among GPUs, and they are used
# together. In this notebook you find what each of them costs, and then choose a layout for three machines. No layout is
# right everywhere: on one of the machines PP should not be used at all.
#
# - **Tensor parallelism** (张量并行, TP) cuts each layer: every GPU has a share of its matrices. The outputs of a layer have
#   to be added up over the GPUs, an **all-reduce** (全归约), for each **micro-batch** (微批次): in each layer two in the
#   **forward** (前向) and two in the **backward** (反向).
# - **Pipeline parallelism** (PP) cuts the depth: every GPU has a **stage** (阶段), some of the layers. **Activations**
#   (激活值) travel **point-to-point** (点对点通信) from stage to stage and their gradients back, for each micro-batch.
# - **Data parallelism** (数据并行, DP) cuts the **global batch** (全局批量): every GPU has a replica of the model. The
#   gradients of the parameters are added up over the replicas, one all-reduce in a step.
#
# Letters: t, p, d are the numbers of GPUs that TP, PP and DP use, so t x p x d GPUs in all; b samples in a micro-batch, m
# micro-batches on each replica, v model chunks (模型块) on each rank; L layers, h hidden size, a heads, s tokens in a
# sequence, V words in the vocabulary.

# %% locked="ex5-setup"
from course.layout import Layout
from course.layout.cards import CARDS
from course.lessons.cards import card, my_design, planner, ranking
from course.lessons.layout_run import run_design
from course.lessons.layouts import count, deeper, two_gpu_steps, two_gpus, where_ranks_sit, your_memory, your_volumes
from course.notebook import check, explore_layouts, hint, predict, reveal, when_right

# %% [markdown]
# ## Worked example: 2 GPUs
#
# A model of 24 layers, 8 samples a step, micro-batches of 1. What sends more bytes in a step, TP on 2 GPUs or PP on 2 GPUs?
# Answer `"tp"`, `"pp"` or `"same"`.

# %%
predict("who-sends-more", ..., sure=...)

# %% [markdown]
# And how many times as much as PP does TP send? (1 if it is the same, below 1 if it is less.)

# %%
predict("tp-over-pp", ..., sure=...)

# %%
two_gpus()

# %%
reveal("who-sends-more")

# %%
reveal("tp-over-pp")

# %% [markdown]
# How the numbers come about:
#
# 1. What leaves a layer, for one micro-batch, is a tensor of b s h elements: 2 bytes each in bf16.
# 2. In an all-reduce over n GPUs in a **ring**, the data is cut into n parts. To add up, each GPU sends n-1 of them to its
#    neighbour, one after the other; to hand the sums out, again n-1. So each GPU sends 2 (n-1)/n of the data: with 2 GPUs,
#    exactly the data once.
# 3. **TP**: 4 all-reduces x 24 layers x 8 micro-batches are 768 all-reduces, so 768 tensors from each GPU.
# 4. **PP**: for each micro-batch the first stage sends one activation on, the second one gradient back: 8 tensors from each
#    GPU. How many layers a stage has does not matter.
# 5. **DP**: one all-reduce of all gradients, 4 bytes each, because they are added up in fp32.
#
# A send counts once, at its sender. **"TP communicates less than PP, since it only exchanges results inside a layer"** is
# the tempting wrong idea. TP adds up in every *layer*, four times; PP hands over at every *boundary*, once in each direction,
# and between two boundaries lie many layers.
#
# ## Half of one: 4 GPUs
#
# Put a number in place of each `...`. This is practice, it earns no points. First: which multiple of its data does each GPU
# send in an all-reduce over **4** GPUs?

# %%
count("ring of 4", ...)

# %% [markdown]
# Four stages, 1F1B. How many tensors does a rank **in the middle** of the pipeline send for one micro-batch, forward and
# backward together?

# %%
count("middle rank", ...)

# %% [markdown]
# And the rank at an **end**?

# %%
count("end rank", ...)

# %% [markdown]
# Now each of the four ranks has **two** chunks: rank 0 has the **virtual stages** (虚拟阶段) 0 and 4, rank 1
# has 1 and 5, rank 2 has 2 and 6, rank 3 has 3 and 7. How many tensors does a rank in the middle send for one micro-batch?

# %%
count("middle rank, 2 chunks", ...)

# %% [markdown]
# And the last rank?

# %%
count("end rank, 2 chunks", ...)

# %% [markdown] locked="ex5-volumes-question"
# ### Exercise: what each axis sends (5 points)
#
# Write three functions: the bytes that the **busiest GPU** sends in one step along each axis. A send counts once, at its
# sender.
#
# - `tp_bytes(layout, model)`: 4 ring all-reduces of b s h elements in each layer, for each micro-batch.
# - `pp_bytes(layout, model)`: each rank of TP sends its tensors whole. With three stages or more the busiest rank is one in the
#   middle; with two stages both are ends; with one stage there is nothing to send.
# - `dp_bytes(layout, model)`: one ring all-reduce of the gradients, 4 bytes each. The busiest GPU is one of the first stage: it
#   has the parameters of its layers, 12 h² + 13 h in each, and of the embedding, (V + s) h; TP shares all of them out evenly.
#
# `layout` has `tp`, `pp`, `dp`, `micro_batch_size`, `chunks` and `micro_batches` (those of one replica); `model` has `layers`,
# `hidden`, `heads`, `sequence`, `vocabulary` and `global_batch`. Write `layout.tp` or `layout["tp"]`. An element of an
# activation has 2 bytes. Return bytes, or text with a unit such as `"1.5 GB"`; 1% off is still right.

# %% answer="ex5-volumes"
def tp_bytes(layout, model):
    """Bytes that a GPU sends in a step for TP."""
    ### BEGIN SOLUTION
    tensor = layout.micro_batch_size * model.sequence * model.hidden * 2
    in_one_layer = 4 * 2 * (layout.tp - 1) / layout.tp * tensor
    return in_one_layer * model.layers / layout.pp * layout.micro_batches
    ### END SOLUTION


def pp_bytes(layout, model):
    """Bytes that the busiest GPU sends in a step for PP."""
    ### BEGIN SOLUTION
    if layout.pp == 1:
        return 0
    tensors = 2 * layout.chunks if layout.pp > 2 else 2 * layout.chunks - 1
    return tensors * layout.micro_batch_size * model.sequence * model.hidden * 2 * layout.micro_batches
    ### END SOLUTION


def parameters_on_first(layout, model):
    """Parameters on a GPU of the first stage: not asked for, but useful twice."""
    ### BEGIN SOLUTION
    layers = model.layers / layout.pp * (12 * model.hidden ** 2 + 13 * model.hidden)
    return (layers + (model.vocabulary + model.sequence) * model.hidden) / layout.tp
    ### END SOLUTION


def dp_bytes(layout, model):
    """Bytes that a GPU of the first stage sends in a step for DP."""
    ### BEGIN SOLUTION
    return 2 * (layout.dp - 1) / layout.dp * 4 * parameters_on_first(layout, model)
    ### END SOLUTION


# %% check="ex5-volumes"
check("ex5-volumes", tp_bytes, pp_bytes, dp_bytes)

# %%
hint("ex5-volumes")

# %% [markdown]
# Your functions on a larger model, several ways to use 8 GPUs:

# %%
when_right("ex5-volumes", lambda: your_volumes(tp_bytes, pp_bytes, dp_bytes, CARDS["c"].model, [
    Layout(8, 1, 1, 1), Layout(4, 2, 1, 1), Layout(2, 4, 1, 1), Layout(2, 4, 1, 1, chunks=2), Layout(1, 8, 1, 1),
    Layout(2, 2, 2, 1), Layout(1, 1, 8, 1)]))

# %% [markdown]
# ## What must fit
#
# Bytes that are sent cost time. Bytes that do not fit end the run. In training with bf16, how many bytes of memory does each
# parameter take, with all that belongs to it?

# %%
predict("bytes-per-parameter", ..., sure=...)

# %% [markdown]
# | for each parameter | bytes |
# |---|---|
# | weight, bf16 | 2 |
# | gradient, added up in fp32 | 4 |
# | the optimizer (Adam): weight in fp32, two moments | 4 + 4 + 4 |
#
# TP and PP share the parameters out; DP copies them. The *distributed optimizer* spreads the optimizer's 12 bytes over the d
# replicas and leaves weights and gradients whole on each.

# %%
reveal("bytes-per-parameter")

# %% [markdown]
# The other large part are stored activations. For **one layer and one micro-batch** a GPU stores, with TP and **sequence
# parallelism** (序列并行), as counted by Korthikanti et al. 2022 (table 2; these are bytes, not elements):
#
# | **activation recomputation** (激活重计算) | bytes |
# |---|---|
# | `"none"`: nothing is computed again | s b h (34 + 5 a s/h) / t |
# | `"selective"`: the s x s matrices of the attention are | 34 s b h / t |
# | `"full"`: everything is, from the layer's input | 2 s b h |
#
# How many micro-batches are **in flight** (在途) at the worst moment you know from notebooks 2 and 4. On the first rank,
# counted in chunks of L/(p v) layers: min(m, p) with v = 1; interleaved, in Megatron's order, min(m v, 2(p-1) + (v-1)p + 1).

# %% [markdown] locked="ex5-memory-question"
# ### Exercise: what must fit (3 points)
#
# Two functions, for the **fullest GPU**, which is one of the first stage:
#
# - `state_bytes(layout, model, distributed_optimizer)`: parameters, gradients and optimizer. `distributed_optimizer` is True or
#   False. The first stage has its layers and the embedding.
# - `activation_bytes(layout, model, recompute)`: stored activations at the worst moment. `recompute` is `"none"`,
#   `"selective"` or `"full"`.

# %% answer="ex5-memory"
def state_bytes(layout, model, distributed_optimizer):
    """Bytes of parameters, gradients and optimizer on a GPU of the first stage."""
    ### BEGIN SOLUTION
    each = 6 + 12 / layout.dp if distributed_optimizer else 18
    return each * parameters_on_first(layout, model)
    ### END SOLUTION


def activation_bytes(layout, model, recompute):
    """Bytes of activations that a GPU of the first stage stores at the worst moment."""
    ### BEGIN SOLUTION
    p, v, m = layout.pp, layout.chunks, layout.micro_batches
    each = {"none": (34 + 5 * model.heads * model.sequence / model.hidden) / layout.tp,
            "selective": 34 / layout.tp, "full": 2}[recompute]
    one_layer = each * model.sequence * layout.micro_batch_size * model.hidden
    in_flight = min(m, p) if v == 1 else min(m * v, 2 * (p - 1) + (v - 1) * p + 1)
    return one_layer * model.layers / (p * v) * in_flight
    ### END SOLUTION


# %% check="ex5-memory"
check("ex5-memory", state_bytes, activation_bytes)

# %%
hint("ex5-memory")

# %% [markdown]
# Your functions on the same layouts, with selective recomputation and no distributed optimizer:

# %%
when_right("ex5-memory", lambda: your_memory(state_bytes, activation_bytes, CARDS["c"].model, [
    Layout(8, 1, 1, 1), Layout(4, 2, 1, 1), Layout(2, 4, 1, 1), Layout(2, 4, 1, 1, chunks=2), Layout(1, 8, 1, 1),
    Layout(2, 2, 2, 1), Layout(1, 1, 8, 1)], usable=CARDS["c"].cluster.usable_bytes))

# %% [markdown]
# A deeper pipeline makes the state of the first stage smaller, but not its activations: fewer layers, but more micro-batches in
# flight.

# %%
when_right("ex5-memory", deeper)

# %% [markdown]
# ## How long a step takes
#
# A model of the costs, simple enough for paper. With compute, TP and PP as the seconds of *one* micro-batch on one stage, and
# DP as those of a step, the **step time** (步时间) is
#
#     (m + (p-1)/v) (compute + TP + PP) + DP
#
# m micro-batches one after the other, and (p-1)/v more for the **bubble** (气泡). Seconds are operations over the speed of a
# GPU, and bytes over the speed of the *slowest link* on the way. Nothing overlaps: TP's all-reduces stand on the **critical
# path** (关键路径) in any case, because the next layer needs their result; PP's messages could partly be sent while the next
# micro-batch is computed, and DP's while the last backwards run. For PP the model waits for 2 v tensors for each micro-batch.
#
# Back to the worked example, on 2 GPUs with 300 GB/s between them: which of tp 2, pp 2 and dp 2 has the **longest** step?
# Answer `"tp"`, `"pp"` or `"dp"`.

# %%
predict("longest-of-two", ..., sure=...)

# %%
two_gpu_steps()

# %%
reveal("longest-of-two")

# %% [markdown]
# PP sends nearly nothing and still has a longer step: its price is the bubble. TP and DP have no bubble: their price is what
# they send. Which is cheaper depends on m, on the links, and on the model. (Compute is the same everywhere: the same
# operations, shared out evenly.)
#
# ## Where the ranks sit
#
# Links inside a node (节点内) are much faster than those between nodes (节点间), so it matters which ranks share a node. Ranks
# are numbered as in Megatron: TP neighbours first, then DP, then PP. With tp 2, pp 2, dp 2 on two nodes of 4 GPUs:

# %%
where_ranks_sit(Layout(2, 2, 2, 1), CARDS["c"].cluster)

# %% [markdown]
# `nodes` says which ranks are in which node, a list for each. Now the same sizes with the even ranks in one node and the odd
# ranks in the other. Which axis crosses the nodes then: `"tp"`, `"pp"` or `"dp"`?

# %%
predict("crosses-when-moved", ..., sure=...)

# %%
where_ranks_sit(Layout(2, 2, 2, 1, nodes=[[0, 2, 4, 6], [1, 3, 5, 7]]), CARDS["c"].cluster)

# %%
reveal("crosses-when-moved")

# %% [markdown]
# ## Three cards
#
# Each card is a model and a cluster of 8 GPUs. You choose `tp`, `pp`, `dp`, `micro_batch_size`, `chunks` and `nodes`. A layout
# must obey these rules:
#
# 1. tp x pp x dp is the number of GPUs.
# 2. tp divides the number of heads; pp x chunks divides the number of layers.
# 3. micro_batch_size x dp divides the global batch.
# 4. chunks is 1 or 2 on these cards; 2 only with pp above 1, and when the micro-batches are a multiple of pp.
# 5. Every rank has one place in `nodes`. A TP group may lie in two nodes; the check says what that costs.
# 6. It fits the memory, with selective recomputation, sequence parallelism, and no distributed optimizer.
#
# Full points are for a step within 10% of the fastest that the planner finds among *all* layouts; a slower one gets a part. An
# example for 4 GPUs in one node, so it fits none of the cards:
#
#     dict(tp=2, pp=1, dp=2, micro_batch_size=4, chunks=1, nodes=[[0, 1, 2, 3]])
#
# ### Card a

# %%
card("a")

# %% [markdown]
# Which one axis would you use on this card, if you could use only one: `"tp"`, `"pp"` or `"dp"`?

# %%
predict("first-tool-a", ..., sure=...)

# %% [markdown] locked="ex5-design-a-question"
# ### Exercise: a layout for card a (2 points)
#
# `design_a`: a dict with `tp`, `pp`, `dp`, `micro_batch_size`, `chunks` and `nodes`.

# %% answer="ex5-design-a"
design_a = (
    ### BEGIN SOLUTION
    {"tp": 1, "pp": 1, "dp": 8, "micro_batch_size": 1, "chunks": 1, "nodes": [[0, 1, 2, 3, 4, 5, 6, 7]]}
    ### END SOLUTION
)

# %% check="ex5-design-a"
check("ex5-design-a", design_a)

# %%
hint("ex5-design-a")

# %% [markdown]
# What your layout needs and where its time goes:

# %%
my_design("a", design_a)

# %%
reveal("first-tool-a", after="ex5-design-a")

# %% [markdown]
# And all that the planner finds:

# %%
when_right("ex5-design-a", lambda: ranking("a", design_a))

# %% [markdown]
# **"PP is the first tool to reach for when there are many GPUs"** is the tempting wrong idea. PP is for a model that does not
# fit. This one fits into each GPU, and so the question is only what is cheaper: a bubble in every step, or one all-reduce of
# its gradients. When the model fits, scale with DP.
#
# ### Card b

# %%
card("b")

# %% [markdown]
# The model is fourteen times as large, in the same node, and a step has only 4 samples. Which axis would you make largest here?

# %%
predict("first-tool-b", ..., sure=...)

# %% [markdown] locked="ex5-design-b-question"
# ### Exercise: a layout for card b (3 points)
#
# `design_b`: a dict with `tp`, `pp`, `dp`, `micro_batch_size`, `chunks` and `nodes`.

# %% answer="ex5-design-b"
design_b = (
    ### BEGIN SOLUTION
    {"tp": 8, "pp": 1, "dp": 1, "micro_batch_size": 4, "chunks": 1, "nodes": [[0, 1, 2, 3, 4, 5, 6, 7]]}
    ### END SOLUTION
)

# %% check="ex5-design-b"
check("ex5-design-b", design_b)

# %%
hint("ex5-design-b")

# %%
my_design("b", design_b)

# %%
reveal("first-tool-b", after="ex5-design-b")

# %%
when_right("ex5-design-b", lambda: ranking("b", design_b))

# %% [markdown]
# No replica fits twice, so d = 1, and the 4 samples are at most 4 micro-batches: a deep pipeline idles most of the time,
# whatever it saves in bytes. (Korthikanti et al. 2022 trained this very model on 8 GPUs, and measured 1.10 s a step in the
# layout at the top of the table.)
#
# ### Card c

# %%
card("c")

# %% [markdown]
# The same model, more samples in a step, and the 8 GPUs are now in **two** nodes with a slow link between them. Suppose
# somebody takes tp = 8 again. Is the step, against the fastest layout, nearest to `"half"` as long, the `"same"`, or
# `"double"`?

# %%
predict("tp-across-c", ..., sure=...)

# %% [markdown] locked="ex5-design-c-question"
# ### Exercise: a layout for card c (3 points)
#
# `design_c`: a dict with `tp`, `pp`, `dp`, `micro_batch_size`, `chunks` and `nodes`.

# %% answer="ex5-design-c"
design_c = (
    ### BEGIN SOLUTION
    {"tp": 2, "pp": 4, "dp": 1, "micro_batch_size": 1, "chunks": 2, "nodes": [[0, 1, 2, 3], [4, 5, 6, 7]]}
    ### END SOLUTION
)

# %% check="ex5-design-c"
check("ex5-design-c", design_c)

# %%
hint("ex5-design-c")

# %%
my_design("c", design_c)

# %%
reveal("tp-across-c", after="ex5-design-c")

# %%
when_right("ex5-design-c", lambda: ranking("c", design_c))

# %% [markdown]
# Two layouts are within 1% of each other at the top: no cost model of this kind can tell which one would win on a real
# cluster, so both are right. The TP group over two nodes is legal, and hopeless: all its all-reduces wait for the slow link.
# What crosses the nodes should be what sends least, and that is PP.
#
# ### Your layout runs
#
# Now your layout for card c trains a transformer: 8 processes, one for each GPU. TP is PyTorch's own, a `DeviceMesh` with
# `ColwiseParallel` and `RowwiseParallel`; the pipeline and DP are those of the other notebooks. The model and the step are
# small, so that 8 processes fit into this machine. The same formulas count them, only that an element has 4 bytes here, because
# in fp32 the gradients can be compared with those of one process. What is sent is counted where each process calls an
# all-reduce or sends a message.
#
# On a machine with one core this takes up to half a minute.

# %%
when_right("ex5-design-c", lambda: run_design("c", design_c))

# %% [markdown]
# Find one row of the picture in the formulas: who is the neighbour in the ring, who has the next stage, and what does each get?
# The bytes are those of any cluster. The time is not: here all processes share a few cores, and no link is slow.
#
# ## What would turn a verdict?
#
# The planner on a card, with some of its numbers changed: `sequence`, `global_batch`, `inter_gb_per_s`, `memory_gb`,
# `efficiency`, `max_chunks`, or any other. Try what you think would change each verdict: longer or shorter sequences on card
# a, more chunks on card b, other links on card c.

# %%
when_right("ex5-design-a", lambda: planner("a", sequence=4096))

# %%
when_right("ex5-design-b", lambda: planner("b", global_batch=32))

# %%
when_right("ex5-design-c", lambda: planner("c", inter_gb_per_s=50))

# %% [markdown] locked="ex5-explain-question"
# ### Exercise: TP inside a node, PP across (4 points)
#
# "Keep TP inside a node and let PP cross nodes" is a common rule. Explain it in eight to fifteen sentences. A person marks this
# text, one point for each of these:
#
# 1. what TP and what PP sends, how often, and what that means for the number of bytes;
# 2. who waits for these messages, and what could overlap with computing;
# 3. numbers from your own layout for card c, beside those of a layout that breaks the rule;
# 4. when the answer would change: for two of the three cards, what would turn the verdict.

# %% [markdown] manual="ex5-explain"
# 1. (1 point) TP adds up the output of each layer over its GPUs: four all-reduces of b s h in every layer, for every
#    micro-batch, 8 b s h (t-1)/t elements from each GPU and layer. PP hands one tensor of b s h over each boundary and
#    direction, however many layers lie between. So TP sends tens of times as many bytes.
# 2. (1 point) TP's all-reduces are on the critical path: the next layer cannot start before the sum is there, so all GPUs of
#    the group wait. PP's messages go from one rank to one other, and while one micro-batch travels the next can be computed.
# 3. (1 point) On card c, tp 2 pp 4 with TP inside the nodes: a GPU sends 38.7 GB for TP over the 300 GB/s links, 0.13 s, and
#    3.2 GB for PP over the 25 GB/s link, 0.13 s, of a step of 8.1 s. With tp 8 over both nodes it sends 270.6 GB for TP over
#    the slow link, 10.8 s, and the step takes 18.3 s, 2.26 times as long.
# 4. (1 point) Card a: with sequences of 1024 tokens a step computes less than a tenth, but DP's all-reduce stays as large, and
#    pp 8 becomes the fastest. Card b: with 4 chunks PP's bubble is so small that tp 4 pp 2 is as fast as tp 8. Card c: with an
#    all-reduce that first adds up inside each node, only a part of the data crosses the slow link, and tp 8 is only 1.2 times
#    slower; with links between the nodes as fast as inside, 1.05 times.
#
# **Rubric (for the instructor), 1 point each, half a point where marked (½):**
#
# 1. TP sends in every layer (twice forward, twice backward), PP once a boundary and direction. (½ for "TP sends more" without
#    saying how often each sends.)
# 2. TP's messages are waited for by the whole group, PP's can pass while other micro-batches are computed. (½ for one of the
#    two.)
# 3. Bytes or times of both axes for a layout with TP inside the node, beside those of one that breaks the rule; `my_design("c",
#    {...})` prints those of any layout. Off by up to 10% is right. (½ for one of the two layouts, or for one axis.)
# 4. For two of the three cards a change that turns the verdict: any that the planner bears out counts, not only those above.
#    (½ for one card, or for two changes without a reason.)

# %%
hint("ex5-explain")

# %% [markdown]
# ## Any other layout
#
# The sliders choose a layout on any of the three cards. Below them stand the cluster, the memory of the fullest GPU, what is
# sent over which links, the time of the step, and the place of the layout among all that fit. Click a GPU, or move the last
# slider, to see whom it talks to. A button takes the layout that it names.
#
# 1. On card c, deal the ranks of the fastest layout out to the nodes in turn. Which axis crosses the nodes now, and how many
#    times as long is the step?
# 2. On card a, break as many rules at once as you can. Which of the layouts named then are fast?
# 3. On card b, how many chunks does it take until a pipeline is as fast as the layout at the top?

# %%
when_right("ex5-design-a", lambda: when_right("ex5-design-b", lambda: when_right("ex5-design-c", lambda: explore_layouts("c"))))

# %% [markdown]
# A card of your own, up to 64 GPUs (GB/s inside a node and across, then TFLOP/s and the share of them that is reached):
#
#     from course.layout import Cluster, Model
#     from course.layout.cards import Card
#     model = Model(32, 4096, 32, sequence=4096, vocabulary=32000, global_batch=64)
#     mine = Card("mine", model, Cluster(4, 8, 80, 450, 50, 989, 0.4))
#     explore_layouts("mine", 2, 2, 8, cards=mine)

# %% [markdown]
# ## What to take along
#
# - TP sends in every layer, PP at every boundary, DP once a step. TP's messages are on the critical path.
# - TP and PP share the state out, DP copies it. Activations of the first stage do not get less with more stages.
# - First see whether the model fits. If it does, use DP. If not, TP inside a node; PP when a node is not enough, with many
#   micro-batches and chunks to keep its bubble small.
# - All this is a model of the costs, with one efficiency for everything. It ranks layouts; only a run measures one.
