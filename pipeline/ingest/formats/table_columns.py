"""What each column of a table is to an evaluation: the task, the prompt, the score, and so on.

A column is recognised by its name, and by values that fit: `correct` is the score if it holds true
and false, and the key if it holds "B". Guesses are from the first rows, and are shown to the user.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from . import (
    Object,
    as_json,
    get,
    number,
    text,
)
from .chat import listed_messages

Values = Sequence[Any]
Table = Sequence[Mapping[str, Any]]
# A column by its name, or by the names of an object and of a field in it.
Column = tuple[str, ...]
Columns = dict[str, Column]

LONGEST_ID = 200
MOST_COLUMNS = 200
# A sentence says what is to be done, and is the name of no benchmark.
MOST_WORDS_OF_TITLE = 6
MOST_OTHERS = 12
ROLES_OF_CHAT = {
    **dict.fromkeys("agent ai model bot gpt".split(), "assistant"),
    **dict.fromkeys("human customer".split(), "user"),
}
# Roles whose columns may be inside an object.
NESTED = ("score", "key", "task", "model", "prompt")
SINGLE_SHARE = 0.8
# Fewer rows of an outcome may agree by chance.
LEAST_COMPARED = 3
# As many rows all pass or all fail by chance only where the score says something else.
LEAST_CONSTANT = 20
NOT_MODELS = frozenset(
    "judge judged grader grading evaluator evaluation eval verifier scorer user simulator reward "
    "embedding critic compiler".split()
)
# A computed score: the columns that SimpleQA of simple-evals writes, and the grades of its judge.
OF_GRADER = "grade_is_correct"
GRADED_COLUMNS = frozenset("problem target predicted_answer grade".split())
GRADES = {
    **{"A": True, "B": False, "C": False},
    **{"CORRECT": True, "INCORRECT": False, "NOT_ATTEMPTED": False},
}
MOST_WORDS = 5
# A column of words that judge, one of which was chosen as the pass: its score is computed.
IS = " is "
MOST_VERDICTS = 12
OF_VERDICTS = frozenset(
    "label verdict outcome bucket judgment judgement grade result assessment decision".split()
)
# Rows that are lost leave some models without equal tasks.
MOSTLY, NEARLY = 0.8, 0.99
# Fewer tasks may have equal numbers by chance.
LEAST_CROSSED = 5
# Rows that were written again leave a few of the first tasks uneven.
COMPARED_TASKS, NEARLY_ALL_TASKS = 100, 0.95
# Names of single rows are no benchmarks.
LEAST_OF_BENCHMARK = 3
MOST_VALUES = 20
# Objects that say how attempts were made, and of how many ways they may speak.
OF_SETTINGS = frozenset("config configuration settings params parameters hyperparameters".split())
MOST_SETTINGS = 40
WORD = re.compile(r"[A-Za-z][\w.:/-]*")
CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
DURATION = re.compile(
    r"(^|_)(runtime|time|duration|elapsed|latency|wall|took|seconds)"
    r"(_(in_)?(clock|taken|time|s|sec|secs|seconds|ms|msec|millis|milliseconds))*$"
)
LONGEST_VALUE = 60
PASSING = frozenset("true yes pass passed correct right success successful solved resolved".split())
FAILING = frozenset("false no fail failed incorrect wrong failure unsolved unresolved".split())
# Words that judge an attempt; the others may say only that it ended.
JUDGING = frozenset("pass passed fail correct incorrect right wrong".split())
# Those that an attempt passes with among words that nobody declared.
WORDS_THAT_PASS = frozenset("pass passed correct".split())
# Words in the names of numbers that may be scores, and of those that somebody gave.
NUMBERED_SCORES = frozenset("score scores avg average mean rating ratings".split())
JUDGED = frozenset("judge judges judged grader human rating ratings".split())
# Names of what somebody or something graded; a `success` or a `status` may be what the agent says.
GRADED = frozenset(
    "correct incorrect iscorrect match matches exact em acc accuracy reward grade graded grader "
    "grading judge judged judgment judgement verdict verified eval evaluation evaluator score "
    "scoring resolved".split()
)
# Other measures of the same answer than a verdict.
MEASURES = frozenset("exact_match em is_match match matches f1 accuracy acc".split())
# Fewer rows, or a smaller share of them, differ by chance or by single mistakes.
LEAST_JUDGED_TWICE = 20
LEAST_DIFFERING = 0.05
# Words of a column of verdicts that are none.
UNJUDGED = frozenset(
    "skip skipped pending queued running unknown none null n/a na ungraded unscored".split()
)
# Words of names whose columns say the opposite of a score: more of it is worse.
INVERSE = frozenset(
    "error errors err fail fails failed failing failure failures wrong wrongly incorrect mistake "
    "mistakes loss losses invalid missing refused refusal timeout crashed broken bad not non "
    "unsolved unresolved penalty regret distance wer cer perplexity leak leaks leaked leakage "
    "harm harms harmful harmfulness risk risks risky violation violations violated toxic toxicity "
    "unsafe hallucination hallucinations hallucinated fabricate fabricates fabricated fabrication "
    "fabrications".split()
)
# What comes last in a name of these words is a verdict all the same: `refusal_correct`.
VERDICTS = frozenset("correct pass passed solved resolved accuracy".split())
NEGATIONS = frozenset("not non".split())
# Words of names whose columns say what is expected, anywhere or at the end.
OF_KEYS = frozenset(
    "expected gold golden target label labels truth reference ideal desired".split()
)
ENDS_OF_KEYS = frozenset("answer answers key solution".split())


def score_of(value: Any, *, is_word: bool = False) -> float | None:
    """A number, true or false, or a word for one of these; None for anything else.

    In a column of such words another one, as `partial` or `timeout`, is not true.
    """
    if isinstance(value, str) and (word := value.strip().casefold()) in PASSING | FAILING:
        return float(word in PASSING)
    is_other = is_word and isinstance(value, str) and word not in {"", *UNJUDGED}
    return 0.0 if is_other else number(value)


def are_words(values: Values) -> bool:
    """Whether all values are texts, and most of these are words for true and false."""
    if not all(map(_is_word, values)):
        return False
    n_words = sum(value.strip().casefold() in PASSING | FAILING for value in values)
    return 2 * n_words > len(values)


def scores_of_values(values: Values) -> list[float | None]:
    is_word = are_words(values)
    return [score_of(value, is_word=is_word) for value in values]


def messages_of(value: Any) -> list[Object]:
    """A chat with the usual roles: other tools say `agent` or `human`, or `from` and `value`."""
    chat = []
    for one in listed_messages(value):
        role = text(one, "role") or text(one, "from")
        if role is None:
            return []
        content = get(one, "content") if "content" in one else get(one, "value")
        chat.append({**one, "role": ROLES_OF_CHAT.get(role.casefold(), role), "content": content})
    return chat


def repeat_of(value: Any) -> int | None:
    """A whole number, also as text."""
    known = number(value)
    return int(known) if known is not None and known.is_integer() and known >= 0 else None


def _is_id(value: Any) -> bool:
    written = text(value)
    return written is not None and len(written) <= LONGEST_ID and "\n" not in written


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _is_id(value)


def _is_title(value: Any) -> bool:
    return _is_word(value) and len(value.split()) <= MOST_WORDS_OF_TITLE


def _is_of_questions(path: Column, values: Values) -> bool:
    """Whether a column has what was asked, not names; inside an object only if it is sentences."""
    if all(_is_word(value) and WORD.fullmatch(value) for value in values):
        return False
    return len(path) == 1 or all(isinstance(one, str) and " " in one.strip() for one in values)


def _is_content(value: Any) -> bool:
    return not isinstance(value, bool)


@dataclass(frozen=True)
class Role:
    """What a column may be: its usual names, the best first, and what its values look like."""

    name: str
    names: tuple[str, ...]
    fits: Callable[[Any], bool]


def _role(name: str, names: str, fits: Callable[[Any], bool]) -> Role:
    return Role(name, tuple(names.split()), fits)


# In this order: a column that one role takes is not offered to the next. `answer` and `solution`
# are the output only if nothing else is, and the key otherwise.
ROLES = (
    _role(
        "score",
        "correct is_correct iscorrect passed is_pass is_passed pass success is_success successful "
        "solved is_solved resolved is_resolved reward score final_score total_score accuracy acc "
        "exact_match em is_match match matches verified is_verified grade verdict judgment "
        "judgement evaluation grading outcome result status rating f1 ok overall_score "
        "judge_score goal_achieved",
        lambda value: score_of(value) is not None,
    ),
    _role(
        "messages",
        "messages conversation trajectory transcript dialogue dialog history chat turns trace",
        lambda value: bool(messages_of(value)),
    ),
    _role(
        "model", "model model_name model_id llm engine deployment generator target_model", _is_word
    ),
    _role("agent", "agent agent_name scaffold solver harness method strategy run", _is_word),
    _role(
        "repeat",
        "repeat repeat_id trial trial_id attempt attempt_id rollout rollout_index rollout_idx "
        "sample_index sample_idx sample run_number run_index run_idx iteration epoch replicate "
        "seed run_id run",
        lambda value: repeat_of(value) is not None,
    ),
    _role(
        "prompt",
        "prompt question query problem instruction instructions input user_prompt request text q",
        _is_content,
    ),
    _role(
        "output",
        # The whole text comes before the answer that a script took from it.
        "output response completion generation model_output model_response raw_output raw_response "
        "full_output full_response raw_completion raw_generation generated_text response_text "
        "output_text reply prediction pred model_answer predicted_answer predicted final_answer "
        "predicted_index predicted_label pred_label model_choice actual actual_output generated "
        "choices answer a solution",
        _is_content,
    ),
    _role(
        "key",
        "expected expected_answer expected_output reference reference_answer target gold "
        "gold_answer ground_truth groundtruth correct_answer answer_key label ideal correct_index "
        "gold_index gold_label answer_index answer_idx solution answer correct",
        _is_content,
    ),
    _role(
        "task",
        "task_id taskid question_id qid problem_id instance_id example_id item_id doc_id case_id "
        "test_id prompt_id query_id sample_id custom_id id uid uuid idx index task test_case case "
        "problem question task_name problem_name test_name case_name scenario fixture name title",
        _is_id,
    ),
    _role("benchmark", "benchmark benchmark_name dataset dataset_name eval suite task", _is_title),
)
NAMES_OF = {role.name: frozenset(role.names) for role in ROLES}
# A column of tasks may be called so, too.
BENCHMARK_NAMES = NAMES_OF["benchmark"] - {"task"}
IDS_OF_TASKS = frozenset(
    "task_id question_id problem_id instance_id example_id item_id doc_id case_id test_id "
    "prompt_id query_id".split()
)
# What has the name of a run numbers the attempts at a task only by whole numbers from 0 or 1.
NAMES_OF_RUNS = frozenset({"run_id", "run"})
# Ids of what is not a task; any other may be one.
NOT_TASKS = frozenset(
    "run_id trace_id session_id request_id response_id model_id user_id sandbox_id job_id "
    "experiment_id batch_id container_id trial_id attempt_id repeat_id".split()
)
# What numbers the steps of an attempt, and what is done in one.
STEP_NUMBERS = frozenset(
    f"{name}{end}"
    for name in ("step", "turn")
    for end in ("", "_num", "_number", "_no", "_idx", "_index", "_id")
)
# What numbers the turns of an attempt whose rows end with the first pass.
TURN_NUMBERS = STEP_NUMBERS | frozenset("round round_num iteration iteration_num".split())
OF_A_STEP = frozenset(
    "action actions observation obs response thought tool_call tool_calls".split()
)
# A column called `.._result` or `.._match` may be one of many things.
ENDS_OF_SCORES = frozenset("correct passed success solved resolved reward score accuracy".split())
COUNTS = frozenset("n num number count".split())
PASSES = ENDS_OF_SCORES | frozenset("pass passes successes".split())
RATES = frozenset("rate rates ratio share".split())
SHOWN = "task prompt messages output key score repeat model agent benchmark".split()


def paths(table: Table) -> list[Column]:
    """The columns in order of appearance; fields of an object are columns too, after all others."""
    top: dict[Column, None] = {}
    nested: dict[Column, None] = {}
    for row in table:
        for name, value in row.items():
            top[(name,)] = None
            if isinstance(value, Mapping):
                nested |= {(name, str(key)): None for key in value}
    return [*top, *nested][:MOST_COLUMNS]


def values_of(table: Table, path: Column) -> list[Any]:
    """The values of a column that are not null or empty."""
    return [value for row in table if (value := get(row, *path)) not in (None, "")]


def recognise(table: Table, chosen: Mapping[str, str]) -> Columns:
    """The column of each role that has one; the user's choice comes first."""
    columns = roles_of(table, chosen)
    if "repeat" in columns and "repeat" not in chosen and not is_numbering(table, columns):
        del columns["repeat"]
    return columns


def roles_of(table: Table, chosen: Mapping[str, str]) -> Columns:
    """The column of each role; whether one numbers repeats is seen only in all rows of a run."""
    columns = {role: tuple(written.split(".")) for role, written in chosen.items()}
    if columns.pop("pass", None):
        columns |= {
            "verdict": columns["score"],
            "score": (f"{chosen['score']}{IS}{chosen['pass']}",),
        }
    by_name: dict[str, list[Column]] = {}
    for path in paths(table):
        by_name.setdefault(plain(path[-1]), []).append(path)
    other_ids = [name for name in by_name if name.endswith("_id") and name not in NOT_TASKS]
    for role in ROLES:
        if role.name in columns:
            continue
        fitting = [
            path
            for name in (*role.names, *(other_ids if role.name == "task" else ()))
            for path in by_name.get(name, ())
            if len(path) == 1 or role.name in NESTED
            if path not in columns.values() and _may_be(role, table, path, columns)
        ]
        best = _task(table, fitting, columns) if role.name == "task" else next(iter(fitting), None)
        if role.name == "score":
            best = _score(table, fitting) or _only_verdict(table)
            # A check in an object is not what a judge's number of the row says.
            if best and len(best) > 1 and any(is_judged(path) for path in numbered_scores(table)):
                best = None
        if best is not None:
            columns[role.name] = best
    if chosen.get("score", "grade") == "grade" and _is_of_grader(table):
        columns["score"] = (OF_GRADER,)
    if "key" in columns and "key" not in chosen and _is_whole_answer(table, columns):
        columns["output"] = columns.pop("key")
    return columns


def _may_be(role: Role, table: Table, path: Column, columns: Columns) -> bool:
    """Whether a column with a name of a role has values that fit.

    A score may be missing or unreadable in some rows, an id may not.
    """
    values = values_of(table, path)
    n_fitting = sum(map(role.fits, values))
    if n_fitting < len(values) and not (role.name == "score" and 2 * n_fitting > len(values)):
        return False
    match role.name if values else "":
        case "score":
            return _is_guess(table, path)
        case "model":
            return NOT_MODELS.isdisjoint(plain("_".join(path)).split("_"))
        case "repeat":
            return not _names_runs(table, path)
        case "prompt":
            return _is_of_questions(path, values)
        case "output" if plain(path[-1]) == "choices":
            # Of an API's answer; of a question they are what to choose from.
            return not all(isinstance(value, dict) or _is_options(value) for value in values)
        case "task":
            return not all(map(is_time, values)) and not _is_setting(table, path, columns)
    return bool(values)


def _is_options(value: Any) -> bool:
    """Whether a list has several texts: what can be chosen, and no answer of a model."""
    return isinstance(value, list) and len(value) > 1 and all(isinstance(one, str) for one in value)


def _names_runs(table: Table, path: Column) -> bool:
    """Whether a column called like a run has anything but whole numbers from 0 or 1 on."""
    if plain(path[-1]) not in NAMES_OF_RUNS:
        return False
    values = values_of(table, path)
    is_whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    return not (is_whole and counts_from_start(values))


def counts_from_start(numbers: Collection[Any]) -> bool:
    known = set(numbers)
    return any(known == set(range(first, first + len(known))) for first in (0, 1))


def _is_guess(table: Table, path: Column) -> bool:
    """Whether a column may be the score without being chosen: it has most rows, and more is better.

    In an object it is not the same in many rows: `judge.success` may say that the judge answered.
    """
    if is_inverse(path):
        return False
    values = values_of(table, path)
    is_constant = len(values) >= LEAST_CONSTANT and len(set(map(as_json, values))) == 1
    return 2 * len(values) >= len(table) and not (len(path) > 1 and is_constant)


@dataclass(frozen=True)
class Dispute:
    score: str
    other: str
    reason: str


def dispute(table: Table, score: Column) -> Dispute | None:
    """A second column of verdicts that is as likely the score: often one is the agent's own claim.

    They differ in more than few rows, and neither is true wherever the other one is. What the
    object of a score has beside it is a part of that judgement.
    """
    if not set(scores_of_values(values_of(table, score))) <= {None, 0.0, 1.0}:
        return None
    for other in paths(table):
        is_beside = len(score) > 1 and other[:-1] == score[:-1]
        if other == score or is_beside or not _judges(table, other):
            continue
        if is_graded(score) and not is_graded(other):
            continue
        both = [
            (here, there)
            for row in table
            if (here := score_of(get(row, *score))) is not None
            if (there := score_of(get(row, *other))) is not None
        ]
        n_differing = sum(here != there for here, there in both)
        is_often = len(both) >= LEAST_JUDGED_TWICE and n_differing >= LEAST_DIFFERING * len(both)
        if is_often and {(0.0, 1.0), (1.0, 0.0)} <= set(both):
            names = ".".join(score), ".".join(other)
            differing = f"not the same in {n_differing} of {len(both)} rows that have both"
            reason = f"two columns that judge attempts differently ({names[0]}, {names[1]}: "
            reason += f"{differing})"
            return Dispute(*names, reason)
    return None


def _judges(table: Table, path: Column) -> bool:
    """Whether a column is named like a verdict, and holds true and false or words for these."""
    name = plain(path[-1])
    if name in MEASURES or is_key_name(name) or is_inverse(path[-1:]):
        return False
    if not (is_score_name(path) or is_graded(path[-1:])):
        return False
    values = values_of(table, path)
    # Numbers are measures, where they are not the score itself.
    words = [value for value in values if isinstance(value, str) and number(value) is None]
    n_flags = sum(isinstance(value, bool) for value in values)
    n_judged = n_flags + sum(score_of(word) is not None for word in words)
    n_unjudged = sum(word.strip().casefold() in UNJUDGED for word in words)
    return n_judged + n_unjudged == len(values) and 2 * n_judged > len(values)


def is_graded(path: Column) -> bool:
    """Whether a name says that something was graded, and not that it was done."""
    return not GRADED.isdisjoint(plain("_".join(path)).split("_"))


def _is_setting(table: Table, path: Column, columns: Columns) -> bool:
    """Whether all rows have one value: it is the benchmark's, unless it is an id or is numbered."""
    name = plain(path[-1])
    if name in IDS_OF_TASKS or name.endswith("_id") or columns.keys() & {"prompt", "messages"}:
        return False
    is_numbered = "repeat" in columns and n_distinct(table, [columns["repeat"]]) == len(table)
    return not is_numbered and n_distinct(table, [path]) == 1 < len(table)


def is_of_steps(table: Table) -> bool:
    """Whether rows are the steps of one attempt: a number counts up, and nothing names tasks."""
    named = {plain(path[0]): path for path in paths(table) if len(path) == 1}
    prompts = [named[name] for name in NAMES_OF["prompt"] & named.keys()]
    if OF_A_STEP.isdisjoint(named) or not (IDS_OF_TASKS | {"task"}).isdisjoint(named):
        return False
    return all(n_distinct(table, [path]) == 1 for path in prompts) and any(
        counts_up(values_of(table, named[name])) for name in sorted(STEP_NUMBERS & named.keys())
    )


def counts_up(values: Values) -> bool:
    """Whether numbers go from 0 or 1 up by one; a step may have several rows."""
    numbers = [-1 if (known := repeat_of(value)) is None else known for value in values]
    is_numbering = numbers == sorted(numbers) and counts_from_start(numbers)
    return is_numbering and 2 * len(set(numbers)) > len(numbers) > 1


def _is_of_grader(table: Table) -> bool:
    """Whether a table has the columns of SimpleQA, and in each row no grade but of its judge."""
    grades = values_of(table, ("grade",))
    return bool(grades) and all(
        row.keys() >= GRADED_COLUMNS and row["grade"] in (None, "", *GRADES) for row in table
    )


def _is_whole_answer(table: Table, columns: Columns) -> bool:
    """Whether what is named like a key is what the model wrote: the output was taken from it.

    A key differs from some output, and has few of those in it that fail; a short one may list
    several answers.
    """
    if not {"score", "output"} <= columns.keys():
        return False
    is_same, within = [], []
    for row in table:
        output, whole = (text(row, *columns[role]) for role in ("output", "key"))
        if output and whole:
            is_same.append(output.strip() == whole.strip())
            if score_of(get(row, *columns["score"])) == 0:
                within.append(len(whole) > LONGEST_VALUE and _is_in(output.strip(), whole))
    is_taken = all(is_same) or 2 * sum(within) > len(within)
    return len(within) >= LEAST_COMPARED and is_taken


def _is_in(words: str, whole: str) -> bool:
    return words in whole and bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", whole))


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """`Is Correct`, `isCorrect` and `is-correct` as `is_correct`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", words.casefold()).strip("_")


def _score(table: Table, candidates: Sequence[Column]) -> Column | None:
    """The first column with scores from 0 to 1; a number of points only where there is no other.

    A column of an object that fewer rows have than one of the row is none; where one of the row has
    words that judge, those of objects come after it.
    """
    values = {path: values_of(table, path) for path in candidates}
    own = [path for path in candidates if len(path) == 1]
    n_filled = max((len(values[path]) for path in own), default=0)
    filled = [path for path in candidates if path in own or len(values[path]) >= n_filled]
    if any(
        are_words(values[path]) and not JUDGING.isdisjoint(map(str.casefold, values[path]))
        for path in own
    ):
        filled.sort(key=len)
    scores = {path: [score_of(value) for value in values[path]] for path in filled}
    shares = [
        path for path in filled if all(0 <= one <= 1 for one in scores[path] if one is not None)
    ]
    return next(iter((*shares, *filled)), None)


def _only_verdict(table: Table) -> Column | None:
    """The one column whose name ends like a score, as `original_reward`, and that is 0 or 1.

    Where there are several, the one that ends like a verdict, as `answer_correct`.
    """
    named = [
        name
        for name in possible_scores(table)
        if "." not in name and ends_like_score(name) and not is_key_name(name)
    ]
    verdicts = [name for name in named if _last_word(name) in VERDICTS | {"success"}]
    single = next((names[0] for names in (named, verdicts) if len(names) == 1), None)
    # All attempts may fail by the whole of which it is a part: `initial_accuracy`.
    alike = [path for path in paths(table) if path != (single,) and len(path) == 1]
    is_part = single is not None and any(
        _last_word(name) == _last_word(single) and not is_inverse((name,))
        for (name,) in alike
        if set(scores_of_values(values_of(table, (name,)))) in ({0.0}, {1.0})
    )
    return None if single is None or is_part else (single,)


def ends_like_score(name: str) -> bool:
    """Whether the last word of a name says that a column may be a score; a count is none."""
    return _last_word(name) in ENDS_OF_SCORES and not is_count_of_passes(name)


def _last_word(name: str) -> str:
    return plain(name).rpartition("_")[2]


def is_inverse(path: Column) -> bool:
    """Whether more of a column is worse by its name, as `leakage_score`; who judged it is ignored.

    A verdict on it is a score: `refusal_correct`, `refusal_correct_judge`.
    """
    words = [word for word in plain("_".join(path)).split("_") if word not in NOT_MODELS]
    is_verdict = not VERDICTS.isdisjoint(words[-1:]) and NEGATIONS.isdisjoint(
        plain(path[-1]).split("_")
    )
    return not (is_verdict or INVERSE.isdisjoint(words))


def other_scores(table: Table, score: Column) -> list[Column]:
    """The columns that may be the score instead: verdicts, and other grades where it is one."""
    return [
        path
        for path in paths(table)
        if path != score and not (len(score) > 1 and path[:-1] == score[:-1])
        if is_graded(path) or not is_graded(score)
        if _judges(table, path) or (ends_like_score(path[-1]) and not is_key_name(path[-1]))
        if not (is_inverse(path) or is_count_of_passes(path[-1]))
        if set(scores_of_values(values_of(table, path))) - {None} == {0.0, 1.0}
    ]


def is_count_of_passes(name: str) -> bool:
    """Whether a column is named like how many attempts or tests passed, as `n_correct`."""
    words = plain(name).split("_")
    return not COUNTS.isdisjoint((words[0], words[-1])) and not PASSES.isdisjoint(words)


def _task(table: Table, candidates: Sequence[Column], columns: Columns) -> Column | None:
    """The column that identifies tasks.

    Ids of rows differ even where the question is the same, and a name of the benchmark is the same
    where questions differ: the task has as many values as there are questions, or as first turns
    ask. None if no column does and there is a prompt: it identifies the task itself.
    """
    turns = [path for path in paths(table) if len(path) == 1 and plain(path[0]) in TURN_NUMBERS]
    first_turns = [
        [row for row in table if repeat_of(get(row, *path)) == start]
        for path in turns
        for start in (0, 1)
    ]
    by_rows = (_task_of(rows, candidates, columns) for rows in (table, *filter(None, first_turns)))
    return next(filter(None, by_rows), None)


def _task_of(table: Table, candidates: Sequence[Column], columns: Columns) -> Column | None:
    varying = [path for path in candidates if n_distinct(table, [path]) > 1]
    n_questions = len({as_json(_question(row, columns)) for row in table})
    # A chat may begin with the same words everywhere: then it says nothing about the task.
    if n_questions == 1:
        return next(iter(varying or candidates), None)
    # Benchmarks in one table may number their tasks alike.
    within = [path for path in paths(table) if plain(path[0]) in BENCHMARK_NAMES]
    counts = {path: n_distinct(table, [*within[:1], path]) for path in varying}
    exact = (path for path, n_values in counts.items() if n_values == n_questions)
    # Two tasks may ask the same: then there are more ids than questions, but fewer than rows.
    repeated = (path for path, n_values in counts.items() if n_questions < n_values < len(table))
    # Nearly all rows ask something else: an id of the row is one of the task.
    is_single = n_questions > SINGLE_SHARE * len(table)
    single = (path for path in varying if is_single and counts[path] > SINGLE_SHARE * n_questions)
    return next(exact, None) or next(repeated, None) or next(single, None)


def is_time(value: Any) -> bool:
    return isinstance(value, str) and bool(CLOCK.match(value))


def is_task_name(path: Column) -> bool:
    name = plain(path[-1])
    return name in NAMES_OF["task"] or (name.endswith("_id") and name not in NOT_TASKS)


def is_same_word(value: Any, word: str) -> bool:
    """Whether a value is this word; `true` and numbers are as JSON has them."""
    written = value if isinstance(value, str) else as_json(value)
    return written.strip().casefold() == word.strip().casefold()


def _is_name(value: Any) -> bool:
    return _is_word(value) and bool(re.fullmatch(r"\S+", value))


def chosen_pass(columns: Columns) -> str:
    """The word of the column of verdicts that passes."""
    return ".".join(columns["score"]).removeprefix(f"{'.'.join(columns['verdict'])}{IS}")


def with_computed(row: Object, columns: Columns) -> Object:
    if "verdict" in columns:
        value = get(row, *columns["verdict"])
        is_pass = None if value in (None, "") else is_same_word(value, chosen_pass(columns))
        return {**row, ".".join(columns["score"]): is_pass}
    if columns.get("score") != (OF_GRADER,):
        return row
    return {**row, OF_GRADER: GRADES.get(text(row, "grade") or "")}


def columns_of_runs(
    rows_of: Callable[[], Iterable[tuple[Any, Mapping[str, Any], Columns]]],
) -> list[Column]:
    """The columns that distinguish runs: that of several benchmarks, and conditions.

    Rows come with their table and its columns, and once more if several columns are to be compared.
    Under each of its conditions a model has all tasks of a table equally often; an outcome has
    another share in every task. A model may have one condition alone. What an object of settings
    says of attempts at the same tasks are conditions, too.
    """
    settings: dict[str, ObjectOfSettings] = {}
    sums: dict[Column, dict[int, dict[str, RowsOfValue]]] = {}
    dropped: set[Column] = set()
    first_tasks: dict[int, set[int]] = {}
    benchmarks: dict[Column, Counter[str | None]] = {}
    n_rows: Counter[Any] = Counter()
    tables_of: dict[Column, set[Any]] = {}
    for table, row, columns in rows_of():
        n_rows[table] += 1
        if "benchmark" in columns:
            benchmark = text(row, *columns["benchmark"])
            benchmarks.setdefault(columns["benchmark"], Counter())[benchmark] += 1
        what = "task" if "task" in columns else "prompt"
        model = hash((table, _values_at(row, columns, ("benchmark", "model", "agent"))))
        task = hash((model, _values_at(row, columns, (what,))))
        tasks = first_tasks.setdefault(model, set())
        if len(tasks) < COMPARED_TASKS:
            tasks.add(task)
        dropped.update(columns.values())
        for name, value in row.items():
            if plain(name) in OF_SETTINGS and isinstance(value, Mapping):
                taken = {path[1] for path in columns.values() if path[0] == name and path[1:]}
                settings.setdefault(name, ObjectOfSettings()).add(value, taken, task)
        for path, value in _cells(row):
            if path in dropped:
                continue
            tables_of.setdefault(path, set()).add(table)
            values = sums.setdefault(path, {}).setdefault(model, {})
            is_word = _is_name(value) and len(value) <= LONGEST_VALUE
            if not is_word or (value not in values and len(values) == MOST_VALUES):
                dropped.add(path)
                continue
            values.setdefault(value, RowsOfValue()).add(task, tasks)
    of_benchmarks = [
        path
        for path, counts in benchmarks.items()
        if len(counts) > 1 and counts.total() >= LEAST_OF_BENCHMARK * len(counts)
    ]
    conditions = [
        path
        for path, models in sums.items()
        if path not in dropped
        # An attempt that broke down may lack the object that has it.
        if sum(known.n for values in models.values() for known in values.values())
        >= NEARLY * sum(n_rows[table] for table in tables_of[path])
        if _is_condition(models, first_tasks)
    ]
    of_settings = [(name, one) for name, value in settings.items() for one in value.that_differ()]
    if len(conditions) > 1:
        conditions = _distinct((row for _, row, _ in rows_of()), conditions)
    return [*of_benchmarks, *conditions, *of_settings]


def _distinct(rows: Iterable[Mapping[str, Any]], conditions: Sequence[Column]) -> list[Column]:
    """The conditions without those that others say already; of two that say the same the shorter.

    A condition has an id, often a name and settings that go with it.
    """
    sets = {tuple(text(row, *path) or "" for path in conditions) for row in rows}
    values = {path: {one[place] for one in sets} for place, path in enumerate(conditions)}

    def rank(path: Column) -> tuple[int, float]:
        return -len(values[path]), sum(map(len, values[path])) / len(values[path])

    places = {path: place for place, path in enumerate(conditions)}
    distinct: list[Column] = []
    for path in sorted(conditions, key=rank):
        known = {tuple(one[places[other]] for other in distinct) for one in sets}
        more = {tuple(one[places[other]] for other in (*distinct, path)) for one in sets}
        if len(more) > len(known):
            distinct.append(path)
    return [path for path in conditions if path in distinct]


def _cells(row: Mapping[str, Any]) -> Iterator[tuple[Column, Any]]:
    """The values of a row; those of an object that is none of settings one by one."""
    for name, value in row.items():
        if isinstance(value, Mapping) and plain(name) not in OF_SETTINGS:
            yield from (((name, key), inner) for key, inner in value.items())
        else:
            yield (name,), value


@dataclass
class RowsOfValue:
    """How many rows of a model have a value, the sum of the hashes of their tasks, and some tasks.

    The sum is equal for all values only if they are of the same tasks. Whole tables would fill the
    memory.
    """

    n: int = 0
    sum_of_tasks: int = 0
    of_task: Counter[int] = field(default_factory=Counter)

    def add(self, task: int, compared: Collection[int]) -> None:
        self.n += 1
        self.sum_of_tasks += task
        if task in compared:
            self.of_task[task] += 1


@dataclass
class ObjectOfSettings:
    """An object that says how attempts were made: its values, and the tasks of each set of them."""

    values: dict[str, set[str]] = field(default_factory=dict)
    tasks: dict[str, set[int]] = field(default_factory=dict)
    n_rows: int = 0
    is_of_rows: bool = False

    def add(self, settings: Mapping[str, Any], taken: Collection[str], task: int) -> None:
        if self.is_of_rows:
            return
        known = {name: as_json(value) for name, value in settings.items() if name not in taken}
        whole = as_json(known)
        # A set for each row or so says nothing of runs, and would fill the memory.
        self.is_of_rows = whole not in self.tasks and len(self.tasks) == MOST_SETTINGS
        self.n_rows += 1
        for name, value in known.items():
            self.values.setdefault(name, set()).add(value)
        tasks = self.tasks.setdefault(whole, set())
        if len(tasks) < LEAST_CROSSED:
            tasks.add(task)

    def that_differ(self) -> list[str]:
        """The settings with several values, if attempts at the same tasks have several sets."""
        n_of_task = Counter(task for tasks in self.tasks.values() for task in tasks)
        n_crossed = sum(n_sets > 1 for n_sets in n_of_task.values())
        n_most = self.n_rows / LEAST_OF_BENCHMARK
        if self.is_of_rows or n_crossed < LEAST_CROSSED or len(self.tasks) > n_most:
            return []
        return [name for name, values in self.values.items() if len(values) > 1]


def _values_at(row: Mapping[str, Any], columns: Columns, roles: Sequence[str]) -> str:
    return as_json([get(row, *columns[role]) for role in roles if role in columns])


def _is_condition(
    models: Mapping[int, Mapping[str, RowsOfValue]], tasks: Mapping[int, Collection[int]]
) -> bool:
    """Whether nearly all rows of models with several values are of models with equal tasks."""
    n_crossed, n_rows, n_tasks = 0, 0, 0
    for model, values in models.items():
        if len(values) > 1:
            n_of_model = sum(rows.n for rows in values.values())
            n_rows += n_of_model
            if _is_crossed(list(values.values()), tasks[model]):
                n_crossed += n_of_model
                n_tasks += len(tasks[model])
    return n_tasks >= LEAST_CROSSED and n_crossed >= MOSTLY * n_rows


def _is_crossed(values: Sequence[RowsOfValue], tasks: Collection[int]) -> bool:
    """Whether each value has every task so many times, one perhaps twice as often as another.

    Or nearly every task has as many rows of each value.
    """
    n_even = sum(len({rows.of_task[task] for rows in values}) == 1 for task in tasks)
    is_even = n_even >= NEARLY_ALL_TASKS * len(tasks)
    return is_even or len({Fraction(rows.sum_of_tasks, rows.n) for rows in values}) == 1


def _question(row: Mapping[str, Any], columns: Columns) -> Any:
    if "messages" in columns:
        return question(messages_of(get(row, *columns["messages"])))
    return get(row, *columns["prompt"]) if "prompt" in columns else None


def question(messages: Sequence[Any]) -> Sequence[Any]:
    answers = (place for place, one in enumerate(messages) if get(one, "role") == "assistant")
    return messages[: next(answers, len(messages))]


def is_key_name(name: str) -> bool:
    """Whether a column is named like what is expected, which is no score where it is true."""
    words = plain(name).split("_")
    return not OF_KEYS.isdisjoint(words) or words[-1] in ENDS_OF_KEYS


def possible_scores(table: Table) -> list[str]:
    """Columns that have only two scores, but those whose names say that more of it is worse.

    One that is not named like a score is none if many rows lack it, or if it is a rate.
    """
    return [
        ".".join(path)
        for path in paths(table)
        if not (is_count_of_passes(path[-1]) or is_inverse(path))
        if set(map(score_of, values := values_of(table, path))) == {0.0, 1.0}
        if _is_of_passes(path)
        or (_last_word(path[-1]) not in RATES and len(values) >= MOSTLY * len(table))
    ]


def numbered_scores(table: Table) -> list[Column]:
    """Columns of numbers, also in objects, that are named like scores, means or ratings."""
    return [
        path
        for path in paths(table)
        if not (is_inverse(path) or is_count_of_passes(path[-1]) or is_key_name(path[-1]))
        if not NUMBERED_SCORES.isdisjoint(plain("_".join(path)).split("_"))
        if (values := values_of(table, path)) and 2 * len(values) >= len(table)
        if not any(isinstance(value, bool | str) or number(value) is None for value in values)
    ]


def is_judged(path: Column) -> bool:
    """Whether a column of a row has a number that a judge or a person gave, by its name."""
    return len(path) == 1 and not JUDGED.isdisjoint(plain(path[0]).split("_"))


def _words_of(table: Table, path: Column) -> list[str]:
    """The different words of a column; none if it also has something else, or many of them."""
    values = values_of(table, path)
    words = sorted({value for value in values if _is_word(value) and len(value) <= LONGEST_VALUE})
    are_all = all(value in words for value in values)
    return words if are_all and len(words) <= MOST_VERDICTS else []


def possible_verdicts(table: Table) -> list[tuple[str, list[str]]]:
    """Columns of a few words that most rows have and that judge by their names or their words.

    Words for passes and failures come first. What has words of another column, as those of a
    prediction, or is the same in all rows of a task is expected.
    """
    columns = roles_of(table, {})
    of_task = [columns[role] for role in ("task", "prompt") if role in columns][:1]
    known = {path: words for path in paths(table) if len(words := _words_of(table, path)) > 1}
    judging: list[tuple[str, list[str]]] = []
    naming: list[tuple[str, list[str]]] = []
    for path, words in known.items():
        name = set(plain(path[-1]).split("_"))
        is_shared = any(not set(words).isdisjoint(known[other]) for other in known if other != path)
        n_tasks = n_distinct(table, of_task)
        is_expected = n_tasks < len(table) and n_tasks == n_distinct(table, [*of_task, path])
        is_filled = len(values_of(table, path)) >= MOSTLY * len(table)
        if is_shared or is_expected or not is_filled or name & (OF_KEYS - OF_VERDICTS):
            continue
        if any(set(plain(word).split("_")) & JUDGING for word in words):
            judging.append((".".join(path), words))
        elif name & OF_VERDICTS:
            naming.append((".".join(path), words))
    return judging + naming


def word_that_passes(table: Table) -> dict[str, str]:
    """The score and the word that passes: of one column alone, which has one such word.

    Rows without an output or the name of a model may be judged things other than attempts.
    """
    if not roles_of(table, {}).keys() & {"output", "messages", "model", "agent"}:
        return {}
    chosen = [
        {"score": name, "pass": passing[0]}
        for name, words in possible_verdicts(table)
        if len(passing := [word for word in words if word.casefold() in WORDS_THAT_PASS]) == 1
    ]
    return chosen[0] if len(chosen) == 1 else {}


def _is_of_passes(path: Column) -> bool:
    """Whether a word of a name is one for passes or scores, as of `pass_rate`."""
    return not PASSES.isdisjoint(plain(path[-1]).split("_"))


def is_numbering(
    rows: Iterable[Mapping[str, Any]],
    columns: Columns,
    of_runs: Sequence[Column] = (),
) -> bool:
    """Whether a column numbers the repeats of tasks: there are some, and each has its number."""
    roles = ("benchmark", "model", "agent", "task" if "task" in columns else "prompt")
    named = [*of_runs, *(columns[role] for role in roles if role in columns)]
    # Of many rows their hashes: whole texts would fill the memory.
    attempts, numbered = set(), set()
    for row in rows:
        attempt = hash(as_json([get(row, *path) for path in named]))
        number_of_row = hash((attempt, as_json(get(row, *columns["repeat"]))))
        if number_of_row in numbered:
            return False
        attempts.add(attempt)
        numbered.add(number_of_row)
    return len(attempts) < len(numbered)


def turns_of(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    columns: Columns,
    of_runs: Sequence[Column],
    turn: Column,
) -> list[list[tuple[int, float | None]]]:
    """The rows of each attempt by place, with their scores, if a column numbers its turns.

    Turns count from 0 or 1, in the order of rows; else there are none.
    """
    roles = ("benchmark", "model", "agent", "task" if "task" in columns else "prompt", "repeat")
    named = [*of_runs, *(columns[role] for role in roles if columns.get(role, turn) != turn)]
    attempts: dict[int, list[tuple[int, float | None]]] = {}
    starts: set[int] = set()
    for place, row in rows:
        attempt = attempts.setdefault(hash(as_json([get(row, *path) for path in named])), [])
        number_of_row = repeat_of(get(row, *turn))
        starts.add(-1 if number_of_row is None else number_of_row - len(attempt))
        attempt.append((place, score_of(get(row, *columns["score"]))))
    return list(attempts.values()) if starts in ({0}, {1}) else []


def end_with_passes(attempts: Iterable[Sequence[tuple[int, float | None]]]) -> bool:
    """Whether no attempt goes on after a pass, some do after a failure, and passes end some early.

    Repeats of a task that are independent go on after a pass.
    """
    n_turns: Counter[int] = Counter()
    n_ended: Counter[int] = Counter()
    for rows in attempts:
        scores = [score for _, score in rows]
        if any(score is not None and score >= 1 for score in scores[:-1]):
            return False
        n_turns[len(rows)] += 1
        n_ended[len(rows)] += scores[-1] is not None and scores[-1] >= 1
    longest = max(n_turns, default=0)
    n_early = n_turns.total() - n_turns[longest]
    n_passed_early = n_ended.total() - n_ended[longest]
    n_several = n_turns.total() - n_turns[1]
    return min(n_passed_early, n_several) >= LEAST_CROSSED and n_passed_early >= MOSTLY * n_early


def n_distinct(table: Table, wanted: Sequence[Column]) -> int:
    return len({as_json([get(row, *path) for path in wanted]) for row in table})


def is_duration(name: str) -> bool:
    match = DURATION.search(plain(name))
    return match is not None and plain(name)[: match.start()] in ("", "total")


def is_score_name(path: Column) -> bool:
    return plain(path[-1]) in NAMES_OF["score"]


def described(
    columns: Columns,
    of_runs: Sequence[Column],
    table: Table,
    *,
    turn: Column = (),
    is_word: bool = False,
) -> str:
    """How a table is read, in one line: `task = id, score = correct (boolean), ...`.

    Columns without a role come last: they are fields of the rows. `turn` numbers the turns of an
    attempt. `is_word` says that the scores,
    also of tables beside it, are words for true and false.
    """
    by_role = {role: ".".join(columns[role]) for role in SHOWN if role in columns}
    if "score" in columns:
        values = values_of(table, columns["score"])
        is_named = "verdict" in columns
        known = ["other words fail" if is_named else _type(values, is_word=is_word)]
        if instead := other_scores(table, columns["score"]):
            known.append(f"may be {' or '.join(map('.'.join, instead))} instead")
        by_role["score"] += f" ({'; '.join(known)})"
    listed = [f"{role} = {column}" for role, column in by_role.items()]
    if "task" not in columns:
        by = "prompt" if columns.keys() & {"prompt", "messages"} else "row"
        listed.append(f"one task per {by}")
    if "repeat" not in columns:
        listed.append("repeats not numbered")
    if turn:
        listed.append(f"rows of one attempt are its turns ({'.'.join(turn)}), and the last counts")
    if of_runs:
        listed.append(f"one run per {' and '.join('.'.join(path) for path in of_runs)}")
    taken = {path[0] for path in (*columns.values(), *of_runs)}
    others = [path[0] for path in paths(table) if len(path) == 1 and path[0] not in taken]
    if others:
        more = ", ..." * (len(others) > MOST_OTHERS)
        listed.append(f"other columns: {', '.join(others[:MOST_OTHERS])}{more}")
    return ", ".join(listed)


def _type(values: Values, *, is_word: bool) -> str:
    """What scores are, and which other words among them are no pass or no scores."""
    scores = [value for value in values if not is_no_score(value)]
    words = {" ".join(value.split())[:LONGEST_VALUE] for value in values if isinstance(value, str)}
    others = sorted(word for word in words if is_no_score(word))
    is_words = all(isinstance(value, str) and number(value) is None for value in scores)
    is_boolean = all(isinstance(value, bool) for value in scores)
    known = "boolean" if is_boolean else "words" if is_words else "number"
    parts = [known] if scores else ["no number, true and false, or pass and fail"]
    passes = {word for word in others if score_of(word, is_word=is_word) is not None}
    for label, chosen in (("no pass", passes), ("no scores", {*others} - passes)):
        if listed := sorted(chosen):
            more = f" and {len(listed) - MOST_WORDS} more" * (len(listed) > MOST_WORDS)
            parts.append(f"{label}: {', '.join(listed[:MOST_WORDS])}{more}")
    return "; ".join(parts)


def is_no_score(value: Any) -> bool:
    """Whether something is recorded where a score is expected, and none is known for it."""
    return value not in (None, "") and score_of(value) is None
