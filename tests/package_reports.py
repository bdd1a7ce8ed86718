"""A small golden report and its facts, the same in other words, and an honest other report."""

from __future__ import annotations

import json
from pathlib import Path

GOLDEN = """\
# mason-3b on parcel_desk

## Executive Summary

Of 40 scored rollouts 18 pass (45.0%), over 10 tasks with four repeats each. Most of what fails is
lost to a retry that never comes: after the first error from the depot the model reports success.
Repair task 6 and let the loop repeat a failed booking before anything is trained.

## Artifact Inventory

One file of 40 rollouts was read, and 40 of 40 lines could be used. No verifier log was kept.

## Aggregate Results

| run | tasks | rollouts | pass@1 | pass@4 |
| --- | ---: | ---: | ---: | ---: |
| `desk_mason-3b` | 10 | 40 | 45.0% | 80.0% |

## Workflow Funnel

| stage | reached | of all | lost here |
| --- | ---: | ---: | ---: |
| started | 40 | 100.0% | 0 |
| called a tool | 36 | 90.0% | 4 |
| booked | 24 | 60.0% | 12 |
| passed | 18 | 45.0% | 6 |

The largest drop-off is before the booking: 12 of 36 rollouts look a parcel up and book nothing.

## Task Outcome Buckets

2 tasks always pass, 6 pass sometimes and 2 never do.

| task | bucket | passed |
| --- | --- | ---: |
| `3` | sometimes | 1 |
| `6` | never | 0 |
| `8` | never | 0 |

## Dominant Failure Modes

| mode | rollouts | see |
| --- | ---: | --- |
| FALSE_CLAIM | 9 | `desk_mason-3b/3:1#7` |
| WRONG_DEPOT | 5 | `desk_mason-3b/8:0#4` |

FALSE_CLAIM leads with 9 of 22 failures: the booking returns an error and the answer says that the
parcel is on its way, as in `desk_mason-3b/3:1#7`. The depot's error "slot already taken" clears
when the same call is repeated, which 3 of 3 repeats show (`desk_mason-3b/4:2#9`).

## Sometimes-Pass Deep Dives

### Task `3`: one pass of four

`desk_mason-3b/3:0#8` repeats the booking after the error and passes; the other three attempts do
not repeat it. `desk_mason-3b/3:2#6` closes with "Your parcel leaves tonight" although no booking
was accepted.

### Task `5`: dates without a year

2 of 4 attempts drop the year from the pickup date, and `depot_book` then takes the parcel for the
year before (`desk_mason-3b/5:1#3`).

## Never-Pass Deep Dives

### Task `6`: the verifier

All 4 attempts book the right slot, and the verifier rejects each because it compares the label
with a trailing blank (`desk_mason-3b/6:0#5`).

### Task `8`: the wrong depot

4 of 4 attempts send the parcel to depot 17 without a call of `depot_find`; the address in the
question belongs to depot 71 (`desk_mason-3b/8:0#4`).

## Cross-Model Comparison

There is no second run, so nothing is compared.

## Recommendations

1. Repeat a booking that fails with "slot already taken" once, in the loop: 9 of 22 failures.
2. Strip blanks from labels in the verifier of task 6, and score its 4 rollouts again.

## Reproducibility Notes

The report is made by `blade analyze results`, with the threshold of 1.
"""
TEXTS = (
    "FALSE_CLAIM leads with 9 of 22 failures: the booking returns an error and the answer says "
    "that the parcel is on its way, as in `desk_mason-3b/3:1#7`.",
    'The depot\'s error "slot already taken" clears when the same call is repeated, which 3 of 3 '
    "repeats show (`desk_mason-3b/4:2#9`).",
    "`desk_mason-3b/3:0#8` repeats the booking after the error and passes; the other three "
    "attempts do not repeat it.",
    '`desk_mason-3b/3:2#6` closes with "Your parcel leaves tonight" although no booking was '
    "accepted.",
    "2 of 4 attempts drop the year from the pickup date, and `depot_book` then takes the parcel "
    "for the year before (`desk_mason-3b/5:1#3`).",
    "All 4 attempts book the right slot, and the verifier rejects each because it compares the "
    "label with a trailing blank (`desk_mason-3b/6:0#5`).",
    "4 of 4 attempts send the parcel to depot 17 without a call of `depot_find`; the address in "
    "the question belongs to depot 71 (`desk_mason-3b/8:0#4`).",
    "The largest drop-off is before the booking: 12 of 36 rollouts look a parcel up and book "
    "nothing.",
)
# Other headings, other sentences, other order; the same findings.
REWORDED = """\
# Parcel desk: what goes wrong with mason-3b

## Summary

mason-3b passes 18 of 40 rollouts (45%). It mostly gives up at the first error of the depot and
then tells the user that all went well. Before training, mend task 6 and have the agent loop retry
failed bookings.

## Data

A single file with 40 rollouts, all of them readable.

## Results

pass@1 is 45.0% on 10 tasks, and 80.0% pass in at least one of 4 attempts.

## Where rollouts are lost

Before the booking most is lost: of 36 rollouts that called a tool, 12 look up a parcel and then
book nothing. Of the funnel's 40 starts, 36 call a tool, 24 book and 18 pass.

## Task breakdown

Two tasks pass always, six sometimes, two never (tasks 6 and 8).

## Failure taxonomy

With 9 of the 22 failures, FALSE_CLAIM is first. `desk_mason-3b/3:1#7` is typical: the booking
comes back with an error, yet the answer tells the user the parcel is on its way. A repeat of the
same call would have helped. "slot already taken" cleared in 3 of 3 repeats, for example at
`desk_mason-3b/4:2#9`.

## Flaky tasks

**Task 3.** After the error one attempt, `desk_mason-3b/3:0#8`, repeats the booking and passes; the
three other attempts never repeat it. In `desk_mason-3b/3:2#6` no booking was accepted, and still
the closing words are "Your parcel leaves tonight".

**Task 5.** The pickup date loses its year in 2 of 4 attempts (`desk_mason-3b/5:1#3`), so
`depot_book` takes the parcel for the year before.

## Unsolved tasks

**Task 6.** The right slot is booked in all 4 attempts. The verifier rejects each of them since it
compares the label including a trailing blank (`desk_mason-3b/6:0#5`).

**Task 8.** Without any call of `depot_find`, 4 of 4 attempts send the parcel to depot 17
(`desk_mason-3b/8:0#4`). The address belongs to depot 71.

## Comparison

Only one run was made; there is nothing to compare it with.

## What to fix

- Let the loop repeat a booking once after "slot already taken"; this is behind 9 of 22 failures.
- Make the verifier of task 6 strip blanks from the label and score these 4 rollouts again.

## Reproducibility

Made with `blade analyze results` at a threshold of 1.
"""
# Well written, about the same run, and about other things.
OTHER = """\
# mason-3b, a look at cost

## Executive Summary

mason-3b spends most of its tokens on searches. The median rollout takes 5 turns and the longest
19, and no attempt comes near the limit of the context.

## Aggregate Results

| figure | value |
| --- | ---: |
| median turns | 5 |
| longest rollout, turns | 19 |

## Dominant Failure Modes

Long answers are the commonest complaint: the model restates the question in 31 of 40 rollouts,
which costs 120 tokens each time.

## Sometimes-Pass Deep Dives

In task 2 the second attempt is twice as long as the first one and says nothing more.

## Recommendations

Ask for short answers in the prompt, and measure the tokens again.
"""


def facts_json(texts: tuple[str, ...] = TEXTS) -> str:
    """The facts as others write them: id, text, difficulty and a score."""
    facts = [
        {"id": f"f{number}", "fact": text, "difficulty": "medium", "mean_score": None}
        for number, text in enumerate(texts, start=1)
    ]
    return json.dumps({"benchmark": "parcel_desk", "model": "mason-3b", "anchor_facts": facts})


def written(folder: Path, **texts: str) -> dict[str, Path]:
    """Files by name: the golden report and its facts, and what else is given."""
    files = {"golden.md": GOLDEN, "facts.json": facts_json()}
    files |= {f"{name}.md": text for name, text in texts.items()}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name.partition(".")[0]: folder / name for name in files}
