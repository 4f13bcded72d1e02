# SPDX-License-Identifier: Apache-2.0
"""Entrants of a row in turn, A B C A B C ..., so that the machine's moods hit all of them alike.

First a sweep, in which every variant runs; then the best variant of each peer (in each mode) goes
on with weir for the rounds. A measurement in which the hand-over changed, or others used the
machine, is thrown away and repeated, a bounded number of times; all are kept in the record.
"""
import dataclasses
import time

from . import figures, machine

TRIES = 3


@dataclasses.dataclass(frozen=True)
class Entrant:
    """Somebody in a race: a variant of a peer, or of weir-bench."""
    name: str
    variant: str
    command: tuple
    read: object = machine.read_results  # text -> {metric: value}

    @property
    def label(self):
        return figures.label(self.name, self.variant)


class Race:
    """One row. `handover` and `call` are the machine's, or a test's."""

    def __init__(self, handover, call=machine.call, say=lambda text: None):
        self.handover, self.call, self.say = handover, call, say
        self.samples, self.failures = [], []

    def measure(self, entrant):
        """Once; again if it was disturbed. False if the program failed."""
        for _ in range(TRIES):
            start, before, found, said = time.monotonic(), self.handover(), {}, ""
            try:
                text, foreign = self.call(list(entrant.command))
                found = entrant.read(text)
            except machine.Disturbed as error:
                said = str(error)
            except machine.Failed as error:
                self.failures.append(f"{entrant.label}: {error}")
                self.say(f"FAILED {self.failures[-1]}")
                return False
            after = self.handover()
            mode, thrown = figures.judge(before, after, foreign)
            thrown = thrown or said
            self.samples.append(figures.Sample(entrant.name, entrant.variant, found, mode, after,
                                               foreign, thrown, time.monotonic() - start))
            if not thrown:
                break
            self.say(f"{entrant.label}: thrown away: {thrown}")
        return True

    def one_round(self, entrants, number):
        """Everyone once, each round beginning with another; answers those that did not fail."""
        first = number % len(entrants) if entrants else 0
        failed = {entrant for entrant in entrants[first:] + entrants[:first]
                  if not self.measure(entrant)}
        return [entrant for entrant in entrants if entrant not in failed]

    def run(self, entrants, metric, rounds, sweep_rounds):
        for number in range(sweep_rounds):
            entrants = self.one_round(entrants, number)
        if sweep_rounds:
            going_on = figures.survivors(self.samples, metric)
            entrants = [e for e in entrants if (e.name, e.variant) in going_on]
        for number in range(rounds):
            entrants = self.one_round(entrants, number)
        return self.samples
