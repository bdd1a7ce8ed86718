"""What blade init prints: what became of each file, what is left to a person, what to run next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.cli.init_steps import LaidOut
from pipeline.package.layout import DRAFTS, GOLDEN_REPORTS, ROLLOUTS
from pipeline.report.marks import CURATE
from pipeline.text import one_line

WIDEST = 200


def page(made: LaidOut) -> str:
    """For a person."""
    lines = [f"{one_line(str(made.folder), WIDEST)}:"]
    width = max(len(step.standing) for step in made.steps)
    lines += [
        f"  {step.standing:<{width}}  {one_line(step.file.name, WIDEST)}" for step in made.steps
    ]
    places = _places(made)
    lines += ["", "Left to a person:"]
    lines += [
        f"  {n:>3} place{'' if n == 1 else 's'} to curate in {one_line(name, WIDEST)}"
        for name, n in places
    ]
    lines += ["", "Next:", *(f"  {command}" for command in _next(made))]
    return "\n".join(lines)


def summary(made: LaidOut) -> dict[str, Any]:
    """For a program."""
    return {
        "benchmark_dir": str(made.folder),
        "benchmark": made.benchmark,
        "is_drafted_from_data": made.is_known,
        "files": [{"path": step.file.name, "status": str(step.standing)} for step in made.steps],
        "curate": [{"path": name, "places": n} for name, n in _places(made)],
        "notes": list(made.notes),
        "next": _next(made),
    }


def _places(made: LaidOut) -> list[tuple[str, int]]:
    """Each text with places that wait for a person, as it stands now."""
    found = []
    for step in made.steps:
        if step.file.is_draft and step.file.name.endswith(".md"):
            text = (made.folder / step.file.name).read_text(encoding="utf-8", errors="replace")
            found.append((step.file.name, len(CURATE.findall(text))))
    return found


def _next(made: LaidOut) -> list[str]:
    folder = shlex.quote(str(made.folder))
    name = shlex.quote(made.benchmark)
    if not made.is_known:
        return [f"blade init --benchmark-dir {folder} --benchmark {name} --results RESULTS"]
    return [line for model in _models(made)[:1] for line in _commands(folder, name, model)]


def _models(made: LaidOut) -> list[str]:
    names = (Path(step.file.name) for step in made.steps)
    pattern = re.compile(r"(.+)_draft_report\.md")
    return [match[1] for name in names if (match := pattern.fullmatch(name.name))]


def _commands(folder: str, benchmark: str, model: str) -> Iterator[str]:
    """From a draft to a package that can be shared, in order."""
    golden = f"{folder}/{GOLDEN_REPORTS}/{model}"
    drafts = f"{folder}/{GOLDEN_REPORTS}/{DRAFTS}/{model}"
    yield f"cp {drafts}_draft_report.md {golden}_golden_report.md   # then curate it"
    yield f"cp {drafts}_draft_report_metrics.json {golden}_golden_report_metrics.json"
    yield f"blade verify {golden}_golden_report.md --results {folder}/{ROLLOUTS}"
    yield (
        f"blade extract-anchor-facts --golden {golden}_golden_report.md --benchmark {benchmark} "
        f"--model-name {model} --output {golden}_anchor_facts.json"
    )
    yield f"blade make-shallow --input {golden}_golden_report.md --output {golden}_shallow.md"
    yield (
        f"blade calibrate --golden-report {golden}_golden_report.md "
        f"--anchor-facts {golden}_anchor_facts.json --shallow-report {golden}_shallow.md"
    )
    yield f"blade sanitize {folder} --check"
    yield f"blade validate --benchmark-dir {folder} --phase all"
