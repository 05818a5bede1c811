"""Notebook 2: the statements about 1F1B and GPipe, and why each is true or false."""

from course.checks.claims import Claim, judge_claims
from course.checks.outcome import Outcome

CLAIMS = {
    "a": Claim("With equally many micro-batches, 1F1B has a smaller bubble than GPipe (equal stages, messages take no time).",
               False, "smaller-bubble", "both steps take equally many slots, with backwards of one slot and of two. Only the "
               "memory differs.", "Compare the slots of both steps, and the idle ones, in the table of GPipe beside 1F1B."),
    "b": Claim("In 1F1B with m at least p, stage 0 holds the activations of more micro-batches than any other stage.",
               True, "same-on-all", "the farther a stage is from the loss, the longer it waits for its first backward, and the "
               "more forwards it has run by then.", "What did the four processes measure with your order, stage by stage?"),
    "c": Claim("1F1B, m large: the same model cut into twice as many stages leaves stage 0 with half the activation memory.",
               False, "divided-by-p", "half the layers a stage, but twice as many micro-batches in flight on stage 0: all "
               "layers' worth of activations, whatever p is.",
               "Twice as many stages change two things on stage 0: its layers, and how many micro-batches it has in flight. What "
               "is their product with 4 stages, and with 8?"),
    "d": Claim("In 1F1B each stage runs p-1 forwards before its first pair of one forward and one backward.",
               False, "warm-up-same", "only stage 0 does. Each stage after it runs one fewer, and the last one begins with a "
               "pair.", "Ask your `phase_lengths(4, 8, stage)` for each of the four stages."),
    "e": Claim("On stages with room for p micro-batches, GPipe can run m = 2p only in rounds; 1F1B runs them in one "
               "go.", True, "room-is-no-limit", "GPipe has all m in flight before its first backward; in 1F1B backwards "
               "make room in time, however large m is.", "With p = 4: where did GPipe stop with 8 micro-batches and room for 4, "
               "and what is the most that your `peak_in_flight` says of 1F1B?"),
    "f": Claim("1F1B and GPipe compute the same gradient.", True, "other-gradient", "each micro-batch's gradient is the same, "
               "and they are added up: only the order in which they are computed differs.",
               "What did `my_run.equality()` find between your order and one process that computes everything in turn? And what "
               "would GPipe's run have found?"),
}


def check_claims(answer) -> Outcome:
    """A tenth of a point for each statement, the rest of the one point for all six."""
    return judge_claims(answer, "claims", CLAIMS, 1)
