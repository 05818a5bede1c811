"""Answers of a bounded size: the trusted side looks at all of them, and a check's time grows with what it is told."""

import time

from course.answers import Raised

ITEMS, TEXT = 40_000, 200_000  # of all replies to one check together: four times what the longest right answers have
SECONDS = 30.0  # until all of them have come: slow ones must not use up what the other exercises need


class Allowance:
    """What the replies to one check may still hold, and how long they may still take."""

    def __init__(self):
        self.items, self.text, self.seconds = ITEMS, TEXT, SECONDS

    def take(self, value) -> bool:
        """Whether this plain value is within it; it counts from then on."""
        waiting = [value]
        while waiting and self.items >= 0 and self.text >= 0:
            item = waiting.pop()
            self.items -= 1
            if isinstance(item, str):
                self.text -= len(item)
            elif isinstance(item, dict):
                waiting += [*item, *item.values()]
            elif isinstance(item, list | tuple):
                waiting += item
            elif isinstance(item, Raised):
                waiting += [item.type, item.text]
        return self.items >= 0 and self.text >= 0


class Measured:
    """An answer whose replies count against an allowance; beyond it there is no more of them. Its value is asked for once."""

    def __init__(self, answer, allowance: Allowance):
        self._answer, self._allowance, self._value = answer, allowance, []

    def value(self):
        """The answer as plain data, or Raised: the same each time, whatever the learner's side would say the second time."""
        if not self._value:
            self._value.append(self._within(self._answer.value))
        return self._value[0]

    def call(self, *arguments):
        """What the answer returns for these arguments, as plain data, or Raised."""
        return self._within(lambda: self._answer.call(*arguments))

    def _within(self, ask):
        allowance = self._allowance
        over = Raised("Ended", f"its answers hold more than {ITEMS:,} items or {TEXT:,} characters in all")
        if allowance.items < 0 or allowance.text < 0:
            return over
        if allowance.seconds < 0:
            return Raised("TimeLimit", f"its answers took more than {SECONDS:g} s in all")
        begin = time.monotonic()
        reply = ask()
        allowance.seconds -= time.monotonic() - begin
        return reply if allowance.take(reply) else over
