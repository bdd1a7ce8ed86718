"""Package -> one table of rules, each with what it means and how to fix it, and how each stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.package.validate import golden, rollouts
from pipeline.package.validate.subject import FAIL, PASS, SKIP, WARN, Subject, Told
from pipeline.text import one_line

SKILL, ROLLOUTS, GOLDEN, SHARING = PHASES = ("skill", "rollouts", "golden", "sharing")
LONGEST = 400
# What answers the rules of a phase, each outcome with the id of its rule.
CHECKS: dict[str, Callable[[Subject], Told]] = {
    SKILL: golden.skill,
    ROLLOUTS: rollouts.rollouts,
    GOLDEN: golden.golden,
    SHARING: golden.sharing,
}


@dataclass(frozen=True)
class Rule:
    """What is asked: its phase, what it means where it does not hold, and how to fix it."""

    id: str
    phase: str
    title: str
    meaning: str
    fix: str


RULES = (
    Rule(
        *("skill.present", SKILL, "D1 skill"),
        "Nobody is told how to analyze this benchmark.",
        "Write skill/SKILL.md; `blade init` drafts one from the rollouts.",
    ),
    Rule(
        *("skill.frontmatter", SKILL, "YAML frontmatter"),
        "Agents find a skill by the name and description that it opens with.",
        "Open the file with `---`, `name: ...`, `description: ...`, `---`.",
    ),
    Rule(
        *("skill.sections", SKILL, "skill sections are there and not blank"),
        "A heading with nothing below it tells nothing.",
        "Write overview, input schema, workflow funnel, failure taxonomy and analysis workflow.",
    ),
    Rule(
        *("skill.fields", SKILL, "skill names the fields of the rows"),
        "A skill that does not name the task id and the reward could be any benchmark's.",
        "Name each field as the rows have it; `blade init --refresh` lists them.",
    ),
    Rule(
        *("skill.curated", SKILL, "skill is curated"),
        "The skill is still a draft: what only a person can say is not in it.",
        "Write each place that `<!-- curate: ... -->` marks, and remove the comment.",
    ),
    Rule(
        *("rollouts.present", ROLLOUTS, "D2 rollouts"),
        "There is nothing to analyze in rollouts/*.jsonl or data/*rollout*.jsonl.",
        "Copy the rollout files of at least two runs into rollouts/, one file per run.",
    ),
    Rule(
        *("rollouts.sidecars", ROLLOUTS, "sidecars are not counted as runs"),
        "The file is named like a run, but its rows are failed attempts or inputs.",
        "Give it its sidecar's name, such as `..._failures.jsonl`, or put scored rollouts there.",
    ),
    Rule(
        *("rollouts.scored", ROLLOUTS, "at least two scored runs"),
        "Fewer than two runs have a reward: no score can be seen to change.",
        "Add another comparable model or agent run; each row needs a number in `reward`.",
    ),
    Rule(
        *("rollouts.different", ROLLOUTS, "runs are different runs"),
        "Two runs hold the same rollouts (order, indices and model names aside): there is one.",
        "Remove the copy, and add the rollouts of another model or agent.",
    ),
    Rule(
        *("rollouts.comparable", ROLLOUTS, "runs share tasks"),
        "Runs that asked different questions cannot be compared: a change of score means nothing.",
        "Run both models on the same input file, and keep `responses_create_params` in the rows.",
    ),
    Rule(
        *("rollouts.task_id", ROLLOUTS, "rows have a task id"),
        "Rows do not expose a stable task identifier; ids had to be derived from what was asked.",
        "Preserve `_ng_task_index`, `task_id`, or an equivalent field.",
    ),
    Rule(
        *("rollouts.rollout_id", ROLLOUTS, "rows have a rollout id where tasks repeat"),
        "Repeats of a task cannot be told apart or cited; they were numbered by their content.",
        "Preserve `_ng_rollout_index` in every row.",
    ),
    Rule(
        *("rollouts.reward", ROLLOUTS, "reward is a number"),
        "A reward that is absent or a text is no score: such rows count in no figure.",
        'Write rewards as JSON numbers: `"reward": 1.0`, not `"reward": "1.0"`.',
    ),
    Rule(
        *("rollouts.reward_varies", ROLLOUTS, "reward tells rollouts apart"),
        "One figure on every row says nothing of any of them; it may be the mean of a batch.",
        "Keep the reward of each rollout, as the verifier gave it.",
    ),
    Rule(
        *("rollouts.output", ROLLOUTS, "rows have the model's output"),
        "Without what the model said or did, no failure can be explained.",
        "Keep the whole `response` in every row, with its `output` items.",
    ),
    Rule(
        *("rollouts.usable", ROLLOUTS, "lines can be used"),
        "Lines that are broken, or repeat the key of another, are in no figure.",
        'List them with `blade sql "from rejects"` after `blade analyze`, and write them again.',
    ),
    Rule(
        *("golden.present", GOLDEN, "D3 golden report"),
        "No curated report was found: drafts do not count.",
        "Write golden_reports/<model>_golden_report.md; `blade init` leaves drafts to begin with.",
    ),
    Rule(
        *("golden.sections", GOLDEN, "report sections are there and not blank"),
        "A golden report is the measure of others: what it leaves out nobody is asked for.",
        "Write what the evidence shows below each heading; where there is nothing, say why.",
    ),
    Rule(
        *("golden.curated", GOLDEN, "report is curated"),
        "The report is still a draft: what only a person can say is not in it.",
        "Write each place that `<!-- curate: ... -->` marks, and remove the comment.",
    ),
    Rule(
        *("golden.evidence", GOLDEN, "report cites task-level evidence"),
        "Diagnosis without task ids and rollout ids cannot be checked; tables alone are none.",
        "Cite rollouts of at least 3 tasks as `RUN/TASK:ROLLOUT`.",
    ),
    Rule(
        *("golden.verified", GOLDEN, "report agrees with the rollouts"),
        "A citation, figure, sum, outcome or quote of the report is not what the data say.",
        "Correct it; `blade verify REPORT` lists all findings, `--fix` rewrites figures.",
    ),
    Rule(
        *("golden.orphans", GOLDEN, "every file belongs to a report"),
        "The file belongs to no golden report, by its name.",
        "Name it after its report's model, or remove it.",
    ),
    Rule(
        *("metrics.present", GOLDEN, "metrics sidecar"),
        "The golden report has no structured metrics.",
        "Add <model>_golden_report_metrics.json: the metrics.json that `blade analyze` wrote.",
    ),
    Rule(
        *("metrics.keys", GOLDEN, "metrics sidecar has its keys"),
        "A program finds no figure under the names that every sidecar has, or none that can be.",
        f"Give {', '.join(golden.REQUIRED)}: rates from 0 to 1, counts as whole numbers.",
    ),
    Rule(
        *("metrics.values", GOLDEN, "metrics sidecar equals the rollouts"),
        "The figures were recomputed from the rollouts, and are not what the sidecar says.",
        "Use the real values: copy the metrics.json that `blade analyze` writes for the run.",
    ),
    Rule(
        *("facts.present", GOLDEN, "anchor facts"),
        "The golden report has no facts to score others by.",
        "Draft them with `blade extract-anchor-facts`, and review <model>_anchor_facts.json.",
    ),
    Rule(
        *("facts.shape", GOLDEN, "anchor facts have their fields"),
        "A judge cannot read a fact without its text, or weigh one without a known difficulty.",
        'Give each `{"id", "fact", "difficulty": "high|medium|low"}`, no id twice, as a sentence.',
    ),
    Rule(
        *("facts.distinct", GOLDEN, "anchor facts are distinct"),
        "A fact that says the same as another counts one finding twice.",
        "Remove the repeats, and add facts of other findings.",
    ),
    Rule(
        *("facts.count", GOLDEN, "enough anchor facts"),
        "Too few facts cannot tell a good report from a lucky one; repeats do not count.",
        "Add facts: each one finding of the report that only reading the evidence can give.",
    ),
    Rule(
        *("facts.exist", GOLDEN, "anchor facts cite what exists"),
        "The fact cites a rollout that the package does not have.",
        "Correct the citation, or remove the fact.",
    ),
    Rule(
        *("facts.reviewed", GOLDEN, "anchor facts are reviewed"),
        "`review_required` is still true: nobody has said that these facts are worth asking for.",
        "Read each fact, remove weak ones, then set `review_required` to false.",
    ),
    Rule(
        *("shallow.present", GOLDEN, "shallow baseline"),
        "Without a negative control nothing shows that the facts tell reports apart.",
        "Make it with `blade make-shallow --input REPORT --output <model>_shallow.md`.",
    ),
    Rule(
        *("shallow.shallow", GOLDEN, "shallow baseline is shallow"),
        "A baseline that cites rollouts, or says as much as the report, is no negative control.",
        "Make it again with `blade make-shallow`.",
    ),
    Rule(
        *("sanitized.clean", SHARING, "sanitization"),
        "Credentials, endpoints, user names, paths or other private data stand in the package.",
        "Run `blade sanitize` on the package and share its output; a policy says what is cleared.",
    ),
)
# The words are the checklist's; the rules behind an item by how their ids begin.
ITEMS = (
    ("D1 skill has overview, schema, taxonomy and workflow.", "skill."),
    ("D2 rollouts include at least two scored, comparable runs.", "rollouts."),
    ("D3 golden reports cite task-level evidence, not only aggregate tables.", "golden."),
    ("Metrics sidecars parse and match the rollouts.", "metrics."),
    ("Anchor facts exist for each golden report.", "facts."),
    ("Shallow baselines exist for calibration.", "shallow."),
    (
        "Sanitization removes private source, endpoints, credentials, user names, unreleased "
        "benchmark names, and raw data that is not cleared for sharing.",
        "sanitized.",
    ),
)
COUNTED = {"passed": PASS, "failed": FAIL, "warnings": WARN, "not_checked": SKIP}


@dataclass(frozen=True)
class Check:
    """A line of the answer; `meaning` and `fix` speak only where it does not pass."""

    id: str
    phase: str
    status: str
    check: str
    message: str
    meaning: str = ""
    fix: str = ""
    file: str = ""
    line: int | None = None


def validate(subject: Subject, phases: Sequence[str] = PHASES) -> list[Check]:
    """How the package stands by each rule of some phases; a rule with nothing to ask is silent."""
    found = [told for phase in phases for told in CHECKS[phase](subject)]
    checks = []
    for rule in RULES:
        for each in (outcome for id_, outcome in found if id_ == rule.id):
            told = f"not checked: {each.message}" if each.status == SKIP else each.message
            advice = (
                (rule.meaning, each.fix or rule.fix) if each.status in (FAIL, WARN) else ("", "")
            )
            place = (one_line(told, LONGEST), *advice, one_line(each.file, LONGEST), each.line)
            checks.append(Check(rule.id, rule.phase, each.status, rule.title, *place))
    return checks


def count(checks: Sequence[Check], status: str) -> int:
    """How many stand so."""
    return sum(each.status == status for each in checks)


def readiness(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """The checklist; an item without a check behind it fails, for nothing shows that it holds."""
    items = []
    for words, start in ITEMS:
        behind = [each for each in checks if each.id.startswith(start)]
        counts = {f"n_{key}": count(behind, status) for key, status in COUNTED.items()}
        is_failed = bool(counts["n_failed"]) or not behind
        status = FAIL if is_failed else SKIP if counts["n_not_checked"] else PASS
        items.append({"item": words, "status": status, **counts})
    return items


def as_json(checks: Sequence[Check], items: Sequence[dict[str, Any]], phase: str) -> dict[str, Any]:
    """All of it for a program; readiness only where there is a checklist."""
    counts = {key: count(checks, status) for key, status in COUNTED.items()}
    ready = {"is_ready": all(item["status"] == PASS for item in items)} if items else {}
    return {
        "checks": [asdict(each) for each in checks],
        "readiness": [*items],
        "summary": {"phase": phase, **counts, **ready},
    }
