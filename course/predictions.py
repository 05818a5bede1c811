"""What the notebooks ask to predict: the question's kind, and the right value where no run has to give it."""

from dataclasses import dataclass

from course.checks.outcome import as_number
from course.checks.room import first_over
from course.formulas import bubble_fraction, micro_batches_needed, peak_in_flight, total_slots
from course.schedules import gpipe
from course.simulation import simulate


@dataclass(frozen=True)
class Prediction:
    """One prediction: `what` stands before the value when it is revealed; `choices` are the words to choose from.

    `share` says that a number between 0 and 1 is asked for. `actual` is None where the run gives the value.
    """

    what: str
    choices: tuple[str, ...] = ()
    share: bool = False
    actual: object = None

    def read(self, guess):
        """The guess as it is kept; ValueError says what would be one."""
        if self.choices:
            word = guess.strip().lower() if isinstance(guess, str) else None
            match = [choice for choice in self.choices if word and word in (choice, choice.removesuffix("s"))]
            if not match:
                raise ValueError(f"{guess!r} is none of the answers: write {', '.join(map(repr, self.choices))}")
            return match[0]
        number = as_number(guess)
        if number is None:
            raise ValueError(f"{guess!r} is no number")
        if self.share and not 0 <= number <= 1:
            raise ValueError(f"{guess!r} is no fraction: it lies between 0 and 1, so 25% is written 0.25 or 1/4")
        return number


PREDICTIONS = {
    "layers-per-stage": Prediction("Layers on each stage", actual=80 // 4),
    "what-travels": Prediction("Stage 0 sends to stage 1", ("parameters", "gradients", "activations"), actual="activations"),
    "gradient-difference": Prediction("Largest difference, over every parameter"),
    "share-of-one-batch": Prediction("Fraction of the time in which a stage works", share=True,
                                     actual=1 - bubble_fraction(4, 1)),
    "slots-of-the-step": Prediction("Slots of the step"),
    "middle-idles": Prediction("Idle cells of a middle stage, against the first", ("more", "less", "same"), actual="same"),
    "fraction-backward-twice": Prediction("Bubble fraction with backwards of two slots", share=True,
                                          actual=bubble_fraction(4, 4)),
    "first-without-room": Prediction("The micro-batch whose forward has no room on stage 0",
                                     actual=first_over(simulate(gpipe(4, 8)), [4] * 4).operation.micro_batch),
    "slots-in-two-rounds": Prediction("Slots of GPipe in two rounds", actual=2 * total_slots(4, 4)),
    "room-without-delay": Prediction("There is an order with room for 4 that is as short as GPipe", ("yes", "no"), actual="yes"),
    "step-of-1f1b": Prediction("1F1B's step, against GPipe's", ("shorter", "longer", "same"), actual="same"),
    "holds-most": Prediction("The stage that holds the most in 1F1B", ("first", "last", "all"), actual="first"),
    "memory-with-twice-the-stages": Prediction("Stage 0's activation memory with 8 stages, over that with 4",
                                               actual=peak_in_flight("1f1b", 8, 16, 0) / peak_in_flight("1f1b", 4, 16, 0) / 2),
    "bubble-4-8": Prediction("Bubble fraction of 4 stages and 8 micro-batches", share=True, actual=bubble_fraction(4, 8)),
    "backward-three-times": Prediction("Bubble fraction when a backward takes three times as long, against F = B",
                                       ("larger", "smaller", "same"), actual="same"),
    "busy-four-fifths": Prediction("Micro-batches with which 8 stages work at least 80% of the time",
                                   actual=next(m for m in (4, 8, 16, 32, 64) if bubble_fraction(8, m) <= 0.2)),
    "three-quarters": Prediction("Who is wrong", ("they", "me", "nobody"), actual="nobody"),
    "bubble-of-a-tenth": Prediction("Micro-batches with which the bubble of 8 stages is 10%",
                                    actual=micro_batches_needed(8, 0.1)),
    "one-slow-stage": Prediction("Slots of the step when stage 2 is twice as slow"),
    "late-messages": Prediction("Slots of the step when each message is 2 slots on its way"),
    "long-messages": Prediction("Slots of the step when each message takes its link for 2 slots"),
    "best-number": Prediction("Micro-batches of the shortest step, of 32 samples"),
    "breaks-the-batch": Prediction("The configuration with another global batch", ("first", "second", "third", "fourth"),
                                   actual="fourth"),
    "shorter-of-two": Prediction("Micro-batches of the shorter of the two steps"),
    "memory-of-many": Prediction("1F1B's activations with 32 micro-batches of 1 sample, against 8 of 4",
                                 ("more", "less", "same"), actual="less"),
    "fastest-row": Prediction("The row with the shortest step"),
}
