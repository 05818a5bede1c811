"""The one table of exercises: id, notebook, answers, points, check, hints; everything else asks it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from course.answers import UnknownName
from course.checks import (
    best_micro_batch_size,
    bubble_fraction,
    bubble_uses,
    chunk_costs,
    experiment_conclusions,
    experiment_plan,
    experiment_statements,
    experiment_table,
    gpipe_diagram,
    in_flight,
    interleaved_order,
    layout_design,
    layout_memory,
    layout_volumes,
    megatron_flags,
    one_f_one_b,
    one_f_one_b_claims,
    phases,
    spot_the_error,
    virtual_stages,
)
from course.checks.fresh import Seeded
from course.checks.outcome import Message, Outcome
from course.timeline import Timeline
from course.words import counted, nearest


@dataclass(frozen=True)
class Exercise:
    """One graded part of a notebook. `answers` are the names of the learner's variables, in the order of the check.

    `statements` are what a dict of verdicts or conclusions is about, by its keys.
    """

    grade_id: str
    notebook: str
    title: str
    answers: tuple[str, ...]
    points: float
    hints: tuple[str, str, str]
    check: Callable[..., Outcome] | None = None
    statements: Mapping[str, str] = field(default_factory=dict)

    @property
    def manual(self) -> bool:
        """Whether a person marks it."""
        return self.check is None


@dataclass(frozen=True)
class Verdict:
    """What a check of one exercise gives; its repr is the points as a plain float, nbgrader's partial credit."""

    grade_id: str
    points: float
    maximum: float
    messages: tuple[Message, ...]
    steps: tuple = ()
    drawing: Timeline | None = None
    marks: tuple[tuple[int, int], ...] = ()

    def __repr__(self):
        return repr(float(self.points))


_GPIPE, _1F1B, _BUBBLE, _VIRTUAL = "1_gpipe_diagram", "2_1f1b_phases", "3_bubble_fraction", "4_virtual_stages"
_LAYOUT, _EXPERIMENT = "5_tp_pp_dp_design", "6_experiment_table"

EXERCISES: dict[str, Exercise] = {exercise.grade_id: exercise for exercise in (
    Exercise("ex1-diagram", _GPIPE, "The GPipe diagram", ("gpipe_diagram",), 10, (
        "Draw stage 0's forwards first: it waits for nobody. Then ask of each next stage: when has the stage above handed "
        "over F0?",
        "The last stage can start its first backward right after its last forward. From there gradients climb back, one "
        "stage a slot: B0 on stage 2 comes one slot after B0 on stage 3.",
        "Stage 1's row begins with one `.`, then F0 F1 F2 F3. Between its F3 and its B0 there are four idle cells, and one "
        "`.` ends the row. The other rows follow the same pattern, shifted.",
    ), gpipe_diagram.check_diagram),
    Exercise("ex1-bubbles", _GPIPE, "Counting the bubble", ("bubbles_per_stage", "bubble_fraction_4_4"), 4, (
        "Count the `.` in each row of your diagram, the ones before the first and after the last operation too.",
        "Every row is as long as the step, and every stage has the same amount of work. So how can the idle cells differ?",
        "Idle cells of a row = columns - 8 operations. The fraction is all idle cells over 4 rows times all columns.",
    ), gpipe_diagram.check_bubbles),
    Exercise("ex1-backward-twice", _GPIPE, "Backwards that take two slots",
             ("slots_when_backward_takes_two", "fraction_when_backward_takes_two"), 2, (
        "Split the step: until the last stage has done its forwards, and from there to the end. Which part grows?",
        "Forwards alone fill 7 columns, backwards alone 7 columns of one slot. Make the latter two slots wide.",
        "7 + 2 x 7 slots. Then count one stage: 4 forwards of one slot and 4 backwards of two; the rest is idle.",
    ), gpipe_diagram.check_backward_twice),
    Exercise("ex1-spot-the-error", _GPIPE, "Spot the error", ("illegal_operations",), 4, (
        "For each operation ask two things: has its own stage done what comes before it, and has the neighbour's result "
        "arrived?",
        "A result arrives when its slot has ended. Look for an operation in the same slot as the one it needs, or before it.",
        "In a look at stage 1's backwards; in b at stage 1's forwards; in c at the last stage: every B there needs its own F.",
    ), spot_the_error.check_spot_the_error),
    Exercise("ex2-order", _1F1B, "The order of 1F1B", ("one_f_one_b",), 8, (
        "Write down the rows for p=3 from above as tokens, one list a stage. Which forwards come before the first pair of one F "
        "and one B, and how does their number change from stage to stage?",
        "Three loops: the forwards of the warm-up, then pairs, then the backwards that are left. In the pairs, F is ahead of B "
        "by the warm-up.",
        "With w forwards in the warm-up, pair i is F(w+i) and B(i), for i from 0 to m-w-1, and the cooldown is B(m-w) to B(m-1). "
        "The last stage has w=0, each stage before it one more; and w cannot be more than m.",
    ), one_f_one_b.check_order),
    Exercise("ex2-phases", _1F1B, "The lengths of the phases", ("phase_lengths",), 3, (
        "Your function of the order already knows them: count in the lists that it returns.",
        "Each forward is in the warm-up or in a pair, each backward in a pair or in the cooldown. So one number gives the other "
        "two.",
        "Warm-up w, then m - w pairs, then w backwards. Look at the w of the order above, and at what bounds it when m is small.",
    ), phases.check_phases),
    Exercise("ex2-in-flight", _1F1B, "How many in flight", ("peak_in_flight",), 4, (
        "Go along the order of one stage: add 1 at each F, take 1 away after each B, and note the largest.",
        "GPipe: the first B comes after all forwards. 1F1B: the worst moment is the first pair, after its F and before the end "
        "of its B.",
        "1F1B: the warm-up's forwards and the one of the first pair. And nobody can hold more micro-batches than there are.",
    ), in_flight.check_in_flight),
    Exercise("ex2-claims", _1F1B, "True or false", ("claims",), 1, (
        "Each statement is answered by a table or a run of this notebook.",
        "Look at the two steps side by side for a, at the memory of the four stages for b, at 2, 4 and 8 stages for c.",
        "For d count the warm-up of the last stage; for e see where GPipe stopped; for f compare the losses and the gradients.",
    ), one_f_one_b_claims.check_claims, {key: claim.text for key, claim in one_f_one_b_claims.CLAIMS.items()}),
    Exercise("ex2-explain", _1F1B, "1F1B in your own words", (), 4, (
        "Follow one stage through a step: what can it do before the first gradient reaches it, after that, and after its last "
        "forward?",
        "The time until the first gradient comes is the way to the last stage and back. How long is that way for the last stage?",
        "Say for each phase which of forward and backward makes room and which takes it. Then compare the idle slots with those "
        "of GPipe.",
    )),
    Exercise("ex3-derive", _BUBBLE, "The formula of the bubble", ("total_slots", "busy_slots", "bubble_fraction"), 8, (
        "Follow the last stage: how long does it wait, how long does it work, and how long is it idle again until stage 0 has "
        "ended?",
        "Forwards and backwards are two halves of one length. In each half one stage does m operations, and waits for the "
        "others: for how many?",
        "In slots, a stage works 2 m. In one half the last stage waits for the p - 1 stages before it, then does its m forwards; "
        "twice that is the step. The bubble is (total - busy) / total.",
    ), bubble_fraction.check_derive),
    Exercise("ex3-use", _BUBBLE, "Two bubbles in numbers", ("bubble_4_8", "bubble_8_64"), 4, (
        "You have a function for it: `bubble_fraction(p, m)`.",
        "Which of the two numbers is p? p counts stages, m micro-batches.",
        "The idle part is p - 1: 3 for four stages, 7 for eight. Divide it by what one stage's work and its wait are together.",
    ), bubble_fraction.check_use),
    Exercise("ex3-inverse", _BUBBLE, "How many micro-batches does it take?", ("micro_batches_needed",), 3, (
        "A loop is an answer: try m = 1, 2, 3 and so on until the bubble is small enough. Or solve the inequality for m.",
        "Multiply (p - 1) / (m + p - 1) <= f by the denominator. What does m have to be at least? It is a whole number.",
        "m is at least (p - 1) (1 - f) / f, rounded up, and at least 1, also for one stage. 4 stages and 11% take 25.",
    ), bubble_uses.check_inverse),
    Exercise("ex3-definitions", _BUBBLE, "Over total, over ideal", ("bubble_over_ideal", "to_fraction_of_total"), 2, (
        "Ideal time is how long the step would take if no stage ever waited: the work of one stage.",
        "Let ideal be 1. Then idle is x. How long is the whole step?",
        "Over ideal: the idle units, p - 1, over the units of work, m. Over total: x over what ideal and idle are together.",
    ), bubble_uses.check_definitions),
    Exercise("ex3-limits", _BUBBLE, "The best micro-batch size", ("best_micro_batch_size",), 3, (
        "For each b in `times`, how long is the whole step? Then take the b with the shortest.",
        "The step has m + p - 1 units of one forward and one backward, and `times[b]` is how long such a unit takes. m follows "
        "from b, the global batch and dp.",
        "Each replica does global_batch / dp samples, so m is global_batch / (b dp). `min(times, key=...)` with a function that "
        "gives (m + p - 1) * times[b] returns the b.",
    ), best_micro_batch_size.check_limits),
    Exercise("ex4-layers", _VIRTUAL, "The layers of a chunk", ("layers_of",), 3, (
        "Cut the layers into p v equal pieces first, stage 0 with the first layers. Then deal the stages out to the ranks like "
        "cards: stage 0 to rank 0, stage 1 to rank 1, and so on.",
        "After the last rank the dealing starts again at rank 0, with chunk 1. So how many stages come before the first stage of "
        "chunk c, and how many more before that of rank r?",
        "`stage = chunk * p + rank`, and `k = num_layers // (p * v)` layers a stage. The list goes from layer `stage * k` up to "
        "the first layer of the next stage.",
    ), virtual_stages.check_layers),
    Exercise("ex4-flags", _VIRTUAL, "What the flags say", ("decode", "lesson_run"), 4, (
        "Two divisions one after the other: all layers over the p ranks, then the layers of a rank into chunks. And samples: who "
        "shares the global batch, and who only shares the model?",
        "Each of the two divisions may leave a rest: that is where Megatron refuses. And what is left of interleaving where a "
        "rank has a single chunk? For the run: processes = TP x PP x DP.",
        "`per_rank = num_layers // p`, `v = per_rank // layers_per_virtual_stage`; ValueError where `%` of either division is "
        "not 0; None where v is 1. For the run: m = 128 / (2 x DP).",
    ), megatron_flags.check_flags),
    Exercise("ex4-order", _VIRTUAL, "Interleaved 1F1B", ("interleaved_1f1b",), 5, (
        "Write the list of all m v forwards of the rank first, then that of all its backwards; then merge them as 1F1B does: "
        "warm-up forwards, pairs of one forward and one backward, the backwards that are left.",
        "Forwards: for each group of p micro-batches, for each chunk, for each micro-batch of the group. Backwards: the same "
        "with the chunks from the last to the first. Before rank p-1 can run its first pair, a group has to pass every chunk but "
        "the last.",
        "Warm-up: min(m v, (p-rank-1) + (v-1) p) forwards are enough; Megatron takes 2 (p-rank-1) + (v-1) p, and p-rank-1 when "
        "v is 1. The token of chunk c is `f\"{c * p + rank}F{micro_batch}\"`.",
    ), interleaved_order.check_order),
    Exercise("ex4-cost", _VIRTUAL, "What it gains and what it costs",
             ("bubble_interleaved", "boundary_messages", "activation_factor"), 4, (
        "Count in slots of one chunk. A rank runs v m forwards and as many backwards; and p v stages in a row have how many "
        "boundaries?",
        "A rank waits for p-1 forwards and p-1 backwards of one chunk each. At every boundary m activations go forward and m "
        "gradients come back. Rank 0 holds its warm-up and one more.",
        "Idle: 2 (p-1) of 2 (v m + p-1) slots. Messages: 2 m times the boundaries. Rank 0 holds 2 (p-1) + (v-1) p + 1 chunks, "
        "each 1/v of a stage; 1F1B holds p micro-batches.",
    ), chunk_costs.check_cost),
    Exercise("ex4-explain", _VIRTUAL, "Explain virtual stages", (), 4, (
        "Four sentences can do: what is a rank and what is a stage, what the flag says, where the idle time goes, who pays.",
        "Use numbers of your own from above: of the lesson's command, and of the two runs.",
        "Idle time: how long is one wait, and how many of them are there? The price: look at messages and memory in the table of "
        "your two runs.",
    )),
    Exercise("ex5-volumes", _LAYOUT, "What each axis sends", ("tp_bytes", "pp_bytes", "dp_bytes"), 5, (
        "Ask three things of each axis: what is sent, how often in a step, and what part of it one GPU sends.",
        "TP: in every layer of the stage, for every micro-batch. PP: only at the borders of a chunk, for every micro-batch. "
        "DP: once a step. A ring all-reduce over n GPUs sends 2 (n-1)/n of the data from each.",
        "TP: 4 all-reduces x 2 (t-1)/t x b s h x 2 bytes x L/p x m. PP: 2 v tensors of b s h x 2 bytes x m, one tensor fewer "
        "when p = 2, none when p = 1. DP: 2 (d-1)/d x 4 bytes x the parameters on a GPU of the first stage.",
    ), layout_volumes.check_volumes),
    Exercise("ex5-memory", _LAYOUT, "What must fit", ("state_bytes", "activation_bytes"), 3, (
        "Two products. State: parameters on one GPU, times bytes a parameter. Activations: bytes of a layer for one "
        "micro-batch, times layers, times what is in flight.",
        "The first stage has L/p layers and the whole embedding, and TP shares both out. With the distributed optimizer only "
        "12 of the 18 bytes are divided by d.",
        "State: (L/p (12 h^2 + 13 h) + (V + s) h)/t x (18, or 6 + 12/d). Activations: the table's bytes x L/(p v) x chunks "
        "in flight: min(m, p) with v = 1, else min(m v, 2(p-1) + (v-1)p + 1).",
    ), layout_memory.check_memory),
    Exercise("ex5-design-a", _LAYOUT, "A layout for card a", ("design_a",), 2, (
        "Begin with what is ruled out: which tp does the number of heads allow?",
        "Does the whole model fit into one GPU? Your functions of the two exercises above answer that.",
        "When it fits, what is cheaper here: a bubble in every step, or one all-reduce of the gradients?",
    ), layout_design.check_design("a")),
    Exercise("ex5-design-b", _LAYOUT, "A layout for card b", ("design_b",), 3, (
        "First the memory: how many GPUs must share the parameters and the optimizer? What does that leave for dp?",
        "The global batch is small. What does that do to the bubble of a pipeline with many stages?",
        "All 8 GPUs are in one node, at 300 GB/s. TP has no bubble: compare tp = 8 with tp = 4 and two stages of two chunks "
        "each.",
    ), layout_design.check_design("b")),
    Exercise("ex5-design-c", _LAYOUT, "A layout for card c", ("design_c",), 3, (
        "The model is that of card b, so memory allows the same. What is new is the link between the nodes.",
        "Which axis sends the most, and which the least? The slow link should carry the latter.",
        "Keep every TP group inside a node of 4 GPUs and let the pipeline cross; micro-batches of 1, and chunks make the "
        "bubble smaller.",
    ), layout_design.check_design("c")),
    Exercise("ex5-explain", _LAYOUT, "TP inside a node, PP across", (), 4, (
        "Take two numbers of your own: what TP and what PP sends in a step of your layout for card c.",
        "Ask when each message is needed: who waits for it, and what could be computed meanwhile?",
        "Four points, a few sentences each: what is sent how often; who waits for it; your numbers; and two changes of a "
        "card that would turn its verdict.",
    )),
    Exercise("ex6-plan", _EXPERIMENT, "The plan", ("configurations",), 6, (
        "Begin with one row that you know, and change one thing at a time: what differs between two rows is what the table tells "
        "about.",
        "With 32 samples in all, twice the micro-batches are half as large, and two replicas have half as many each. Interleaved "
        "rows need chunks of 2 or more, and micro_batches a multiple of pp.",
        "For instance: 1F1B with pp 2, 4 and 8; GPipe beside one of them; one of them again with other micro-batches; "
        "interleaved_1f1b with 2 chunks; dp = 2; and one row with slow_stage = 2 at its end.",
    ), experiment_plan.check_plan),
    Exercise("ex6-table", _EXPERIMENT, "The table", ("table", "configurations"), 6, (
        "The function of the worked example takes your configurations as well, and returns the table.",
        "If you have changed configurations since, run them again: finished rows are kept, only the new ones are run. A row that "
        "failed is tried again.",
        "Call `run_experiment` with `configurations`, keep what it returns as `table`, and change nothing in it. If no row parts "
        "from the formula, give one of the configurations slow_stage = 2.",
    ), experiment_table.check_table),
    Exercise("ex6-conclusions", _EXPERIMENT, "Conclusions", ("conclusions", "table", "configurations"), 8, (
        "Each conclusion is a look at one or two columns. You may read them off, or let pandas do it.",
        "For d multiply three columns. For e compare the two bubbles row by row; what is peculiar to that row answers f.",
        "`table.step_time_measured.idxmin()` is the number of the row with the least (`argmin` counts from 0). For g compare the "
        "rows of a and c; for h and j leave no row out that the statement is about; for i one pair that contradicts is enough.",
    ), experiment_conclusions.check_conclusions,
             {key: statement.text for key, statement in experiment_statements.CONCLUSIONS.items()}),
)}


def exercise(grade_id: str) -> Exercise:
    """The exercise with this id. UnknownName, a ValueError, names the id and those nearest to it."""
    try:
        return EXERCISES[grade_id]
    except (KeyError, TypeError):
        near = nearest(grade_id, EXERCISES, "course.exercises", "EXERCISES")
        raise UnknownName(f"there is no exercise {grade_id!r}; {near}") from None


def judge(grade_id: str, *answers, seed: int | None = None, **trusted) -> Verdict:
    """Ask the check of an exercise about Answer objects. ValueError when their number is not the exercise's.

    `seed` is a submission's: functions that are right at the points that everybody is asked are asked at a few more, drawn from
    it. `trusted`: what somebody else has run for the answers, where the check can hold them against it.
    """
    entry = exercise(grade_id)
    if entry.manual:
        raise ValueError(f"{grade_id} is marked by a person: there is nothing to check")
    if len(answers) != len(entry.answers):
        wanted = f"{counted(len(entry.answers), 'answer')} ({', '.join(entry.answers)})"
        raise ValueError(f"{grade_id} takes {wanted}, got {len(answers)}")
    asked = answers if seed is None else [Seeded(answer, seed) for answer in answers]
    outcome = entry.check(*asked, **trusted)
    points = min(float(entry.points), max(0.0, outcome.points))
    return Verdict(grade_id, points, float(entry.points), outcome.messages, outcome.steps, outcome.drawing, outcome.marks)
