# %% [markdown]
# # The bubble fraction
#
# In notebook 1 you counted the **bubble** (气泡) of one drawing. Here you find it for every pipeline: p **stages** (阶段) and m
# **micro-batches** (微批次). Then real processes show where the formula holds, where it ends, and why m cannot just be made
# larger.

# %% locked="ex3-setup"
from course import Costs, schedules
from course.lessons.bubble import bubble_table, needed_table, ratio_table, step, two_definitions, where_it_ends, your_formula
from course.lessons.step_time import emulated, shortest, step_times, your_choice
from course.notebook import check, hint, predict, reveal, run_for_real, show, when_right

# %% [markdown]
# With 4 stages and 4 micro-batches the **bubble fraction** (气泡率), idle over total time, was 3/7. Now cut the batch into 8
# micro-batches instead. Which fraction is idle then?

# %%
predict("bubble-4-8", ..., sure=...)

# %% [markdown]
# ## Worked example: 2 stages
#
# GPipe, 2 stages, 3 micro-batches; `F` is a **forward** (前向), `B` a **backward** (反向), each one slot long. 1F1B would take as
# long: everything here holds for both **schedules** (调度).

# %%
show(schedules.gpipe(2, 3), summary=False)

# %% [markdown]
# Follow the last stage, the lower row.
#
# 1. It waits for stage 0's `F0`: 1 slot.
# 2. Then it runs 3 forwards without a gap. They have ended after 1 + 3 = 4 slots.
# 3. Its backwards follow at once, 3 slots, and then the last gradient travels on to stage 0, 1 slot: 4 more. The second half of
#    the drawing is the first one in a mirror. The step takes 8 slots.
# 4. A stage works in 3 + 3 = 6 of them, so it is idle in 2: the fraction is 2/8 = 1/4.
#
# With m in place of 3: the forwards have ended after m + 1 slots, the step takes 2 (m + 1), a stage works in 2 m and is idle in
# 2, **whatever m is**. The fraction is 2 / (2 (m + 1)) = 1 / (m + 1).
#
# ## Now with p stages: six small steps
#
# Write each step as a formula of p and m in place of `...` and run the cell. It is tried at nine sizes drawn at random (the same
# ones each time). This is practice, it earns no points. A picture to count in, 4 stages and 5 micro-batches:

# %%
show(schedules.gpipe(4, 5), summary=False)

# %% [markdown]
# How many slots pass before the *last* stage can start its first forward?

# %%
step("start", lambda p, m: ...)

# %% [markdown]
# How many slots have passed when the last stage has ended its last forward?

# %%
step("forwards", lambda p, m: ...)

# %% [markdown]
# How many slots does the whole step take, until stage 0 has ended its last backward?

# %%
step("total", lambda p, m: ...)

# %% [markdown]
# In how many of them does one stage work?

# %%
step("busy", lambda p, m: ...)

# %% [markdown]
# In how many is it idle?

# %%
step("idle", lambda p, m: ...)

# %% [markdown]
# Which fraction of the step is that?

# %%
step("fraction", lambda p, m: ...)

# %% [markdown] locked="ex3-derive-question"
# ### Exercise: the formula of the bubble (8 points)
#
# Put it together, for p stages and m micro-batches, forward and backward one slot each:
#
# - `total_slots(p, m)`: the slots of the whole step;
# - `busy_slots(p, m)`: the slots in which one stage works;
# - `bubble_fraction(p, m)`: idle over total, a float or a `Fraction`.
#
# They must hold for one stage, for one micro-batch, and for more stages than micro-batches. If you count in another unit, such as
# a forward and a backward together, use it for both counts.

# %% answer="ex3-derive"
def total_slots(p, m):
    """Slots from the first forward to the end of the last backward."""
    ### BEGIN SOLUTION
    return 2 * (m + p - 1)
    ### END SOLUTION


def busy_slots(p, m):
    """Slots in which one stage works."""
    ### BEGIN SOLUTION
    return 2 * m
    ### END SOLUTION


def bubble_fraction(p, m):
    """Idle over total."""
    ### BEGIN SOLUTION
    return (total_slots(p, m) - busy_slots(p, m)) / total_slots(p, m)
    ### END SOLUTION


# %% check="ex3-derive"
check("ex3-derive", total_slots, busy_slots, bubble_fraction)

# %%
hint("ex3-derive")

# %% [markdown]
# Your functions beside the simulator, which knows no formula: it starts every operation as soon as its stage is free and its
# input is there, and counts.

# %%
when_right("ex3-derive", lambda: your_formula(total_slots, busy_slots, bubble_fraction))

# %% [markdown]
# ### How long is a backward?
#
# So far a backward took as long as a forward. Let it take three times as long. Is the bubble fraction `"larger"`, `"smaller"` or
# the `"same"`?

# %%
predict("backward-three-times", ..., sure=...)

# %%
when_right("ex3-derive", ratio_table)

# %%
reveal("backward-three-times", after="ex3-derive")

# %% [markdown]
# **"A backward takes as long as a forward"** is an idealisation, and **"it always takes twice as long"** is another. Neither is
# needed. While the stages are equal, each wait consists of as many forwards and as many backwards as before, so idle and busy
# time grow alike. (It is not so where a backward is split in two, as in the zero bubble, 零气泡, schedules of a later notebook:
# for 4 stages and 8 micro-batches ZB-H1 has 3/19 with B = F, and 1/9 with B = 2 F.)
#
# ## Two bubbles in numbers

# %% [markdown] locked="ex3-use-question"
# ### Exercise: two bubbles in numbers (4 points)
#
# `bubble_4_8`: the bubble fraction of 4 stages and 8 micro-batches. `bubble_8_64`: that of 8 stages and 64 micro-batches. A
# fraction such as `1/2`, or a decimal number with three digits after the point; your own function may compute it.

# %% answer="ex3-use"
bubble_4_8 = (
    ### BEGIN SOLUTION
    3 / 11
    ### END SOLUTION
)
bubble_8_64 = (
    ### BEGIN SOLUTION
    7 / 71
    ### END SOLUTION
)

# %% check="ex3-use"
check("ex3-use", bubble_4_8, bubble_8_64)

# %%
hint("ex3-use")

# %%
reveal("bubble-4-8", after="ex3-use")

# %% [markdown]
# Twice as many micro-batches do not halve the bubble fraction: the idle time stays, but the total grows by less than twice.
#
# Now 8 stages. With which of 4, 8, 16, 32, 64 micro-batches do the stages work at least 80% of the time, at the earliest?

# %%
predict("busy-four-fifths", ..., sure=...)

# %%
when_right("ex3-use", lambda: bubble_table(bubble_fraction))

# %%
reveal("busy-four-fifths", after="ex3-use")

# %% [markdown]
# What counts is how many micro-batches there are *for each stage*: with m = 4 p the bubble is below 1/5, with m = 8 p below 1/9,
# whatever p is. In the table each doubling of m gains less than the one before.
#
# ### Does it hold on processes?
#
# Four processes, 8 micro-batches: the text, the tensors and the messages are real. Each stage is a device of its own that takes
# one slot for a forward and one for a backward.

# %%
my_run = run_for_real(schedules.gpipe(4, 8), after="ex3-use")
my_run

# %% [markdown]
# ## How many micro-batches does it take?
#
# The other way round: 8 stages, and the bubble shall be 10% of the time at most. How many micro-batches does that take?

# %%
predict("bubble-of-a-tenth", ..., sure=...)

# %% [markdown] locked="ex3-inverse-question"
# ### Exercise: how many micro-batches does it take? (3 points)
#
# `micro_batches_needed(p, fraction)`: the smallest number of micro-batches with which the bubble of p stages is at most
# `fraction` of the total time, such as 0.1. A whole number, also for one stage.

# %% answer="ex3-inverse"
def micro_batches_needed(p, fraction):
    """The smallest m with a bubble of at most `fraction` of the total."""
    ### BEGIN SOLUTION
    m = 1
    while bubble_fraction(p, m) > fraction:
        m += 1
    return m
    ### END SOLUTION


# %% check="ex3-inverse"
check("ex3-inverse", micro_batches_needed)

# %%
hint("ex3-inverse")

# %%
reveal("bubble-of-a-tenth", after="ex3-inverse")

# %%
when_right("ex3-inverse", lambda: needed_table(micro_batches_needed))

# %% [markdown]
# Half the bubble takes a little more than twice the micro-batches. For large pipelines that is hundreds, and each of them has to
# come from somewhere: the last section is about that.
#
# ## Two definitions
#
# Somebody writes that the diagram of notebook 1, with 4 stages and 4 micro-batches, has a bubble of 75%. You counted 3/7, which
# is 43%. Who is wrong: `"they"`, `"me"` or `"nobody"`?

# %%
predict("three-quarters", ..., sure=...)

# %% [markdown] locked="ex3-definitions-question"
# ### Exercise: over total, over ideal (2 points)
#
# *Ideal* time is how long the step would take if no stage ever waited.
#
# - `bubble_over_ideal(p, m)`: idle time over ideal time;
# - `to_fraction_of_total(x)`: takes such an x, idle over ideal, and returns idle over total time.

# %% answer="ex3-definitions"
def bubble_over_ideal(p, m):
    """Idle over ideal time."""
    ### BEGIN SOLUTION
    return (p - 1) / m
    ### END SOLUTION


def to_fraction_of_total(x):
    """Idle over total time, from idle over ideal time."""
    ### BEGIN SOLUTION
    return x / (1 + x)
    ### END SOLUTION


# %% check="ex3-definitions"
check("ex3-definitions", bubble_over_ideal, to_fraction_of_total)

# %%
hint("ex3-definitions")

# %%
reveal("three-quarters", after="ex3-definitions")

# %%
when_right("ex3-definitions", lambda: two_definitions(bubble_over_ideal, to_fraction_of_total))

# %% [markdown]
# **"The two formulas are rivals, and one of them is wrong"** is the tempting idea. Both measure the same idle time. Both are in
# use, and a text does not always say which one it means: 12.3% in one and 11.0% in another can be one and the same bubble.
# Compare only like with like.
#
# ## Where the formula ends
#
# It was derived for equal stages and for messages that take no time. The next three runs break that, one at a time, each with 4
# stages and 8 micro-batches as in the run above.
#
# ### One slow stage
#
# Stage 2 now takes **two slots** for a forward and two for a backward, the others one. How many slots does the step take?

# %%
predict("one-slow-stage", ..., sure=...)

# %%
slow_stage = run_for_real(schedules.gpipe(4, 8), costs=Costs(forward=[1, 1, 2, 1], backward=[1, 1, 2, 1]), after="ex3-use")
slow_stage

# %%
reveal("one-slow-stage", slow_stage.slots)

# %% [markdown]
# **"The average stage takes 1.25 slots now, so the step is 1.25 times as long"** is tempting and wrong: the slowest stage sets
# the pace. The first micro-batch needs 1 + 1 + 2 + 1 = 5 slots to pass all stages, and each of the other 7 comes 2 slots after
# the one before: 19 slots, and as many back. The three fast stages wait for the slow one, and the formula knows nothing of it.
#
# ### Slow links
#
# A link between two devices can be slow in two ways. First: a message is **2 slots on its way**, but the next one may follow at
# once. All stages are equal again. How many slots does the step take?

# %%
predict("late-messages", ..., sure=...)

# %%
late_messages = run_for_real(schedules.gpipe(4, 8), costs=Costs(latency=2), after="ex3-use")
late_messages

# %%
reveal("late-messages", late_messages.slots)

# %% [markdown]
# Every message comes 2 slots later, but they all do: the second micro-batch is as close behind the first as before. What is added
# is the way of one micro-batch over 3 boundaries, there and back: 6 times 2 slots. (GPipe passes through the pipeline twice. 1F1B
# goes back and forth between neighbours all the time and pays this more often.)
#
# Second: a message **occupies its link for 2 slots**, a fixed cost of each message, and the next one waits until the link is
# free. How many slots now?

# %%
predict("long-messages", ..., sure=...)

# %%
long_messages = run_for_real(schedules.gpipe(4, 8), costs=Costs(message=2), after="ex3-use")
long_messages

# %%
reveal("long-messages", long_messages.slots)

# %% [markdown]
# The same 2 slots, and another result. The link is now what the slow stage was: micro-batches come 2 slots apart. The first one
# takes 4 + 3 times 2 = 10 slots to the end of the last stage, the other 7 come 2 slots apart: 24, and as many back.
#
# All four runs:

# %%
where_it_ends({"equal stages": my_run, "one stage twice as slow": slow_stage, "messages 2 slots on their way": late_messages,
               "messages that take the link for 2 slots": long_messages})

# %% [markdown]
# The formula gives one number for all four. The simulator agrees with the processes each time: it follows every operation and
# every message and assumes nothing about them. Use the formula to think, and the simulator, or a run, to know.
#
# ## Are more micro-batches always better?
#
# By the formula the bubble only shrinks as m grows. But the **global batch** (全局批量), all samples of a step, is fixed by what
# is good for the training, and
#
#     global batch = micro-batches x micro-batch size x replicas of the pipeline (dp)
#
# so with more micro-batches each one gets smaller. A device has costs that do not shrink with it: an operation has to be started,
# small matrices use a device badly, and a message has a price of its own.
#
# The next cell runs 32 samples on 4 stages five times, with 2, 4, 8, 16 and 32 micro-batches of 16, 8, 4, 2 and 1 samples. The
# devices are emulated, with numbers that we chose: a forward or a backward takes 12 ms and 8 ms for each sample, a message
# occupies its link for 24 ms. The processes, the tensors and the messages are real. Which number of micro-batches gives the
# shortest **step time** (步时间)?

# %%
predict("best-number", ..., sure=...)

# %% [markdown]
# The five runs take about ten seconds.

# %%
five_runs = {m: run_for_real(schedules.gpipe(4, m), after="ex3-use", **emulated(samples=32 // m)) for m in (2, 4, 8, 16, 32)}
step_times(five_runs)

# %%
reveal("best-number", shortest(five_runs))

# %% [markdown]
# **"More micro-batches are always better"** is wrong when the global batch is fixed. By the formula the bubble shrinks with every
# line of the table; the step does not. On the left of the curve a few large micro-batches fill and drain the pipeline (填充 /
# 排空), and everybody waits long. On the right the fixed cost of an operation is paid more often for the same 32 samples, and
# with one sample an operation takes 20 ms but a message 24: the link sets the pace. The curve is a U, and its bottom depends on
# the device. So it is found by measuring, for the sizes that fit the memory.

# %% [markdown] locked="ex3-limits-question"
# ### Exercise: the best micro-batch size (3 points)
#
# `best_micro_batch_size(global_batch, p, dp, times)`: `times` is a dict, micro-batch size b -> seconds of one forward and one
# backward of a micro-batch of that size on one stage. Its keys are the sizes to choose from; each divides `global_batch / dp`.
# All stages are equal and messages are free. Return the b with the shortest step.

# %% answer="ex3-limits"
def best_micro_batch_size(global_batch, p, dp, times):
    """The micro-batch size, one of the keys of `times`, with the shortest step."""
    ### BEGIN SOLUTION
    def step_seconds(b):
        micro_batches = global_batch / (b * dp)
        return (micro_batches + p - 1) * times[b]

    return min(times, key=step_seconds)
    ### END SOLUTION


# %% check="ex3-limits"
check("ex3-limits", best_micro_batch_size)

# %%
hint("ex3-limits")

# %% [markdown]
# Your function, asked about the devices of the five runs above. It knows nothing of their messages.

# %%
when_right("ex3-limits", lambda: your_choice(best_micro_batch_size, five_runs))

# %% [markdown]
# ## What to take along
#
# - The idle time of a stage is that of the other stages' turns: it does not depend on m. More micro-batches only spread it over
#   more work.
# - A bubble is told over total or over ideal time. Ask which, before you compare.
# - How long a backward takes does not change it, as long as stages are equal and a backward is not split.
# - The slowest stage, or the slowest link, sets the pace; then the formula is too good to be true.
# - With a fixed global batch the step time over m is a U. To make the bubble smaller *without* more micro-batches, the next
#   notebook cuts the stages instead of the batch.
