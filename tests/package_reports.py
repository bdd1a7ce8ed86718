"""A small golden report and its facts."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import REPORTS

GOLDEN = (REPORTS / "parcel_desk.md").read_text(encoding="utf-8")
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
