# %% [markdown]
# # Start here: what crosses a stage boundary?
#
# A transformer too large for one GPU is cut along its depth, and each GPU keeps one piece. This is **pipeline parallelism**
# (PP, 流水线并行), and each piece is a **stage** (阶段). In this course you draw the order in which the stages work, are told
# at once what is right and what is wrong and why, and then watch that very order train a small transformer on real processes.
#
# Run a cell with **Shift+Enter**, from the top; after a restart of the kernel, start at the top again. Each section goes
# **predict, run, explain**. A prediction is a number or a word, and how sure you are of it; nobody sees it but you, and a wrong
# one makes the reason stick.

# %%
from course import schedules
from course.notebook import check_machine, hand_in, predict, progress, reveal, run_for_real

# %% [markdown]
# ## A first number
#
# A model has 80 layers. They are shared out evenly over 4 stages. How many layers does each stage hold?
# Put your number in place of the first `...`, and how sure you are (0 to 100) in place of the second.

# %%
predict("layers-per-stage", ..., sure=...)

# %%
reveal("layers-per-stage")

# %% [markdown]
# That is all that PP does to the model: no layer is cut, each is on exactly one stage.
# (Tensor parallelism, TP, 张量并行, cuts inside the layers. It is the subject of a later notebook.)
#
# ## Can this machine run the course?
#
# The next cell looks, and starts four processes once. The first start takes a few seconds.

# %%
check_machine()

# %% [markdown]
# ## Predict: what travels?
#
# Four processes are about to train a small transformer on real text (Python's own documentation). Each process is one stage.
# The batch is cut into 2 equal parts, the **micro-batches** (微批次), so that several stages can work at once.
#
# In one training step, what does stage 0 send to stage 1? Answer `"parameters"`, `"gradients"` or `"activations"`.

# %%
predict("what-travels", ..., sure=...)

# %% [markdown]
# ## Run
#
# `F0` is the **forward** (前向) of micro-batch 0, `B0` its **backward** (反向). Each row is one process; time runs to the right.
# The upper picture is computed, the lower one is measured. A slot is the time that one operation takes.

# %%
first_run = run_for_real(schedules.gpipe(stages=4, micro_batches=2), without="bubble")
first_run

# %% [markdown]
# The empty cells are the **bubble** (气泡): time in which a stage waits. It is what the next notebooks are about.
#
# ## What travelled?
#
# This is what was sent in that one step, counted at the sender, beside what was not sent.

# %%
first_run.traffic()

# %%
reveal("what-travels")

# %% [markdown]
# Forward, a stage sends the **activations** (激活值) of a micro-batch to the next stage; backward, it sends the gradient of
# those activations to the stage before. Each of these tensors has b·s·h elements: micro-batch size b, sequence length s,
# hidden size h, and its size has nothing to do with the number of layers. The next cell computes it.
#
# **"PP sends parameters"** is the tempting wrong idea. Parameters stay where they are, and so do their gradients: each stage
# updates its own. In a model of real size a stage has billions of parameters, while a boundary carries a few tensors of
# b·s·h elements. That is why PP can cross from one machine to another, where links are slow.

# %%
if first_run.sizes:
    b, s, h = first_run.sizes.micro_batch_size, first_run.sizes.sequence, first_run.sizes.hidden
    print(f"b = {b}, s = {s}, h = {h}; 2 micro-batches, 4 bytes an element:")
    print("one boundary, one direction, one step:", b * s * h * 2 * 4, "bytes")

# %% [markdown]
# ## Does cutting the model change what it learns?
#
# Predict: how large is the largest difference between a gradient computed by the four processes and the same gradient computed
# by one process that holds the whole model?

# %%
predict("gradient-difference", ..., sure=...)

# %%
first_run.equality()

# %%
reveal("gradient-difference", first_run.gradient_difference)

# %% [markdown]
# **"Pipelining changes the gradient"** is wrong for every schedule of this course. With m micro-batches, each one's loss is
# scaled by 1/m, so the m gradients add up to that of the whole batch: it is **gradient accumulation** (梯度累积), done by several
# processes. (The one process adds the micro-batches up in the same order, so that even the rounding is the same.)
# (A layer that mixes the samples of a batch, such as batch norm, breaks this: it would see micro-batches. Transformers have
# none.)
#
# ## Your way through the course
#
# | notebook | you will |
# |---|---|
# | 1_gpipe_diagram | draw GPipe, count its bubble, run your drawing |
# | 2_1f1b_phases | run out of memory with GPipe, write 1F1B as a function, run it, measure what each stage holds |
# | 3_bubble_fraction | find the formula of the bubble, and where it ends |
# | 4_virtual_stages | give each GPU several chunks of the model, run that order, measure what it gains and costs |
# | 5_tp_pp_dp_design | lay a model out over the GPUs of a cluster by TP, PP and DP, and find the fastest layout that fits |
# | 6_experiment_table | plan and run a table of experiments, and draw conclusions from it |
# | 7_open_lab | write schedules of your own, see why each idle cell is idle and what is proven, run them; no points |
#
# Everything that you do stays on this machine. Where you are so far:

# %%
progress()

# %% [markdown]
# **In Binder**, a session ends after ten idle minutes and takes your work along: download your notebooks (right click on a file
# in the list on the left, Download) before you take a break.
#
# ## When you are done
#
# Save every notebook (menu File, Save All): what is not saved is not handed in. Then take away the `#` in the next cell and run
# it. It says when each notebook was saved and what is not complete, and writes one zip for your instructor.

# %%
# hand_in()
