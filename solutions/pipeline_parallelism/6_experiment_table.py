# %% [markdown]
# # The experiment table
#
# Which **schedule** (调度), how many **stages** (阶段), how many **micro-batches** (微批次)? A formula gives an opinion; a table
# of runs gives an answer, for one model on one machine. In this notebook you plan such a table, let real processes fill it in,
# and draw conclusions that it bears out. It is what the course leaves in your hands: a table that you can put into a report.
#
# ## Four configurations
#
# A table compares, so its rows may differ only in what is being compared. The model stays the same, and so does the **global
# batch** (全局批量), the samples of one step over all replicas:
#
#     global batch = micro-batches x micro-batch size x dp
#
# Here are four configurations, each `PPConfig(pp, micro_batches, micro_batch_size)` with one replica (dp = 1). One of them has
# another global batch than the rest. Which one: `"first"`, `"second"`, `"third"` or `"fourth"`?

# %% locked="ex6-setup"
from course.experiments import run_experiment
from course.formulas import PPConfig
from course.lessons.experiment_table import (
    batches, blank_record, bubbles, markdown, mended, shortest, show_table, steps_over_m)
from course.notebook import check, explore, hint, predict, reveal, statements, when_right

four = PPConfig(2, 8, 4), PPConfig(4, 8, 4), PPConfig(4, 32, 1), PPConfig(8, 64, 1)

# %%
predict("breaks-the-batch", ..., sure=...)

# %%
batches(*four)

# %%
reveal("breaks-the-batch")

# %% [markdown]
# It has twice the samples in a step, so its step takes longer for a reason that has nothing to do with stages or bubbles, and
# nobody can say how much of the difference is which. Its small **bubble fraction** (气泡率) is bought with the larger batch.
#
# Mend it: 8 stages still, but with the global batch of the others. Put numbers in place of the `...`. This is practice, it earns
# no points.

# %%
mended(PPConfig(8, ..., ...))

# %% [markdown]
# ## What is run
#
# A row of the table trains a small transformer of 16 layers on real text: real processes, tensors, messages and gradients, one
# process for each rank of each replica. (With dp above 1, **data parallelism** (数据并行), the replicas sum their gradients by an
# **all-reduce** (全归约) at the end of the step. It takes the time that it takes here, and it is in the measured step.)
#
# Only the speed of the devices is emulated, as in the notebooks before, because many processes share few cores here. Each
# operation computes and then waits until its device would be done. In units that are equally long in all rows of a table:
#
# | | units |
# |---|---|
# | a **forward** (前向) of one layer | 3, and 2 for each sample in the micro-batch |
# | a **backward** (反向) of one layer | twice that |
# | a message | 0, unless a row says otherwise |
#
# The 3 units are what a GPU pays whatever the size: operations have to be started, small matrices use it badly.
#
# ### Worked example: 2 stages, 32 samples
#
# Two rows: 8 micro-batches of 4 samples, and 32 of 1. By the formula their bubbles are 1/9 and 1/33 of the step. Which number of
# micro-batches has the shorter step, 8 or 32?

# %%
predict("shorter-of-two", ..., sure=...)

# %% [markdown]
# And memory: 1F1B holds the **activations** (激活值) of a few micro-batches at a time. With 32 micro-batches of 1 sample, does
# the first stage hold `"more"`, `"less"` or the `"same"` as with 8 of 4?

# %%
predict("memory-of-many", ..., sure=...)

# %% [markdown]
# Rows are dicts. The run first looks how short a unit this machine can keep, then measures one row after the other. On a machine
# that has nothing else to do it takes some ten seconds, and the processes have to start before; a busy machine takes several
# times as long. (While a notebook is graded, this example is not run: no points depend on it.)

# %%
example = run_experiment([
    {"schedule": "1f1b", "pp": 2, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1},
    {"schedule": "1f1b", "pp": 2, "chunks": 1, "micro_batches": 32, "micro_batch_size": 1, "dp": 1},
], name="worked_example")
show_table(example)

# %%
reveal("shorter-of-two", shortest(example, "micro_batches"))

# %%
reveal("memory-of-many")

# %% [markdown]
# **"The row with the smaller bubble has the shorter step"** is the tempting wrong idea. The bubble is a *share* of the step. The
# second row is idle for a smaller share of a longer step: its forward of one sample and one layer takes 3 + 2 = 5 units, in the
# first row a forward of four samples takes 3 + 8 = 11, less than 3 for each sample. So compare step times, and take the bubble as
# one of the reasons.
#
# Memory goes the other way. 1F1B holds as many micro-batches as before, and each of them is a quarter as large. (GPipe holds all
# of them: the whole batch, however it is cut.)
#
# What each column means:
#
# | column | |
# |---|---|
# | `schedule`, `pp`, `chunks`, `micro_batches`, `micro_batch_size`, `dp` | what was chosen; `chunks` are stages a rank |
# | `global_batch`, `bubble_estimated` | computed: the product; the closed formula, which knows equal stages and free messages |
# | `step_time_predicted` | simulated, in seconds: each operation as early as it can be |
# | `bubble_measured`, `step_time_measured` | from the clocks of the processes |
# | `peak_activation_bytes` | **peak memory** (峰值显存): the most activations that the fullest rank held at once, counted |
# | `layers` | of the model, 16 unless a row says otherwise |
# | `slow_stage`, `message` | what breaks an assumption of the formula, 1 and 0 where nothing does: see below |
#
# ## Your plan
#
# A good table changes one thing at a time. Two rows that differ in the schedule only tell about schedules; two that differ in
# everything tell nothing.

# %% [markdown] locked="ex6-plan-question"
# ### Exercise: the plan (6 points)
#
# `configurations`: a list of rows for your own table, each a dict as in the worked example.
#
# - One global batch and one number of layers in all rows.
# - At least two values of `pp`, and at least two of `micro_batches`.
# - At least one row with several stages a rank: **interleaved** (交错式), `chunks` of 2 or more.
# - At most 8 rows, `pp` at most 8, `micro_batches` at most 64, `pp x dp` at most 16.
#
# `schedule` is `"gpipe"`, `"1f1b"`, `"interleaved_1f1b"` (`micro_batches` must be a multiple of `pp`) or `"looped_bfs"` (stages
# as in interleaved 1F1B, all micro-batches through one stage before the rank goes on to its next). The model has 16 layers, and
# they must be shared out evenly over `pp x chunks` stages.
#
# The table and its conclusions compare: they have all of their points only with three different rows or more. And let one row be
# one in which the formula does *not* hold, for the table: give it `"slow_stage": 2`, then one stage in the middle
# takes twice as long, or `"message": 40`, then each message takes its link for 40 units.

# %% answer="ex6-plan"
configurations = (
    ### BEGIN SOLUTION
    [{"schedule": "1f1b", "pp": 2, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1},
     {"schedule": "gpipe", "pp": 4, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1},
     {"schedule": "1f1b", "pp": 4, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1},
     {"schedule": "1f1b", "pp": 4, "chunks": 1, "micro_batches": 32, "micro_batch_size": 1, "dp": 1},
     {"schedule": "1f1b", "pp": 8, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1},
     {"schedule": "interleaved_1f1b", "pp": 4, "chunks": 2, "micro_batches": 8, "micro_batch_size": 4, "dp": 1},
     {"schedule": "1f1b", "pp": 4, "chunks": 1, "micro_batches": 4, "micro_batch_size": 4, "dp": 2},
     {"schedule": "1f1b", "pp": 4, "chunks": 1, "micro_batches": 8, "micro_batch_size": 4, "dp": 1, "slow_stage": 2}]
    ### END SOLUTION
)

# %% check="ex6-plan"
check("ex6-plan", configurations)

# %%
hint("ex6-plan")

# %% [markdown]
# Before it is run: which row of your plan (the first one is row 1) will have the shortest **step time** (步时间)?

# %%
predict("fastest-row", ..., sure=...)

# %% [markdown]
# ## The run
#
# Eight rows take about a minute on two cores that have nothing else to do, and several minutes on busy ones. You may stop the
# run at any time (the square in the toolbar): finished rows are kept in `experiment_table.json` beside this notebook, and when
# you run the cell again it goes on with the others. The same when you change a row: only that one is run again. Stop it once,
# and see.

# %% [markdown] locked="ex6-table-question"
# ### Exercise: the table (6 points)
#
# `table`: the table that your configurations give when they are run, as the function of the worked example returns it (without a
# `name` it is kept as `experiment_table`). All of its numbers come from the run; do not type any. Points are for its columns, for
# a row for each of your configurations, for what is computed, for what was measured, and for one row in which the measured bubble
# is more than one point (a hundredth of the step) off the estimate because an assumption of the formula does not hold.

# %% answer="ex6-table"
table = (
    ### BEGIN SOLUTION
    run_experiment(configurations)
    ### END SOLUTION
)

# %% check="ex6-table"
check("ex6-table", table, configurations)

# %%
hint("ex6-table")

# %%
show_table(table)

# %%
reveal("fastest-row", shortest(table))

# %% [markdown]
# ### Estimated against measured
#
# Where the two marks of a row lie on each other, the formula's assumptions hold: equal stages, free messages. A machine that is
# busy with other things can pull them apart as well. Such a row is farther off its own plan than 1 point of bubble or 5% of the
# step, and it is marked with an asterisk (*) here and in the table. With `again=[3]` in the call of `run_experiment` row 3 is
# measured anew, with `again=True` every row.

# %%
bubbles(table)

# %% [markdown]
# Where they part, the row breaks what the formula assumes, or the machine was busy: then it is marked. A slow stage
# keeps the others waiting in every micro-batch, not only while the pipeline fills (填充) and drains (排空). A message that takes
# time is waited for again and again, in 1F1B most of all, which goes back and forth between neighbours. The simulator follows
# each operation and each message: its prediction of the step holds in these rows too.
#
# ### Step time over m

# %%
steps_over_m(table)

# %% [markdown]
# **"More micro-batches are always better"** and **"more stages are always better"** are the tempting wrong ideas. With a fixed
# batch more micro-batches are smaller ones, and each pays the fixed units again. More stages finish the step sooner, as long as
# the bubble does not eat it up, but they take more devices: whether they earn their price is a question of device time, devices
# times step.

# %% [markdown]
# ## Conclusions

# %%
statements("ex6-conclusions")

# %% [markdown] locked="ex6-conclusions-question"
# ### Exercise: conclusions (8 points)
#
# Draw these ten conclusions from *your* table. For a to e give the number of a row, as the table counts them, from 1; where two
# rows differ by no more than noise, either is right. f is a text, g to j are `True` or `False`. You may read them off, or compute
# them from `table`, a pandas DataFrame. One point each for a to f, half a point each for g to j.
#
# Grading replaces the table by a run of the same plan without noise, and this check takes the same for right. So measure rows
# that are marked as busy (*) again before you conclude: what only such a row says is not taken.

# %% answer="ex6-conclusions"
conclusions = {
    "a": (
        ### BEGIN SOLUTION
        7
        ### END SOLUTION
    ),
    "b": (
        ### BEGIN SOLUTION
        2
        ### END SOLUTION
    ),
    "c": (
        ### BEGIN SOLUTION
        4
        ### END SOLUTION
    ),
    "d": (
        ### BEGIN SOLUTION
        1
        ### END SOLUTION
    ),
    "e": (
        ### BEGIN SOLUTION
        8
        ### END SOLUTION
    ),
    "f": (
        ### BEGIN SOLUTION
        "slow stage"
        ### END SOLUTION
    ),
    "g": (
        ### BEGIN SOLUTION
        False
        ### END SOLUTION
    ),
    "h": (
        ### BEGIN SOLUTION
        True
        ### END SOLUTION
    ),
    "i": (
        ### BEGIN SOLUTION
        False
        ### END SOLUTION
    ),
    "j": (
        ### BEGIN SOLUTION
        True
        ### END SOLUTION
    ),
}

# %% check="ex6-conclusions"
check("ex6-conclusions", conclusions, table, configurations)

# %%
hint("ex6-conclusions")

# %% [markdown]
# ## For your report
#
# The table is in `experiment_table.csv` beside this notebook, with all digits; in `experiment_table.json` stand the machine, the
# versions and the pacing of the runs. Numbers without these say little: hand them on together. The same as Markdown:

# %%
markdown(table)

# %% [markdown]
# Without a notebook, and for the next machine: `python -m course table --template > plan.toml` writes a plan that you can change,
# `python -m course table plan.toml` runs it. And to take along on paper, the record to fill in:

# %%
blank_record()

# %% [markdown]
# ## Other sizes at a glance
#
# Simulated, with sliders. Its slots are one operation long, however many samples are in it: what a smaller micro-batch costs it
# does not show. That is what the table is for.

# %%
when_right("ex6-plan", lambda: explore("interleaved_1f1b", ranks=4, micro_batches=8, chunks=2))

# %% [markdown]
# ## What to take along
#
# - A table compares only what shares its global batch and its model, and says on which machine, with which versions.
# - The step time decides. The bubble is one of its reasons, and so is what a micro-batch costs whatever its size.
# - Memory follows what is in flight: with 1F1B smaller micro-batches hold less, with GPipe the whole batch is held.
# - The closed formula is for equal stages and free messages. Where a row parts from it, look for the stage or the link.
# - More devices make a step shorter, and the work dearer. Which of the two you want decides which row is best.
