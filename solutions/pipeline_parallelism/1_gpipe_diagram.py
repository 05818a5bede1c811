# %% [markdown]
# # The GPipe diagram
#
# In this notebook you draw the oldest pipeline **schedule** (调度), GPipe, on 4 stages with 4 **micro-batches** (微批次), the
# equal parts that a batch is cut into, and count the time that it wastes. Then four processes train by your drawing.
#
# Three rules are all there is. A stage does one thing at a time, and
#
# 1. a **forward** (前向) `F` of a micro-batch needs the same forward of the stage before to have *ended*;
# 2. a **backward** (反向) `B` needs the same backward of the stage after to have ended;
# 3. a backward needs its own forward, on the same stage, to have ended.

# %% locked="ex1-setup"
from course import Costs
from course.checks.spot_the_error import DRAWINGS
from course.notebook import check, draw_here, hint, practise, predict, reveal, run_for_real, show, when_right

# %% [markdown]
# ## One batch, not cut: why bother?
#
# A drawing is text: one line a **stage** (阶段), stage 0 first; one cell a time **slot**; `.` is an idle cell. Slots are counted
# from 0: what runs in slot 5 starts at 5 and ends at 6 on the axis below the picture. Here two stages handle one batch as
# a whole.

# %%
show("""
F0 .  .  B0
.  F0 B0 .
""", stages=2, micro_batches=1, summary=False)

# %% [markdown]
# Only one stage works at any time. With 4 stages and one batch that is not cut, which fraction of the time does a stage work?

# %%
predict("share-of-one-batch", ..., sure=...)

# %%
show("""
F0 .  .  .  .  .  .  B0
.  F0 .  .  .  .  B0 .
.  .  F0 .  .  B0 .  .
.  .  .  F0 B0 .  .  .
""", title="4 stages, 1 micro-batch", stages=4, micro_batches=1, summary=False)

# %%
reveal("share-of-one-batch")

# %% [markdown]
# Each stage works 2 of 8 slots: four GPUs, and each idles three quarters of the time. The way out is to cut the batch into
# micro-batches: as soon as stage 0 has done the forward of the first, stage 1 can start on it while stage 0 goes on with
# the second.
#
# ## Worked example: 2 stages, 2 micro-batches
#
# 1. Stage 0 waits for nobody: `F0 F1`.
# 2. Stage 1 can start `F0` when stage 0's `F0` has ended, in slot 1: `.  F0 F1`.
# 3. **GPipe: all forwards, then all backwards.** Stage 1 is the last stage and has the loss, so it goes on at once: `B0 B1`.
# 4. Stage 0 needs the gradient of stage 1. `B0` of stage 1 runs in slot 3, so stage 0 can run its `B0` in slot 4 at the earliest.
# 5. What is left is idle: mark it.

# %%
show("""
F0 F1 .  .  B0 B1
.  F0 F1 B0 B1 .
""", stages=2, micro_batches=2, summary=False)

# %% [markdown]
# ## Half of one: 3 stages, 2 micro-batches
#
# Two rows are there. Finish the third: add the cells of the last stage where the `?` stands (as many as you need), and run the
# cell. This is practice, it earns no points.

# %%
practise("""
F0 F1 .  .  .  .  B0 B1
.  F0 F1 .  .  B0 B1 .
.  .  ?
""", stages=3, micro_batches=2)

# %% [markdown]
# ## Your turn: 4 stages, 4 micro-batches
#
# First a prediction. How many slots does the whole step take, from the first forward to the end of the last backward?

# %%
predict("slots-of-the-step", ..., sure=...)

# %% [markdown] locked="ex1-diagram-question"
# ### Exercise: the GPipe diagram (10 points)
#
# Draw GPipe for **4 stages and 4 micro-batches**, forward and backward **one slot each**. Make the step as short as it can be,
# and mark each idle cell with `.`.
#
# The text between the quotes is your answer: tokens `F0`..`F3`, `B0`..`B3` and `.`, with a space between cells, one line a
# stage, stage 0 first. Write it by hand, or run the cell and draw in the grid below it; its button writes the text into the
# cell. Then run the cell again, and the check after it.

# %% answer="ex1-diagram"
gpipe_diagram = """
### BEGIN SOLUTION
F0 F1 F2 F3 .  .  .  .  .  .  B0 B1 B2 B3
.  F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3 .
.  .  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .  .
.  .  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .  .
### END SOLUTION
"""
draw_here(gpipe_diagram)

# %% check="ex1-diagram"
check("ex1-diagram", gpipe_diagram)

# %%
hint("ex1-diagram")

# %% [markdown]
# ### Your drawing on real processes
#
# The next cell takes *your* drawing as the program: each process runs its row, in your order, with real tensors, each operation
# as soon as its inputs are there. Your drawing is above, the measurement under it.

# %%
my_run = run_for_real(gpipe_diagram, without="bubble")
my_run

# %%
reveal("slots-of-the-step", my_run.slots)

# %% [markdown]
# A drawing is only as good as what it computes. Four processes by your order, beside one process with the whole model. (The
# losses are others than in notebook 0: a step there had 2 micro-batches of text, here it has 4.)

# %%
my_run.equality()

# %% [markdown]
# ### Is the order of the backwards fixed?
#
# **"GPipe's backwards must run first in, first out"** is tempting, and wrong: only the three rules count. The next cell turns
# the backwards of your drawing round. (The figure of the GPipe paper, Huang et al. 2019, has them last in, first out.) Compare
# the length of the step, and the gradients.

# %%
other_order = run_for_real(my_run.backwards_reversed(), without="bubble")
other_order

# %%
other_order.equality()

# %% [markdown]
# ## The bubble
#
# The idle cells of the drawing are the **bubble** (气泡). Its size is told as a fraction of the *total*: idle cells over all
# cells, the **bubble fraction** (气泡率).
#
# Predict first: does a stage in the middle idle more than the first, less, or as much? Answer `"more"`, `"less"` or `"same"`.

# %%
predict("middle-idles", ..., sure=...)

# %% [markdown] locked="ex1-bubbles-question"
# ### Exercise: counting the bubble (4 points)
#
# From a diagram that is as short as it can be (the check above gave it full points): `bubbles_per_stage`, how many idle
# cells each stage has, a list of 4 numbers, stage 0 first; and `bubble_fraction_4_4`, the idle cells of all stages over
# all cells. A fraction, such as `1/2`.

# %% answer="ex1-bubbles"
bubbles_per_stage = (
    ### BEGIN SOLUTION
    [6, 6, 6, 6]
    ### END SOLUTION
)
bubble_fraction_4_4 = (
    ### BEGIN SOLUTION
    24 / 56
    ### END SOLUTION
)

# %% check="ex1-bubbles"
check("ex1-bubbles", bubbles_per_stage, bubble_fraction_4_4)

# %%
hint("ex1-bubbles")

# %%
reveal("middle-idles", after="ex1-bubbles")

# %% [markdown]
# Your diagram has a bubble fraction, and so has your run, whose boxes are clock readings:

# %%
when_right("ex1-bubbles", lambda: my_run.bubble_table())

# %% [markdown]
# **"The bubble is the gap in the middle"** is the tempting wrong idea. Look at a row again. A stage waits for its first forward
# (**fill**, 填充), it waits between its last forward and its first backward, and it waits for the others at the end (**drain**,
# 排空). Early stages have a long gap in the middle, late ones long ends; it adds up to the same for each.
#
# ## When a backward takes twice as long
#
# A backward computes two gradients, that of its input and that of its weights, and often takes about twice as long as the
# forward. Redraw it in your mind: each `F` one slot, each `B` two. Does the bubble fraction grow, shrink or stay? Predict the
# new fraction.

# %%
predict("fraction-backward-twice", ..., sure=...)

# %% [markdown] locked="ex1-backward-twice-question"
# ### Exercise: backwards of two slots (2 points)
#
# Same order, 4 stages, 4 micro-batches, forward one slot, **backward two slots**: how many slots does the step take, and which
# fraction of all cells is idle?

# %% answer="ex1-backward-twice"
slots_when_backward_takes_two = (
    ### BEGIN SOLUTION
    (4 + 3) * (1 + 2)
    ### END SOLUTION
)
fraction_when_backward_takes_two = (
    ### BEGIN SOLUTION
    9 / 21
    ### END SOLUTION
)

# %% check="ex1-backward-twice"
check("ex1-backward-twice", slots_when_backward_takes_two, fraction_when_backward_takes_two)

# %%
hint("ex1-backward-twice")

# %% [markdown]
# Your order again, on processes whose backwards now last two slots:

# %%
slow_backward = run_for_real(gpipe_diagram, costs=Costs(forward=1, backward=2), after="ex1-backward-twice")
slow_backward

# %%
reveal("fraction-backward-twice", after="ex1-backward-twice")

# %% [markdown]
# ## Spot the error
#
# Each of these drawings, 3 stages and 3 micro-batches, has exactly **one** operation that starts too early: before something
# that it needs has ended. All others are in time.

# %%
show(DRAWINGS["a"], title="Drawing a", stages=3, micro_batches=3, summary=False)

# %%
show(DRAWINGS["b"], title="Drawing b", stages=3, micro_batches=3, summary=False)

# %%
show(DRAWINGS["c"], title="Drawing c", stages=3, micro_batches=3, summary=False)

# %% [markdown] locked="ex1-spot-the-error-question"
# ### Exercise: spot the error (4 points)
#
# For each drawing, name the operation that starts too early: its token and its stage, such as `("F0", 1)`.

# %% answer="ex1-spot-the-error"
illegal_operations = {
    "a": (
        ### BEGIN SOLUTION
        "B0", 1
        ### END SOLUTION
    ),
    "b": (
        ### BEGIN SOLUTION
        "F2", 1
        ### END SOLUTION
    ),
    "c": (
        ### BEGIN SOLUTION
        "B2", 2
        ### END SOLUTION
    ),
}

# %% check="ex1-spot-the-error"
check("ex1-spot-the-error", illegal_operations)

# %%
hint("ex1-spot-the-error")

# %% [markdown]
# ## What to take along
#
# - GPipe runs all forwards, then all backwards; the order among the backwards is free.
# - Every stage idles for the same time: fill, the gap, drain.
# - How long a backward takes does not change GPipe's bubble fraction, as long as the stages are equal.
# - When the first backward starts, the first stage holds the **activations** (激活值) of *all* micro-batches. With 4 that is
#   harmless; the next notebook begins where the memory for it runs out.
