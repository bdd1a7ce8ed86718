"""A small golden report and its facts."""

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
