# %% [markdown]
# # 1F1B and its phases
#
# A **backward** (反向) needs what its own **forward** (前向) has saved: the **activations** (激活值) of that micro-batch (微批次)
# on that stage (阶段). A stage holds them from the start of the forward to the end of the backward; during that time the
# micro-batch is **in flight** (在途) there. GPipe's first stage has *all* micro-batches in flight when its first backward
# starts. In this notebook the memory for that runs out.
#
# ## Stages with room for four
#
# 4 stages, 8 micro-batches. Beside its parameters, each stage has room for the activations of **4 micro-batches**: that is its
# **activation memory** (激活显存). Which is the first forward of GPipe that no longer fits on stage 0? Put the number of its
# micro-batch in place of the first `...`, and how sure you are (0 to 100) in place of the second.

# %% locked="ex2-setup"
from course import schedules
from course.lessons.one_f_one_b import (
    bytes_beside, fewer_stages, in_rounds, layers_in_flight, nothing_gained, phases_of,
    practise_within_room, same_step, side_by_side, what_room_buys, who_holds_most,
    why_it_shrinks, within_room)
from course.notebook import (
    check, draw_here, explore, hint, predict, reveal, run_for_real, show, statements,
    when_right)

# %%
predict("first-without-room", ..., sure=...)

# %%
within_room(schedules.gpipe(4, 8), room=4, title="GPipe, as far as it goes")

# %%
reveal("first-without-room")

# %% [markdown]
# The dashed line is the room. Each stage waits for `F4`, stage 0 waits for room, and room comes from a backward that GPipe runs
# only after `F7`. On a GPU this is an out-of-memory error.
#
# **"Then run GPipe twice, with 4 micro-batches each time"** is the tempting way out. It fits. GPipe with room for 8 would take
# 22 slots. How many slots do the two rounds take?

# %%
predict("slots-in-two-rounds", ..., sure=...)

# %%
within_room(in_rounds(4, 8, room=4), room=4, title="GPipe in two rounds of 4")

# %%
reveal("slots-in-two-rounds")

# %% [markdown]
# Each round fills (填充) and drains (排空) the pipeline anew: the **bubble** (气泡) is paid twice. Is there an order with room
# for 4 that is as short as GPipe with room for 8? Answer `"yes"` or `"no"`.

# %%
predict("room-without-delay", ..., sure=...)

# %% [markdown]
# ## Look for it yourself
#
# On a smaller machine: **2 stages, 4 micro-batches, room for 2** on each stage. With room for 4, GPipe would take 10 slots. Find
# an order that takes 10 slots with room for 2. The drawing begins where GPipe stops: go on from there. Run the cell and draw in
# the grid, or write in the text; then run it again, and the cell after it. This is practice, it earns no points.

# %%
small_drawing = """
F0 F1 ?
.  F0 ?
"""
draw_here(small_drawing, stages=2, slots=10, micro_batches=4)

# %%
practise_within_room(small_drawing, stages=2, micro_batches=4, room=2)

# %% [markdown]
# Stuck? Stage 0 is full after `F1`, and only its own `B0` makes room. So ask of stage 1: which operation brings that moment
# nearer, `F1` or `B0`?

# %%
reveal("room-without-delay")

# %% [markdown]
# ## Worked example: 2 stages, 4 micro-batches
#
# The order is called **1F1B**: one forward, one backward. (It is also known as PipeDream-Flush: Narayanan et al. 2021, section
# 2.2.1.)
#
# 1. Stage 1 has the loss. It runs each backward at once after its forward: `F0 B0 F1 B1 ..`. It never holds more than one
#    micro-batch.
# 2. Stage 0 gets its first gradient when `B0` of stage 1 has ended, at slot 3. Until then it can only run forwards, and it has
#    run two: `F0 F1`. The first of them is its **warm-up** (热身).
# 3. `B0` makes room for one micro-batch, and stage 0 takes it: `F2`. From here on a forward and a backward take turns, the
#    **steady state** (稳态). What is in flight no longer grows.
# 4. When there is no forward left, the remaining backward follows, the **cooldown** (冷却): `B3`.

# %%
within_room(schedules.one_f_one_b(2, 4), room=2, title="1F1B")

# %% [markdown]
# The same in phases, when a pair of the steady state is a forward and then a backward:
#
# | | warm-up | steady state: F/B pairs | cooldown |
# |---|---|---|---|
# | stage 0 | `F0` | `F1 B0`, `F2 B1`, `F3 B2` | `B3` |
# | stage 1 | none | `F0 B0`, `F1 B1`, `F2 B2`, `F3 B3` | none |
#
# (One can also count the pairs as a backward and then a forward. Then the warm-up of stage 0 is `F0 F1`, the pairs are `B0 F2`
# and `B1 F3`, the cooldown `B2 B3`. The order is the same.)
#
# ## Half of one: 3 stages, 4 micro-batches
#
# The first and the last stage are there. Finish the one between them, in place of the `?`. Stage 0 has room for 3 micro-batches,
# stage 1 for 2, stage 2 for 1. This is practice, it earns no points.

# %%
practise_within_room("""
F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3
?
.  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .
""", stages=3, micro_batches=4, room=(3, 2, 1))

# %% [markdown]
# ## Your turn: any number of stages
#
# First a prediction. With 4 stages and 8 micro-batches GPipe, given the room, takes 22 slots. Is 1F1B's step `"shorter"`,
# `"longer"` or the `"same"`?

# %%
predict("step-of-1f1b", ..., sure=...)

# %% [markdown] locked="ex2-order-question"
# ### Exercise: the order of 1F1B (8 points)
#
# Write the function `one_f_one_b(p, m, stage)`: for `p` stages and `m` micro-batches, the list of the operations that stage
# `stage` (counted from 0) runs, in its order: warm-up, steady state, cooldown. A token is text, such as `"F0"` or `"B3"`. Idle
# cells are left out, since a stage starts each operation as soon as it can: `one_f_one_b(2, 2, 1)` is `["F0", "B0", "F1", "B1"]`.
#
# It has to hold for every `p` and `m` of at least 1, also for `m` smaller than `p`. The step must be as short as GPipe's, and no
# stage may hold more micro-batches than it must.

# %% answer="ex2-order"
def one_f_one_b(p, m, stage):
    """The operations of one stage, in the order in which it runs them: a list such as ["F0", "B0"]."""
    ### BEGIN SOLUTION
    warm_up = min(p - 1 - stage, m)
    order = [f"F{i}" for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [f"F{warm_up + i}", f"B{i}"]
    return order + [f"B{i}" for i in range(m - warm_up, m)]
    ### END SOLUTION

# %% check="ex2-order"
check("ex2-order", one_f_one_b)

# %%
hint("ex2-order")

# %% [markdown]
# Your order, as a drawing: each operation as early as it can be. Right or not yet, here you see where a stage waits, and for
# what. (Stages that wait for each other in a circle wait for ever, a **deadlock** (死锁). Such an order is drawn as far as it
# goes.)

# %%
show(one_f_one_b, title="Your order", stages=4, micro_batches=8, summary=False)

# %% [markdown]
# ### Your order on real processes
#
# Four processes train by it. The drawing above is simulated; here you see beside it what the clocks of the processes say. (A run
# takes a few seconds, on a busy machine a quarter of a minute.)

# %%
my_run = run_for_real(one_f_one_b, stages=4, micro_batches=8, without="bubble")
my_run

# %%
my_run.equality()

# %% [markdown]
# ### Is the step shorter than GPipe's?

# %%
reveal("step-of-1f1b", after="ex2-order")

# %%
when_right("ex2-order", lambda: side_by_side(4, 8))

# %% [markdown]
# **"1F1B has a smaller bubble than GPipe"** is the tempting wrong idea. With equally many micro-batches, equal stages and
# messages that take no time, both steps are equally long, and each stage idles equally long, whether a backward takes one slot
# or two: the pipeline fills and drains once in either. What differs is the last column. (When messages take long, the two differ
# in time as well, and GPipe can be the shorter one.)
#
# ## The three phases
#
# Write down how long each phase is. It is one formula, and the other two numbers follow from it: each forward is either in the
# warm-up or in a pair, each backward either in a pair or in the cooldown.

# %% [markdown] locked="ex2-phases-question"
# ### Exercise: the lengths of the phases (3 points)
#
# Write the function `phase_lengths(p, m, stage)`. It returns three numbers: the forwards of the warm-up, the F/B pairs of the
# steady state, the backwards of the cooldown. Count pairs that begin with F, or pairs that begin with B, but always the same.
# Again `m` may be smaller than `p`.

# %% answer="ex2-phases"
def phase_lengths(p, m, stage):
    """(warm-up forwards, pairs, cooldown backwards) of one stage."""
    ### BEGIN SOLUTION
    warm_up = min(p - 1 - stage, m)
    return warm_up, m - warm_up, warm_up
    ### END SOLUTION

# %% check="ex2-phases"
check("ex2-phases", phase_lengths)

# %%
hint("ex2-phases")

# %% [markdown]
# Your order, cut where your lengths say:

# %%
when_right("ex2-phases", lambda: phases_of(one_f_one_b, phase_lengths, 4, 8))

# %% [markdown]
# **"The warm-up is p-1 forwards on every stage"** is the tempting wrong idea:

# %%
when_right("ex2-phases", why_it_shrinks)

# %% [markdown]
# ## How much is in flight?
#
# The most that a stage holds at any moment is what its memory must have room for, its **peak memory** (峰值显存). In 1F1B with
# many micro-batches, which stage holds the most: the `"first"`, the `"last"`, or do `"all"` hold the same?

# %%
predict("holds-most", ..., sure=...)

# %% [markdown] locked="ex2-in-flight-question"
# ### Exercise: how many in flight (4 points)
#
# Write the function `peak_in_flight(schedule, p, m, stage)`: the micro-batches whose activations stage `stage` holds at its worst
# moment. The schedule (调度) is `"gpipe"` or `"1f1b"`. A micro-batch counts from the start of its forward to the end of its
# backward.

# %% answer="ex2-in-flight"
def peak_in_flight(schedule, p, m, stage):
    """Micro-batches held at the worst moment; schedule is "gpipe" or "1f1b"."""
    ### BEGIN SOLUTION
    return m if schedule == "gpipe" else min(m, p - stage)
    ### END SOLUTION

# %% check="ex2-in-flight"
check("ex2-in-flight", peak_in_flight)

# %%
hint("ex2-in-flight")

# %%
reveal("holds-most", after="ex2-in-flight")

# %% [markdown]
# ### Measured: GPipe's memory and yours
#
# Now in bytes. Each process counts, byte by byte, what its forwards have saved and its backwards have not yet freed. First GPipe:

# %%
gpipe_run = run_for_real(schedules.gpipe(4, 8), after="ex2-in-flight", steps=1)
gpipe_run.memory()

# %% [markdown]
# Then the run of your order, from above:

# %%
when_right("ex2-in-flight", lambda: my_run.memory())

# %% [markdown]
# Your function `peak_in_flight` beside the processes: its number times the bytes of one micro-batch is what was measured, to the
# byte. (A stage's layers make the bytes of one; the last stage has the output head as well.)

# %%
when_right("ex2-in-flight", lambda: bytes_beside(peak_in_flight, gpipe_run, my_run))

# %% [markdown]
# **"All stages hold the same"** is the tempting wrong idea:

# %%
when_right("ex2-in-flight", who_holds_most)

# %% [markdown]
# And in time? Compare the two rows of slots, and the two of the bubble. Simulated, both runs are equally long. The measured rows
# come close to that where the machine has no other work; where they do not, a line below the table says so.

# %%
when_right("ex2-in-flight", lambda: same_step(gpipe_run, my_run))

# %% [markdown]
# ## Do more stages make it less?
#
# Parameters are shared out: with twice as many stages each holds half of them. Take a model, 1F1B and many micro-batches, and cut
# the model into 8 stages instead of 4. Stage 0's activation memory becomes how many times what it was (1/2, 1, 2, ..)?

# %%
predict("memory-with-twice-the-stages", ..., sure=...)

# %%
when_right("ex2-in-flight", lambda: layers_in_flight(48, 16, [2, 4, 8, 16]))

# %%
reveal("memory-with-twice-the-stages", after="ex2-in-flight")

# %% [markdown]
# The same small model as above, measured on 2 stages and on 4:

# %%
two_stages = run_for_real(schedules.one_f_one_b(2, 8), after="ex2-in-flight", steps=1)
when_right("ex2-in-flight", lambda: fewer_stages(two_stages, my_run))

# %% [markdown]
# **"More stages divide the activation memory by p"** is the tempting wrong idea:

# %%
when_right("ex2-in-flight", nothing_gained)

# %% [markdown]
# ## What the room is good for
#
# 1F1B's step is no shorter. But its memory does not grow with m, so m may grow, and with m the bubble's share falls:

# %%
when_right("ex2-in-flight", lambda: what_room_buys(4, 4, [4, 8, 16, 32, 64]))

# %% [markdown]
# This is 1F1B's indirect gain. With the same memory GPipe has to stop at 4 micro-batches a step, and further rounds of 4 leave
# its bubble at the first line's. (More micro-batches of the same size are a larger batch. With the batch fixed they get smaller,
# which has a price of its own: the next notebook is about it.)
#
# ## True or false?

# %%
statements("ex2-claims")

# %% [markdown] locked="ex2-claims-question"
# ### Exercise: true or false (1 point)
#
# Call each of the six statements above `True` or `False`.

# %% answer="ex2-claims"
claims = {
    "a": (
        ### BEGIN SOLUTION
        False
        ### END SOLUTION
    ),
    "b": (
        ### BEGIN SOLUTION
        True
        ### END SOLUTION
    ),
    "c": (
        ### BEGIN SOLUTION
        False
        ### END SOLUTION
    ),
    "d": (
        ### BEGIN SOLUTION
        False
        ### END SOLUTION
    ),
    "e": (
        ### BEGIN SOLUTION
        True
        ### END SOLUTION
    ),
    "f": (
        ### BEGIN SOLUTION
        True
        ### END SOLUTION
    ),
}

# %% check="ex2-claims"
check("ex2-claims", claims)

# %%
hint("ex2-claims")

# %% [markdown] locked="ex2-explain-question"
# ### Exercise: 1F1B in your own words (4 points)
#
# A colleague knows GPipe and asks what 1F1B is for. Explain it in five to ten sentences, without code. Write in the cell below:
# double click it, and put your text in place of what stands there. A person marks it, one point for each of these:
#
# 1. what each of the three phases does;
# 2. how long the last stage's warm-up is, and why;
# 3. what bounds the number of micro-batches in flight on a stage, beside GPipe's bound, and why;
# 4. how its bubble compares with GPipe's.

# %% [markdown] manual="ex2-explain"
# 1. (1 point) In the warm-up a stage runs forwards only, to keep busy until the first gradient has come back to it. In the
#    steady state it runs one forward and one backward in turn: each backward frees the activations of one micro-batch, each
#    forward takes as much. In the cooldown there is no forward left, and it runs the backwards that remain.
# 2. (1 point) The last stage has no warm-up: it has the loss, so its first backward can follow its first forward at once.
# 3. (1 point) At most p - stage micro-batches are in flight on a stage (or m, if that is less): its first gradient comes back
#    after the micro-batch has passed the p - stage stages from this one to the last, and from then on every new forward waits
#    for a backward. In GPipe it is m on every stage, because no backward comes before the last forward.
# 4. (1 point) With equally many micro-batches the bubble is the same as GPipe's: the pipeline fills and drains once in both. 1F1B
#    saves memory, not time; the memory lets m grow, and a larger m makes the bubble's share smaller.
#
# **Rubric (for the instructor), 1 point each, half a point where marked (½):**
#
# 1. All three phases: forwards only; forward and backward in turn (or backward and forward); backwards only. (½ for two of
#    them, or for all three without a reason for the warm-up.)
# 2. The last stage has the loss, so a backward follows its own forward at once. "No warm-up" and "a warm-up of one", with the
#    forward of the first pair counted in, are both right. (½ for the number without the reason.)
# 3. At most p - stage in flight, with a reason, and m for GPipe. (½ for the two numbers without a reason, or for stage 0
#    alone.) Not: 1F1B holds one micro-batch everywhere.
# 4. The same bubble for the same m; what 1F1B gains is memory, and through it a larger m. (½ for "memory" without a word on
#    the bubble.) Not: 1F1B has a smaller bubble.

# %%
hint("ex2-explain")

# %% [markdown]
# ## Try other sizes
#
# With 4 stages and 8 micro-batches GPipe's stage 0 holds more than 1F1B's. With fewer micro-batches there comes a number m from
# which on both hold the same there, at m and at every number below it. Which is the largest such m?

# %%
predict("equal-peaks", ..., sure=...)

# %% [markdown]
# The sliders change the sizes; Tab and the arrow keys move them too. Start at 4 stages and 8 micro-batches, tick "memory under
# it" (both schedules are drawn on one scale), and switch between GPipe and 1F1B as you lower m. Then ask the same of stage 3, the
# last one: at which m do both hold the same there? And is there an m at which one step is shorter than the other?

# %%
when_right("ex2-in-flight", lambda: explore(
    "1f1b", ranks=4, micro_batches=8, schedules=("gpipe", "1f1b"), formulas=False))

# %%
reveal("equal-peaks", after="ex2-in-flight")

# %% [markdown]
# ## What to take along
#
# - 1F1B: warm-up, then a forward and a backward in turn, then cooldown. The warm-up is shorter on each later stage.
# - It bounds the memory for activations by the number of stages instead of the number of micro-batches; its step is as long as
#   GPipe's.
# - Stage 0 needs the most, and cutting the model into more stages does not help it.
# - The memory that it saves lets m grow. How much that helps, and where it ends, is the next notebook: the formula of the bubble.
