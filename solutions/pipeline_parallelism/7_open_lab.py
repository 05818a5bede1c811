# %% [markdown]
# # The open lab
#
# In the notebooks before, somebody had an order in mind and you found it. Here the **schedule** (调度) is yours: write any one
# you like, see at once whether it is legal and why each of its idle cells is idle, put it beside the known ones and beside what
# is proven to be possible, run it on real processes, and take it along. There are no points, and nothing here can be lost.
#
# Change whatever you see and run the cell again. That is what it is for.

# %%
from course import Costs, schedules
from course.lessons.open_lab import export, reachable, read_schedule, run_for_real
from course.lessons.open_lab_challenges import challenge, challenges
from course.lessons.zero_bubble import (
    links_measured, parts_of, price_of_zero, steps_in_a_row, who_is_shorter, zero_measured)
from course.notebook import open_lab, predict, reveal

# %% [markdown]
# ## A drawing under the glass
#
# A worked example: 2 **stages** (阶段), 3 **micro-batches** (微批次), as somebody drew it. `F0` is the **forward** (前向) of
# micro-batch 0, `B0` its **backward** (反向), a `.` an idle cell. There are 8 idle cells, but some of them nobody needed: all
# that the operation behind them waits for was done. How many idle cells does nothing force? Look at the drawing, not yet at the
# next cell. Put your number in place of the first `...`, and how sure you are (0 to 100) in place of the second.

# %%
first_drawing = """
F0 F1 .  .  B0 F2 B1 .  .  B2
.  F0 .  B0 F1 B1 .  F2 B2 .
"""

# %%
predict("cells-left-open", ..., sure=...)

# %%
open_lab(first_drawing)

# %%
reveal("cells-left-open")

# %% [markdown]
# The upper picture is the drawing. **Point at an idle cell**: it says what the rank waits for. (The box "as text" says the same
# in words.) There are four reasons:
#
# | | |
# |---|---|
# | an input is not done | the next operation needs another stage's result, and that stage is still at it |
# | a message is on its way | the result is there, but it has not arrived: see the latency slider |
# | nothing stops it | the drawing leaves a gap |
# | drain (排空) | this rank has nothing left to do in this step |
#
# The lower picture keeps the *order* of the drawing and starts each operation as early as it can: gaps that nothing forces are
# gone, and what is left of the **bubble** (气泡) is there because of the order. The line above it says that the order has a
# name. **"An idle cell is a mistake"** is tempting and wrong: most of them wait for something, and only another order moves them.
#
# ## Half of one: an order that stands still
#
# Without idle cells a text holds *orders*, one line a stage, and no times. In the next one each stage has all its operations,
# and each operation comes behind its own forward. Does it `"run through"`, or does it `"stand still"`?

# %%
no_way = """
F0 B0 F1 B1
F0 F1 B0 B1
"""

# %%
predict("runs-or-stands", ..., sure=...)

# %%
open_lab(no_way)

# %%
reveal("runs-or-stands")

# %% [markdown]
# This is a **deadlock** (死锁): each stage stands at an operation that needs one which the other would run *later*. On real
# processes both would wait for ever, without any error. It is found before a process is touched: the heavy arrows are the cycle.
#
# Your turn: move one token of `no_way` so that it runs through, and run its two cells again. There is more than one way, and they
# are not equally long.
#
# ## A name and a place
#
# Below each schedule stands a plot: how long the step takes against how much the fullest rank holds, the **peak memory**
# (峰值显存) of **activations** (激活值). Down and to the left is better. All known schedules of this size are on it, each as a
# schedule of one model on the same ranks: a chunk of two is half of a rank's layers, in time and in memory.
#
# The dashed stair is a **proven floor**: no schedule with *this placement* of stages is below it, whatever its order. Known
# schedules below it have another placement (several **model chunks**, 模型块, a rank), or they split their backwards.
#
# 1F1B on 3 ranks with 6 micro-batches takes 16 slots and holds 3 micro-batches. Is there an order of the same operations that is
# shorter, or as short with less memory: `"yes"` or `"no"`?

# %%
predict("better-than-1f1b", ..., sure=...)

# %%
open_lab(schedules.one_f_one_b(3, 6))

# %%
reveal("better-than-1f1b")

# %% [markdown]
# 1F1B stands in a corner of the stair: without latency nothing with whole backwards and one stage a rank is shorter, and nothing
# as short holds less. Elsewhere the stair may promise more than there is. A floor is a proof that nothing is *below*; what is
# *there*, a search over all orders can tell, at small sizes. Here it goes over every order of 3 stages and 6 micro-batches:

# %%
reachable(ranks=3, micro_batches=6)

# %% [markdown]
# With room for 3 micro-batches the floor is reached, by 1F1B; with room for 2 the shortest of all orders is 2 slots above it.
# (The last column is such an order, as a line that `open_lab` reads: look at it.) So whoever wants a shorter step must change the
# *operations*: cut the stages smaller, as interleaving (交错式) does, or cut the backward.
#
# A backward does two things. The **input gradient** (输入梯度, `I`) is what the stage before waits for; for the **weight
# gradient** (权重梯度, `W`) nobody waits until the step ends. `I0` and `W0` in place of `B0` may stand apart, and an activation
# is held until its `W`. Here is ZB-H1, 1F1B with its backwards split; `F`, `I` and `W` take a slot each. Which idle cells did
# the `W`s fill?

# %%
open_lab(schedules.zb_h1(4, 8))

# %% [markdown]
# ## Is zero free?
#
# In ZB-H1 the `W`s fill slots of the cooldown (冷却) in which 1F1B waits for gradients. It still has idle slots where the
# pipeline fills (填充). ZB-H2 fills those as well: it starts more forwards before the first
# backward, and between its first operation and its last no stage is idle any more. That is called **zero bubble** (零气泡).
#
# Two predictions, for 4 stages, 8 micro-batches, and `F`, `I`, `W` of a slot each. 1F1B and ZB-H1 hold at most 4 micro-batches on
# a stage. How many does stage 0 hold in ZB-H2?

# %%
predict("held-by-zero", ..., sure=...)

# %% [markdown]
# And one step of ZB-H2, from its first operation to its last on any stage: is it `"shorter"` than one step of ZB-H1, `"longer"`,
# or the `"same"`?

# %%
predict("zero-behind-a-barrier", ..., sure=...)

# %%
price_of_zero(ranks=4, micro_batches=8)

# %%
reveal("held-by-zero")

# %%
reveal("zero-behind-a-barrier")

# %% [markdown]
# **"Zero bubble is free"** is tempting, and wrong twice. First, it is bought with memory: ZB-H2 holds nearly twice as many
# micro-batches as 1F1B. Second, the idle slots have moved to the ends of the step, where stages begin and end at different times.
# If something waits for *all* stages there (a norm of all gradients, an optimizer behind a barrier), they are a bubble again, and
# ZB-H2 has bought nothing over ZB-H1. Only if each stage goes on with its own next step at once the slots are gone:

# %%
steps_in_a_row(schedules.zb_h2(4, 8))

# %% [markdown]
# Now on processes: the same model, three orders. Bytes of activations are counted, not computed.

# %%
plain_run, h1_run, h2_run = (run_for_real(schedule, costs=parts_of(schedule)) for schedule in (
    schedules.one_f_one_b(4, 8), schedules.zb_h1(4, 8), schedules.zb_h2(4, 8)))
zero_measured(plain_run, h1_run, h2_run)

# %% [markdown]
# (ZB-H1 holds as many micro-batches on stage 0 as 1F1B, but more on the later stages, each until its `W`. Real runs take a
# minute or so; where the machine was busy, the note under a table says so, and the simulated numbers are those to go by.)
#
# ZB-V, which you find on the plots, is free of idle slots inside the step *and* holds no more than 1F1B's stage 0: its two chunks
# a rank make a V. Its price is twice the messages, and a zero that is one only while `F`, `I` and `W` take equally long. Open it
# in the lab and move the sliders.
#
# ## Slow links
#
# All plots so far had free messages. Now a message takes half a forward's time to arrive: 4 stages, 32 micro-batches, a backward
# of two slots. Without latency GPipe and 1F1B take the same 105 slots. With it, is 1F1B's step `"shorter"` than GPipe's,
# `"longer"`, or the `"same"`?

# %%
predict("shorter-with-slow-links", ..., sure=...)

# %%
who_is_shorter(ranks=4, micro_batches=32)

# %%
reveal("shorter-with-slow-links")

# %% [markdown]
# **"Schedules rank the same whatever the links"** is the tempting wrong idea. In its steady state (稳态) 1F1B goes back and forth
# between neighbours: a forward waits for a message from the left, the next backward for one from the right, again and again, and
# each wait is in the step. GPipe pays for its messages while the pipeline fills and drains, and hardly in between. What 1F1B
# keeps is its memory. On processes:

# %%
gpipe_run, one_run = (run_for_real(schedule, costs=Costs(1, 2, latency=0.5)) for schedule in (
    schedules.gpipe(4, 32), schedules.one_f_one_b(4, 32)))
links_measured(gpipe_run, one_run)

# %% [markdown]
# Where exactly does it wait? Messages on their way have a reason of their own in the lab:

# %%
open_lab(schedules.one_f_one_b(4, 8), input_grad=1, weight_grad=1, latency=0.5)

# %% [markdown]
# Waits are passed on: what stands as an input that is not done is often late because another stage waited for a message.
#
# ## As Python
#
# A function writes any size. Like in notebook 2 it gets (p, m, stage) and returns the order of that stage. This one is a
# compromise: GPipe in waves. All forwards of a wave, all its backwards, then the next wave. Wider waves are shorter and hold
# more. Change the width, and watch it wander over the plot. Then write something of your own.

# %%
def in_waves(p, m, stage, width=4):
    order = []
    for first in range(0, m, width):
        wave = range(first, min(first + width, m))
        order += [f"F{i}" for i in wave] + [f"B{i}" for i in wave]
    return order


mine = read_schedule(in_waves, ranks=4, micro_batches=8)
open_lab(mine)

# %% [markdown]
# `read_schedule` takes whatever you have: a drawing, orders (a text, or a list for each rank), a function, a CSV text or the
# name of a CSV file, a line that somebody sent you. Where a rank holds several stages, tokens say theirs: `2F0` is stage 2,
# forward, micro-batch 0. This is a V: stages 0 and 3 on rank 0, 1 and 2 on rank 1.

# %%
open_lab("""
0F0 0F1 3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 0I1 0W1
1F0 2F0 1F1 2F1 2I0 2W0 1I0 2I1 2W1 1I1 1W0 1W1
""")

# %% [markdown]
# ## For real
#
# Your schedule on real processes, one a rank: real text, tensors, messages, gradients; only the speed of the devices is
# emulated, as before. Gradients equal one process's, whatever the order: it decides when, not what.

# %%
my_run = run_for_real(mine)
my_run

# %%
my_run.equality()

# %% [markdown]
# And the measured step under the same glass. Its boxes are readings of the processes' clocks; the star beside yours on the plot
# is what was measured.

# %%
open_lab(my_run)

# %% [markdown]
# ## Take it along
#
# `export` writes two files beside this notebook, and one line.
#
# - **CSV**, the notation of PyTorch's `torch.distributed.pipelining`, which can run it: on this machine by the command in the
#   table, on GPUs under `torchrun`.
# - A **Chrome trace** of the timeline. Drop it on [ui.perfetto.dev](https://ui.perfetto.dev) to look at it with the tools that
#   people use for traces of real training.
# - The **line** holds the whole schedule. Send it to somebody, who opens it by `open_lab("...")`.

# %%
export(mine, name="my_schedule")

# %%
open_lab("pp1/zb_v/p4/m8/end")

# %% [markdown]
# ## Challenges
#
# Three of them, without points. Answers may have any form that `open_lab` takes, and are judged beside what is proven. Look at
# your order in the lab first.

# %%
challenges()

# %%
challenge("smallest-memory", ...)

# %%
challenge("beat-1f1b", ...)

# %%
challenge("zb-h1", ...)

# %% [markdown]
# ## What to take along
#
# - Every idle cell has a reason: an input, a message, a gap of your own, or nothing left to do. Only another order moves the
#   first two.
# - A schedule is a trade of step time against memory. What is possible is bounded from below by proofs, not by the best schedule
#   somebody happened to find.
# - Zero bubble is bought: with activations, with messages, and only where nothing waits at the end of the step.
# - Which schedule is the shortest depends on the links. A ranking without latency is one for free messages.
# - Schedules are data: text, CSV, one line. What you drew here runs on GPUs as it is.
