"""The draft of a benchmark's skill: what the data say, and places for what only a person knows."""

from __future__ import annotations

import json
import re
import shlex

from pipeline.package.scaffold.facts import Facts
from pipeline.package.scaffold.profile_draft import STAGES
from pipeline.package.scaffold.rendering import rendered
from pipeline.report import SECTIONS, filters, wording
from pipeline.text import one_line

LONGEST_NAME = 60

# What each section of a report must hold.
HOLDS = {
    "Executive Summary": "the score with its interval and denominator, the largest drop of the "
    "funnel, the dominant failure mode with its count, and what is to be decided",
    "Artifact Inventory": "every file with its rows and rejects; what is missing, timed out, "
    "malformed or redacted, said outright",
    "Aggregate Results": "pass@1 and pass@k, each with what it is over; the score under each way "
    "to count what is missing; slices; cost",
    "Workflow Funnel": "the stages above with counts, and what the table cannot say of the largest "
    "drop: what happened to those rollouts",
    "Task Outcome Buckets": "always, sometimes, never, missing: counts and the tasks in each",
    "Dominant Failure Modes": "modes by count with the share of failures, each proved by two or "
    "more rollouts that were read and are cited",
    "Sometimes-Pass Deep Dives": "a passing and a failing rollout of the same task side by side, "
    "and the event at which they part",
    "Never-Pass Deep Dives": "what all attempts share, how far the best one got, and whether the "
    "task or its verifier is at fault",
    "Cross-Model Comparison": "the change on common tasks with its interval, what moved it, and "
    "tasks that flipped, cited on both sides",
    "Recommendations": "what to look into first: a score that is wrong, cut-offs and lost "
    "attempts, then signs that go with failing; each with its count, its evidence and a check",
    "Reproducibility Notes": "files with hashes, settings, sampling, repeats, versions, and the "
    "command that makes the figures again",
}
# The six labels with when to use each.
CAUSES = {
    "KG": "knowledge gap: what is needed (domain, API, tool, format) shows in no attempt; the same "
    "wrong thing every time, and another run can do it",
    "UK": "unreliable knowledge: some repeats show it, others do not, with the same tools and "
    "steps",
    "BI": "behaviour: able, but skips steps, gives up, thrashes, ignores feedback or misuses tools",
    "TI": "task or verifier: the task, harness, limit, dependency or expected answer is suspect",
    "IR": "infrastructure: a service, sandbox, scheduler, network or provider failed",
    "DA": "data artifact: duplicates, bad metadata, leakage, missing files, labels that disagree",
}
INTERVENTIONS = {
    "KG": "targeted examples, fine-tuning on the domain, better task documents",
    "UK": "training on repeated rollouts, self-checks, pass/fail pairs as data",
    "BI": "the agent's loop, workflow checks, simpler tools",
    "TI": "repair, then rerun the baselines",
    "IR": "fix, isolate flaky rows, keep flake rates apart from quality",
    "DA": "correct the data and regenerate before comparing",
}


def skill_text(facts: Facts, *, folder: str) -> str:
    """The skill as the data suggest it; its commands name the package's folder."""
    return rendered(
        "skill.md.j2",
        facts=facts,
        package=filters.code(shlex.quote(folder)),
        stages=STAGES,
        sections=[(section.title, HOLDS[section.title]) for section in SECTIONS],
        causes=CAUSES,
        interventions=INTERVENTIONS,
        partings=wording.PARTINGS,
        **_names(facts.benchmark),
    )


def skeleton_text(benchmark: str) -> str:
    """A skill of a benchmark whose rollouts nobody has seen: what is not known, and what to run."""
    return rendered(
        "skeleton.md.j2",
        sections=[section.title for section in SECTIONS],
        **_names(benchmark),
    )


def _names(benchmark: str) -> dict[str, str]:
    slug = re.sub(r"[^a-z0-9]+", "-", benchmark.lower()).strip("-")[:LONGEST_NAME].strip("-")
    told = one_line(benchmark, LONGEST_NAME)
    description = (
        f"How to analyze rollouts of {told}: what it measures, the fields of its rows, its funnel "
        "and failure taxonomy, the order of work and the report. Use it to explain a score, a "
        "failure or a change between runs."
    )
    return {
        "benchmark": told,
        "slug": f"analyze-{slug}" if slug else "analyze-benchmark",
        "description": json.dumps(description, ensure_ascii=False),
    }
