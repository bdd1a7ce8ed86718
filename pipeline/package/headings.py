"""Which of BLADE's sections a heading opens, whatever words its author chose."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.report.sections import SECTIONS

NUMBERING = re.compile(r"^\W*(?:(?:section|part)\s+)?(?:\d+(?:\.\d+)*|[ivx]+|[a-z])[.):]\s+")
# In this order: the first that a heading holds decides.
WORDS = {
    "Executive Summary": r"executive|tl;?dr|\bsummary\b|\bverdict\b|key findings|at a glance",
    "Recommendations": r"recommend|interventions?\b|next steps|action (items|plan)|what to fix",
    "Reproducibility Notes": r"reproduc|provenance|how this was made|\bmethod(s|ology)?\b",
    "Cross-Model Comparison": r"cross[- ]?(model|run)|compar|versus|\bvs\b|across (models|runs)",
    "Sometimes-Pass Deep Dives": r"sometimes|flaky|unstable|intermittent|mixed[- ]outcome",
    "Never-Pass Deep Dives": r"never|always[- ]fail|zero[- ]pass|unsolved",
    "Dominant Failure Modes": r"failure|error (analysis|pattern|mode)|taxonomy|root cause",
    "Task Outcome Buckets": r"bucket|outcomes?\b|per[- ]task|task (results|breakdown)",
    "Workflow Funnel": r"funnel|pipeline|stages?\b|drop[- ]?off",
    "Artifact Inventory": r"artifact|inventory|\binputs?\b|\bdata\b|files|coverage",
    "Aggregate Results": r"aggregate|headline|metrics|overall|results|scores?\b|performance",
}
TITLES = tuple(section.title for section in SECTIONS)
PATTERNS = {title: re.compile(words, re.IGNORECASE) for title, words in WORDS.items()}


def canonical(title: str) -> str | None:
    """The title of BLADE's section that a heading names; none where it names none of them."""
    return named(title, PATTERNS)


def named(title: str, patterns: Mapping[str, re.Pattern[str]]) -> str | None:
    """The section that a heading names: outright, else by the first pattern that it holds."""
    plain = NUMBERING.sub("", title.strip().lower())
    exact = next((each for each in patterns if each.lower() == plain), None)
    return exact or next((each for each, words in patterns.items() if words.search(plain)), None)
