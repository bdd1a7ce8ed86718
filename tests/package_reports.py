"""A small golden report and its facts."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import REPORTS

GOLDEN = (REPORTS / "parcel_desk.md").read_text(encoding="utf-8")
TEXTS = tuple((REPORTS / "parcel_desk_facts.txt").read_text(encoding="utf-8").splitlines())


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
