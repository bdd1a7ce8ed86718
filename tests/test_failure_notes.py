"""What is reported of one failure, and what was looked for and is not there."""

from __future__ import annotations

import json
import re

import duckdb
import pytest

from pipeline.settings import SQL_DIR
from pipeline.warehouse import create_macros
from tests.results import Row, call, called, rollout, steps, tried, wrote
from tests.together import Batch, Case, together, with_pages


def answered(task: int, answer: str, key: str, reward: float, **more: object) -> Row:
    return rollout(task, 0, output=wrote(answer), reward=reward, expected_answer=key, **more)


def always(_task: int) -> bool:
    return True


def never(_task: int) -> bool:
    return False


def notes(found: Case) -> dict[str, list[str]]:
    """The notes of each task."""
    return dict(
        found.rows("select task_id, list(note order by note_no) from failure_notes group by all")
    )


@together
def test_white_space_can_be_seen() -> Batch:
    """Where it is all that differs, blanks and line breaks are marked, and the note says so."""
    rows = [answered(task, f"a{task} b", f"a{task} b", 1.0) for task in range(4)]
    rows += [answered(4, "x  y", "x y", 0.0), answered(5, "no\nyes", "yes", 0.0)]
    found = notes((yield rows))
    assert found["4"][0] == 'answer "x␣␣y", key "x␣y", which differ in white space alone'
    assert found["5"][0] == 'answer "no⏎yes", key "yes"'


@together
def test_long_texts_by_where_they_differ_or_end() -> Batch:
    """Of texts that begin alike the first difference; of others what each comes to.

    An item of a rubric is not what it comes to.
    """
    same, solved = "The same words. " * 8, "Five of them cost two dollars, so "
    rows = [answered(task, f"a{task} b", f"a{task} b", 1.0) for task in range(4)]
    rows += [answered(4, same + "It is 3." + same, same + "It is 4." + same, 0.0)]
    rows += [answered(5, "Step 1: count. " * 8 + "It is 7.", solved * 4 + "#### 8", 0.0)]
    rubric = "Must say what is known.\n" * 4 + "Must not:\n- Invent a source."
    rows += [answered(6, "Step 1: count. " * 8 + "It is 7.", rubric, 0.0)]
    found = notes((yield rows))
    assert "It is 3." in found["4"][0] and "It is 4." in found["4"][0]
    assert found["5"][0].endswith('It is 7.", key "8"')
    assert not any("Invent" in note for note in found.get("6", []))


@together
def test_checks_of_several_groups() -> Batch:
    """Each group is counted, and what fails of the smaller one is named first."""
    rows = [
        rollout(
            task,
            0,
            reward=float(is_fixed),
            to_keep=[{"name": f"keep_{task}_{letter}", "status": "passed"} for letter in "abcdefg"],
            to_fix=[{"name": f"fix_{task}", "status": "passed" if is_fixed else "failed"}],
        )
        for task, is_fixed in enumerate([False, True, False, True])
    ]
    results = yield rows
    note = "to_fix 0 of 1, to_keep 7 of 7 checks met, fails fix_0"
    assert notes(results)["0"] == [note]


@together
def test_times_are_no_notes() -> Batch:
    """How long an attempt took says nothing of how near it came, as an error rate does."""
    measured = {"working_time": lambda task: 10.5 + task, "wer": lambda task: 0.25 + task / 100}
    results = yield tried(6, lambda task: task > 1, **measured)
    assert notes(results)["0"] == ["wer 0.25"]


@together
def test_a_slice_that_a_run_is_weak_in() -> Batch:
    """The passes of a slice beside those of all others, where its interval is apart from theirs."""
    topic = {"topic": lambda task: "hard" if task < 12 else "easy"}
    found = yield tried(40, lambda task: task in (0, 1) or task >= 20, **topic)
    query = """
        select mode, n_passes, n_passes_observed, n_attempts, n_all_attempts
        from findings
        where kind = 'weak'
    """
    assert found.rows(query) == [("topic = hard", 2, 12, 20, 28)]


@together
def test_values_of_one_field_are_one_finding() -> Batch:
    """The commonest first, with how many failures have each of the others."""
    words = {"why": lambda task: "slow" if task < 10 else "wrong" if task < 16 else None}
    found = yield tried(40, lambda task: task >= 20, **words)
    query = "select mode, n_failures, other_values from findings where kind = 'mode'"
    assert found.rows(query) == [("why = slow", 10, ["wrong (6)"])]


@together
def test_wrong_numbers_coincide() -> Batch:
    """The same wrong number at few of many tasks is no sign; at a fifth of them it is."""
    rows = [answered(task, f"{task}", f"{task}", 1.0) for task in range(100, 170)]
    rows += [answered(task, "7" if task < 4 else "8", "no", 0.0) for task in range(24)]
    found = yield rows
    assert found.rows("select mode from findings where kind = 'mode'") == [("answer is 8",)]


@together
def test_parts_of_the_answer_are_no_sign() -> Batch:
    """What a row lists of the model's own words says what it answered."""
    rows = [answered(task, "tea, milk", "tea", 0.0, parsed=["tea", "milk"]) for task in range(10)]
    rows += [answered(task, "tea", "tea", 1.0, parsed=["tea"]) for task in range(10, 30)]
    found = yield rows
    assert found.rows("from signs where name = 'parsed'") == []


@together
def test_a_task_that_has_most_failures() -> Batch:
    """Beside its share of the attempts."""
    found = yield [
        rollout(task, repeat, reward=float(task != 2 or repeat > 7))
        for task in range(6)
        for repeat in range(10)
    ]
    query = "select mode, n_failures, n_attempts, n_all_attempts from findings where kind = 'slice'"
    assert found.rows(query) == [("task = 2", 8, 10, 60)]


@together
def test_how_a_grader_explains_a_failure() -> Batch:
    """What a row calls an explanation is noted, though passes have one, too."""
    long = "The answer names no source, which the question asks for, and gives a date of its own: "
    reasons = {
        "rationale": lambda task: f"{long}{task}.",
        "reasoning": lambda task: f"{long}{task}",
    }
    found = yield tried(12, lambda task: task >= 4, **reasons)
    assert notes(found)["0"] == [f"rationale: {long}0."]


@together
def test_words_that_explain_many_failures() -> Batch:
    """A grader's sentence is a sign where it is the same for many, though it is long."""
    same = "No pattern was found in this answer; it should be reviewed by hand before it counts."
    words = {"explanation": lambda task: same if task < 12 else f"Refused with word {task % 5}."}
    found = yield tried(40, lambda task: task >= 16, **words)
    query = "select mode, n_failures from findings where kind = 'mode'"
    assert found.rows(query) == [(f"explanation = {same}", 12)]


@together
def test_an_answer_that_is_the_key_and_fails() -> Batch:
    """A verdict to look at, where all others who give the key pass; the failure says so, too."""
    rows = [answered(task, f"a{task}", f"a{task}", 1.0) for task in range(25)]
    rows += [answered(25, "a25", "a25", 0.0), *(answered(n, "no", f"a{n}", 0.0) for n in (26, 27))]
    found = yield rows
    query = "select n_failures, n_failures_observed, n_attempts from findings where kind = 'keyed'"
    assert found.rows(query) == [(1, 3, 26)]
    assert notes(found)["25"] == ['the answer is the key, "a25"']


@together
def test_answers_that_have_the_key_among_their_words() -> Batch:
    """Of four failures three name it, as all passes do: it comes first. A long answer is cut."""
    long = "It is not easy to be sure of what was meant by this. " * 3
    rows = [answered(task, f"It is Nile{task}.", f"nile{task}", 1.0) for task in range(20)]
    rows += [answered(n, f"{long}Perhaps Nile{n}. {long}", f"nile{n}", 0.0) for n in (20, 21, 22)]
    found = yield [*rows, answered(23, "the Amazon", "nile23", 0.0)]
    query = """
        select n_failures, n_failures_observed, n_passes, n_passes_observed, run_id, is_of_scores
        from findings
        where kind = 'names_key' and finding_no = 1
    """
    assert found.rows(query) == [(3, 4, 20, 20, None, True)]
    (note,) = notes(found)["20"]
    assert "Perhaps Nile20. It is" in note and note.endswith('", key "nile20"')


@together
def test_answers_that_passes_rarely_name_show_no_verdict() -> Batch:
    """Where passes do not name the key, either, it says nothing that failures do."""
    rows = [answered(task, f"yes {task}", f"Nile {task}", 1.0) for task in range(20)]
    found = yield [*rows, *(answered(n, f"The Nile {n}.", f"Nile {n}", 0.0) for n in (20, 21, 22))]
    assert found.rows("from findings where kind = 'names_key'") == []


@pytest.mark.parametrize(
    ("answer", "key", "is_named"),
    [
        ("The longest river is the River Nile, in Africa.", "river nile", True),
        ("The longest river is the Nilex.", "Nile", False),
        ("River Nile.", "river nile", False),
        ("The answer is **B) nest**.", "B", True),
        ("It is **B) nest**, as A) tree and C) box are none.", "B", True),
        ("A) tree, B) nest or C) box?", "A", False),
        ("A) tree, not B)", "C", False),
        ("It is 1,024 in all.", "1024", True),
        ("3 of 4 are $7.00.", "7", True),
        ("It is 7 in 3 years.", "7", False),
        ("This is true of all.", "true", False),
    ],
)
def test_what_names_a_key(answer: str, key: str, is_named: bool) -> None:
    """Whole words, the letter of an option where no other is named, and the last number."""
    with duckdb.connect() as db:
        create_macros(db, SQL_DIR)
        assert db.execute("select names_key(?, ?)", [answer, key]).fetchone() == (is_named,)


@together
def test_what_is_wrong_with_every_key_is_no_wrong_verdict() -> Batch:
    """Where many who give the key fail, more than the key decides."""
    rows = [answered(task, f"a{task}", f"a{task}", float(task % 4 > 0)) for task in range(24)]
    found = yield rows
    assert found.rows("from findings where kind = 'keyed'") == []


@together
def test_what_the_verifier_says_is_no_answer() -> Batch:
    """What the text does not say was not taken from it: tallies, verdicts, placeholders."""
    rows = [
        rollout(task, 0, output=wrote(f"Text {task}."), reward=1.0, extracted_answer="n/a (clean)")
        for task in range(10)
    ]
    answers = ["1/3 checks", "2 out of 4", "incorrect", "n/a (clean)", "blue", "3/4"]
    rows += [
        rollout(task, 0, output=wrote(f"So 3/4, {task}."), reward=0.0, extracted_answer=answer)
        for task, answer in enumerate(answers, start=10)
    ]
    found = notes((yield rows))
    taken = {note for listed in found.values() for note in listed if "recorded answer" in note}
    assert taken == {'the recorded answer is "3/4"'}


@together
def test_the_name_of_a_task_is_no_key() -> Batch:
    """A field that every row has and that says which task it is of."""
    rows = tried(8, lambda n: n % 2, output=lambda n: wrote(f"text {n}"), target=str)
    assert not [note for listed in notes((yield rows)).values() for note in listed if "key" in note]


@together
def test_a_list_of_nothing_says_nothing() -> Batch:
    words = "after the run these unexpected files were found: "
    rows = [*tried(4, always), rollout(4, 0, reward=0.0, says=f"{words}[]")]
    rows += [rollout(5, 0, reward=0.0, says=f"{words}['a.txt']")]
    assert notes((yield rows)) == {"5": [f"says: {words}['a.txt']"]}


@together
def test_the_grader_is_not_the_model() -> Batch:
    """A scorer that repeats the answer explains nothing; what another text says is quoted.

    What is the answer again is no field of the row either.
    """
    why = "The submission leaves out the second part of the question."

    def row(task: int, answer: str, **scored: str) -> Row:
        score = {"name": "judge", "score": int(task > 2), **scored}
        return answered(task, answer, "Paris and Rome", float(task > 2), scores=[score])

    rows = [row(task, "Paris and Rome", completion="Paris and Rome") for task in range(3, 8)]
    echoed = [f"Paris is the capital of {name}." for name in ("France", "Gaul", "Texas")]
    rows += [
        row(0, echoed[0], completion=echoed[0]),
        row(1, echoed[1], completion=echoed[1], reason=why),
        # The same words, otherwise set.
        row(2, echoed[2], completion="**Paris** is the capital\nof Texas", reason=why),
    ]
    for each in rows:
        each["extracted_answer"] = each["response"]["output"][0]["content"]
    shown = [[f'answer "{answer}", key "Paris and Rome"'] for answer in echoed]
    grader = f"the grader: {why}"
    assert notes((yield rows)) == {
        "0": shown[0],
        "1": [*shown[1], grader],
        "2": [*shown[2], grader],
    }


@together
def test_data_is_no_explanation() -> Batch:
    """However long it is; of a long text its end is quoted, from behind where it was cut."""

    def row(task: int, why: str) -> Row:
        score = {"name": "judge", "score": int(task > 1), "reason": why}
        return rollout(task, 0, reward=float(task > 1), scores=[score])

    data = json.dumps({"seats": [f"row {number}" for number in range(200)]})
    long = "First this was looked at. " * 40 + "In the end the second part is missing."
    found = notes((yield [row(0, data), row(1, long), *(row(task, "") for task in (2, 3, 4))]))
    assert "0" not in found
    (quoted,) = found["1"]
    assert quoted.startswith("the grader: …") and quoted.endswith("the second part is missing.")
    assert quoted.count("…") == 1


@together
def test_without_a_pass_what_tasks_say_is_no_reason() -> Batch:
    """A text that every failure has for itself; one that several have is a reason."""
    rows = tried(
        4,
        never,
        about=lambda n: f"{'long ago and far away, '[n:]} there was a town of {n * 7} houses",
        log=lambda n: f"the verifier gave up after {n + 3} seconds and wrote no verdict",
    )
    for task, listed in notes((yield rows)).items():
        wrote = f"the verifier gave up after {int(task) + 3} seconds and wrote no verdict"
        assert listed == [f"log: {wrote}"]


@together
def test_what_had_nothing_to_check_is_not_met() -> Batch:
    """A part of the reward over an empty list, and a check that every attempt passes."""

    def row(task: int, *failing: str, has_facts: bool = True) -> Row:
        names = ("state", "facts", "tone", "safe")
        parts = {name: float(name not in failing) for name in names}
        listed = ["a", "b"] if has_facts else []
        return rollout(
            task, 0, reward=float(not failing), reward_components=parts, facts_expected=listed
        )

    rows = [row(task) for task in range(4)]
    rows += [row(4, "state"), row(5, "state", has_facts=False), row(6, "facts"), row(7, "tone")]
    assert {task: listed[0] for task, listed in notes((yield rows)).items()} == {
        "4": "2 of 3 checks met, fails state",
        "5": "1 of 2 checks met, fails state",
        "6": "2 of 3 checks met, fails facts",
        "7": "2 of 3 checks met, fails tone",
    }


@together
def test_names_of_tasks_are_no_notes() -> Batch:
    """A field that differs in every failure is left out, what two share is not."""

    def row(task: int, reward: float, **fields: object) -> Row:
        # Those of failures alone are short enough to be listed.
        question = "Who?" if task == 4 else f"Who is number {task}? " * 5
        names = {"db": f"{'abcdefgh'[task]}_shop", "question": question}
        return rollout(task, 0, reward=reward, **names, **fields)

    rows = [row(task, 1.0, end="stop", labels=[]) for task in range(4)]
    rows += [row(4, 0.0, end="cut", labels=["late"]), row(5, 0.0, end="cut", labels=["rude"])]
    assert notes((yield rows)) == {
        "4": ["end = cut", "labels has late"],
        "5": ["end = cut", "labels has rude"],
    }


@together
def test_a_call_that_differs_shows_what_differs() -> Batch:
    """The argument alone, expected beside given; of an error what was answered."""
    wanted = [{"name": "book", "arguments": {"user": "mei", "seat": "4A", "day": "monday"}}]

    def row(task: int, reward: float, day: str, answer: str = "ok") -> Row:
        output = called("book", {"user": "mei", "seat": "4A", "day": day}, answer)
        return rollout(task, 0, reward=reward, output=output, expected_calls=wanted)

    rows = [row(task, 1.0, "monday") for task in range(3)]
    rows += [row(3, 0.0, "friday"), row(4, 0.0, "monday", "Error: the flight is full")]
    rows += [row(5, 0.0, "friday", "Error: no such flight")]
    differs = 'day: expected "monday", got "friday"'
    assert {task: listed[0] for task, listed in notes((yield rows)).items()} == {
        "3": f"book called otherwise: {differs}",
        "4": "book called as expected, answered with an error: the flight is full",
        "5": f"book called otherwise, and refused: {differs} → no such flight",
    }


@together
def test_what_a_grader_got_and_expected() -> Batch:
    """Two fields beside the verdict, equal in passes alone; the key is the one a task has once."""

    def row(run: int, task: int) -> Row:
        is_pass = (run + task) % 3 > 0
        got = f"[{task}]" if is_pass else f'["{run} of {task}"]'
        grade = {"correct": is_pass, "got": got, "expected": [task], "note": "n"}
        return rollout(task, 0, reward=float(is_pass), output=wrote("FINISH"), grade=grade)

    found = yield {f"run{run}": [row(run, task) for task in range(6)] for run in range(3)}
    answered = "select note from failure_notes where kind = 'answer' and task_id = '4'"
    assert found.rows(answered) == [('answer "["2 of 4"]", key "[4]"',)]


@together
def test_a_user_whom_nobody_answers() -> Batch:
    """Listed where passes end with the model's words, or where an expected call was never made."""
    yes = {"type": "message", "role": "user", "content": "Yes, go on."}
    ends = [
        wrote("Shall I?"),
        [*wrote("Shall I?"), yes],
        [*wrote("Bye."), {**yes, "content": "END"}],
    ]
    found = yield tried(8, lambda n: n > 2, output=lambda n: [*ends, *[wrote("Done.")] * 5][n])
    query = "select task_id, note, seq from failure_notes where kind = 'ending'"
    note = 'ends with a message of the user: "Yes, go on."'
    assert found.rows(query) == [("1", note, 2)]


@with_pages
def test_what_a_card_says_was_asked() -> Batch:
    """Not what all questions of the benchmark begin with."""
    preamble = "Answer with one word. " * 10
    found = yield tried(4, bool, ask=lambda task: f"{preamble}card {task}?")
    assert "Asked: `…0?" in found.report


@with_pages
def test_a_card_without_what_most_tasks_say() -> Batch:
    """Sentences that most tasks have are no question, wherever they are and whoever lacks them."""
    rules = ["You are on duty.", "Reply in French.", "Use no tool twice."]

    def ask(task: int) -> str:
        first, second, third = rules
        if task == 3:
            return "Which card is red?"
        return f"Case {task}. {first} {second}\nWhere is card {task}?\n{third} Thanks."

    found = yield tried(4, bool, ask=ask)
    assert " Case 0. … Where is card 0?`" in found.report


@with_pages
def test_a_question_that_all_tasks_ask() -> Batch:
    """A placeholder is not what was asked."""
    found = yield tried(4, bool, ask="problem_id", expected_answer=str)
    assert "### Task `0`" in found.report and "Asked:" not in found.report


@with_pages
def test_a_limit_that_nobody_records() -> Batch:
    """If every attempt has as many turns, that is reported; an answer is the model's last word."""

    def row(task: int, index: int, n_turns: int) -> Row:
        turns = [[*wrote(f"move {n}"), {**wrote("no")[0], "role": "user"}] for n in range(n_turns)]
        return rollout(task, index, reward=0.0, output=[item for turn in turns for item in turn])

    found = yield {
        "short": [row(0, index, 12) for index in range(3)],
        "long": [row(0, index, 40) for index in range(3)],
        "varied": [row(0, index, n) for index, n in enumerate((11, 12, 15, 15))],
    }
    query = "select value, count(*) from signs where kind = 'limit' group by all order by all"
    assert found.rows(query) == [
        ("at 12, the largest of the run", 3),
        ("at 40, the largest of the run", 3),
    ]
    query = "select n_observed, n_answering, n_empty, limit_kinds from report.looked"
    assert found.rows(query) == [(10, 0, 0, [])]
    assert "`turns at 12, the largest of the run`: 3 of 10 failures" in found.report
    assert "empty answers" not in found.report


@with_pages.each(
    (["a", "b", "c", "d"], 0),
    (["a", None, "", "d"], 2),
    ([None, None, None, None], 4),
    (["", None, None, ""], 4),
)
def test_what_no_answer_was_taken_from(answers: list[str | None], n_empty: int) -> Batch:
    """An answer that the verifier did not find is empty, also where it found none at all."""
    found = yield tried(4, lambda task: task == 0, extracted_answer=answers.__getitem__)
    assert found.rows("select n_empty, n_observed from report.looked") == [(n_empty, 4)]
    assert ("empty answers (0 of 4)" in found.report) == (n_empty == 0)


@with_pages.each(
    ([], "(0 of 6)"),
    # A call that nothing follows is no message.
    ([steps(["look", {}])], "(0 of 6 that end with a message; 1 ends without one)"),
    ([wrote("")], None),
    ([wrote(" \n\t")], None),
    ([steps("first", ["look", {}, "ok"], "")], None),
)
def test_what_ends_without_words(outputs: list[list[Row]], words: str | None) -> Batch:
    """Attempts that end with an empty message have an empty answer, and are among those counted."""
    answers = [wrote(f"it is {task}") for task in range(6)]
    found = yield [
        rollout(task, 0, reward=float(task < 4), output=output)
        for task, output in enumerate([*answers, *outputs])
    ]
    assert found.one("select count(*) from signs where sign = 'answer is empty'") == (words is None)
    query = "select n_answering, n_empty from report.looked"
    assert found.rows(query) == [(7, 1) if words is None else (6, 0)]
    assert (f"empty answers {words}" in found.report) == (words is not None)


@together
def test_nothing_failed_where_nothing_is_scored() -> Batch:
    rows = [rollout(task, 0, reward=None) for task in range(4)]
    found = yield rows
    assert found.rows("select n_scored, n_failures from report.looked") == [(0, 0)]


@together
def test_the_same_words_at_several_tasks() -> Batch:
    """A text that many tasks get is a sign, whether they pass or not; one of its own is not."""
    canned = "I apologize, but I was unable to answer."
    text = {"output": lambda task: wrote(canned if task < 5 else f"it is {task}")}
    found = yield tried(10, lambda task: task > 3, **text)
    query = "select task_id, sign from signs where value like 'is given at several%' order by 1"
    sign = f"answer is given at several tasks: {canned}"
    assert found.rows(query) == [(str(task), sign) for task in range(5)]


@together
def test_the_same_words_with_other_numbers() -> Batch:
    """Long texts of several tasks that differ in numbers alone are one sign; short ones answer."""
    silence = "Nothing came back from the server within"
    texts = [f"{silence} {30 * (1 + task // 3)} s" for task in range(6)]
    texts += [f"The final answer is {task // 3}." for task in range(6, 12)]
    found = yield [rollout(task, 0, output=wrote(text)) for task, text in enumerate(texts)]
    query = "select value, count(*) from signs where kind = 'answer' group by all order by all"
    assert found.rows(query) == [
        (f"is given at several tasks: {silence} <n> s", 6),
        ("is given at several tasks: The final answer is 2.", 3),
        ("is given at several tasks: The final answer is 3.", 3),
    ]


@together
def test_what_a_test_raised() -> Batch:
    """The last line of a traceback in a check's message is an error; a judge's words are none."""
    frame = 'a.py", line 187, in check\n    raise other\n' + "    deep in the code\n" * 30

    def checks(task: int) -> list[Row]:
        raised = f"{frame}lib.MissingKeyError: no key {task}\n" + "and more of the log\n" * 30
        words = "The answer raises a ValueError: it is wrong, on line 3."
        messages = {0: raised, 1: raised, 2: words}
        return [{"name": "runs", "passed": task > 2, "message": messages.get(task, "")}]

    found = yield tried(5, lambda task: task > 2, test_results=checks)
    query = "select task_id, value from signs where kind = 'error' order by all"
    assert found.rows(query) == [
        (task, value)
        for task in ("0", "1")
        for value in ("lib.MissingKeyError", "lib.MissingKeyError: no key <n>")
    ]
    (message,) = found.column("select message from checks where task_id = '0'")
    assert message.startswith("a.py") and message.endswith("lib.MissingKeyError: no key 0")


@together.each(
    # Free answers, of which one comes three times; few letters to choose from; many letters.
    (["unknown"] * 3 + [str(task) for task in range(9)], ["unknown"] * 3),
    (["A"] * 6 + ["B"] * 6, []),
    (["A", "B"] * 50, ["A", "B"] * 50),
    # The same at two tasks may be chance.
    (["unknown"] * 2 + [str(task) for task in range(10)], []),
)
def test_a_short_answer_at_several_tasks(answers: list[str], shown: list[str]) -> Batch:
    """It is a sign by its words; a choice among a few only where many chose."""
    found = yield [
        rollout(task, 0, reward=0.0, output=wrote(answer)) for task, answer in enumerate(answers)
    ]
    query = "select count(*), value from signs where kind = 'answer' group by value order by value"
    counts = sorted({(shown.count(answer), f"is {answer}") for answer in shown})
    assert found.rows(query) == counts


@together
def test_totals_of_several_kinds_are_added() -> Batch:
    """6 of 7 and 31 of 31 are 37 of 38; where one is the sum of the others, it is all."""
    rows = [
        rollout(1, 0, reward=0.0, f2p_passed=6, f2p_total=7, p2p_passed=31, p2p_total=31),
        rollout(
            2, 0, reward=0.0, a_passed=1, a_total=2, b_passed=3, b_total=3, n_passed=4, n_total=5
        ),
    ]
    found = yield rows
    query = "select n_checks_met, n_checks_total from rollouts order by task_id"
    assert found.rows(query) == [(37, 38), (4, 5)]


@together
def test_tasks_tried_once_are_not_never_passed() -> Batch:
    """Two tasks with two failures each among tasks that have one attempt."""
    rows = [rollout(task, repeat, reward=0.0) for task in (1, 2) for repeat in (0, 1)]
    rows += [rollout(task, 0, reward=float(task % 2)) for task in range(3, 9)]
    rows += [rollout(task, repeat, reward=1.0) for task in (9, 10, 11) for repeat in (0, 1)]
    found = yield rows
    query = "select n_tasks, n_all_tasks, n_failures, is_of_some from findings where kind = 'never'"
    assert found.rows(query) == [(2, 5, 4, True)]


@together
def test_never_passed_of_few_tasks_is_no_finding() -> Batch:
    """Two of four tasks that were tried twice are no pattern."""
    rewards = {0: 0.0, 1: 0.0, 2: 1.0, 3: 1.0}
    found = yield [
        rollout(task, repeat, reward=reward)
        for task, reward in rewards.items()
        for repeat in (0, 1)
    ]
    assert found.rows("select kind from findings") == []


@with_pages
def test_few_failures_are_listed() -> Batch:
    """Of three failures each is listed; what they share is counted in the table alone."""
    text = {"output": lambda task: wrote("```json" if task < 3 else f"{task}")}
    found = yield tried(9, lambda task: task > 2, **text)
    mode = "answer begins with a code fence"
    query = (
        "select n_failures, n_failures_observed, n_passes from failure_modes where run_id is null"
    )
    assert found.rows(f"{query} and mode = '{mode}'") == [(3, 3, 0)]
    assert found.rows("select mode from findings") == []
    summary = found.report.partition("## Artifact Inventory")[0]
    assert summary.count(mode) == 3 and f"1. `{mode}`" not in summary


@together
def test_kinds_of_task_are_no_notes() -> Batch:
    """Of a word that passes have others of; one of failures alone is one, and how they ended."""
    found = yield tried(
        5,
        lambda task: task > 2,
        level=lambda task: "easy" if task > 2 else "hard",
        stop_reason=lambda task: "none" if task > 2 else "cut",
        gate=lambda task: None if task > 2 else "late",
    )
    assert notes(found) == {str(task): ["gate = late", "stop_reason = cut"] for task in range(3)}
    assert not found.rows("select mode from failure_modes where mode like 'level%'")


@together
def test_a_run_without_transcripts_may_have_run() -> Batch:
    """Attempts without a grade never ran only where others of the run have a transcript."""
    fields = {"parser": {"a": "passed", "b": "failed"}}
    rows = [
        rollout(task, repeat, reward=0.0, output=[], **({"parser": None} if task == 0 else fields))
        for task in range(6)
        for repeat in (0, 1)
    ]
    rows += [rollout(6, repeat, reward=1.0, output=[], **fields) for repeat in (0, 1)]
    rows += [rollout(7, repeat, reward=1.0, output=[], **fields) for repeat in (0, 1)]
    found = yield rows
    query = "select n_tasks, n_not_run_tasks from findings where kind = 'never'"
    assert found.rows(query) == [(5, 0)]


@together.each(("error_message", "could not reach the server"), ("stop_reason", "max_steps"))
def test_a_reason_that_all_attempts_state(name: str, value: str) -> Batch:
    """Where none passes it comes first; what else all rows say alike is no reason."""
    found = yield tried(6, never, split="test", **{name: value})
    query = "select mode, n_failures, n_failures_observed from findings"
    assert found.rows(query) == [(f"{name} = {value}", 6, 6)]


@together.each(("stop_reason", "end_turn"), ("status", "failed"), ("split", "max_steps"))
def test_how_attempts_usually_end_is_no_reason(name: str, value: str) -> Batch:
    """Nor is a verdict, or a field that nobody calls so."""
    found = yield tried(6, never, **{name: value})
    assert found.rows("select mode from findings") == []


@together
def test_an_error_that_differs_in_numbers_is_one_reason() -> Batch:
    """What the texts share is the reason, wherever it is recorded."""
    found = yield tried(6, never, detail=lambda task: f"Error: port 80{task} refused")
    assert found.rows("select mode, n_failures from findings") == [
        ("detail = Error: port <n> refused", 6)
    ]


@together
def test_calls_written_as_text() -> Batch:
    """An object with the name of a tool and arguments, where the tool is given and not called."""
    tools = [{"type": "function", "name": "book", "parameters": {"type": "object"}}]
    written = '{"name": "book", "arguments": {"seat": 1}}'
    texts = [
        f"<tool_call>\n{written}\n</tool_call>",
        f"I will book it now:\n```json\n{written}\n```",
        '{"arguments": {"seat": 1}, "name": "book"}',
        '{"name": "other", "arguments": {}}',
        'The field "name": "book" is set.',
        "Done.",
        f"I called {written}.",
    ]
    rows = [rollout(task, 0, output=wrote(text), reward=0.0) for task, text in enumerate(texts)]
    rows[6]["response"]["output"] = [*called("book", {"seat": 1}), *wrote(texts[6])]
    for row in rows:
        row["responses_create_params"]["tools"] = tools
    unwritten = rollout(7, 0, output=wrote(texts[0]), reward=0.0)
    found = yield {"given": rows, "none": [unwritten]}
    query = "select task_id from signs where value = 'has a call written as text, not made'"
    assert found.rows(f"{query} order by all") == [("0",), ("1",), ("2",)]


@with_pages
def test_the_question_that_a_row_names() -> Batch:
    """Of a long prompt what a field says is asked; not what only names the task."""
    schema = "\n".join(f"CREATE TABLE t{{0}}_{n} (a INT);" for n in range(9))
    asks = [f"{schema.format(task)}\nHow many rows has t{task}_1? Go." for task in range(4)]
    question = {"question": lambda task: f"How many rows has t{task}_1?"}
    found = yield tried(4, bool, ask=asks.__getitem__, **question)
    assert "Asked: `…How many rows has t0_1?`" in found.report


@together
def test_cases_of_one_test() -> Batch:
    """They are checks of their own, with anything in their brackets, and are counted in a note."""
    cases = ["[a b]", "[c, d - e]", "[f[0]]"]
    lines = [f"t.py::test_x{case} {{}}" for case in cases] + ["t.py::test_y PASSED"]
    failed = [f"FAILED t.py::test_x{case} - AssertionError: not {case}" for case in cases]

    def row(task: int, index: int) -> Row:
        passed = task > 1 or index
        log = [line.format("PASSED" if passed else "FAILED") for line in lines]
        log += [] if passed else failed
        log += [f"t.py::test_z{'[0]' if task else ''} {'PASSED' if index else 'FAILED'}"]
        return rollout(task, index, reward=float(index), log="\n".join(log))

    found = yield [row(task, index) for task in range(4) for index in (0, 1)]
    query = "select distinct check_name from checks where check_name like '%test_x%' order by all"
    assert found.rows(query) == sorted((f"t.py::test_x{case}",) for case in cases)
    query = "select note from failure_notes where kind = 'checks' and task_id = '1'"
    note = "fails 3 cases of t.py::test_x, t.py::test_z[0]"
    assert found.rows(query) == [(note,)]


@together.each((3, False), (4, True))
def test_tasks_that_nobody_passes_hold_failures(n_never: int, is_early: bool) -> Batch:
    """They are listed after one mode where a quarter of all failures is theirs.

    Of 24 tasks with 4 attempts each these fail always, the others in 2 attempts, with one of four
    errors or none.
    """
    rows = []
    for task in range(24):
        for index in range(4):
            fails = task < n_never or index > 1
            kinds = ("disk", "network", "quota", "format")
            answer = f"Error: {kinds[task % 4]} trouble" if fails and task >= n_never else "ok"
            output = called("save", {}, answer)
            rows.append(rollout(task, index, reward=float(not fails), output=output))
    found = yield rows
    n_failures = 4 * n_never + 2 * (24 - n_never)
    (row,) = found.rows("""
        select finding_no, n_tasks, n_failures, n_failures_observed from findings
        where kind = 'never'
    """)
    assert row == (2 if is_early else 5, n_never, 4 * n_never, n_failures)


@together
def test_arguments_as_python_writes_them() -> Batch:
    """A list in a text, and an object with single quotes, are what they say."""
    wanted = [{"name": "swap", "arguments": {"ids": ["2", "1"], "user": "mei"}}]
    rows = []
    for task, given in enumerate(
        (
            '{"ids": "[\'1\', \'2\']", "user": "mei"}',
            "{'ids': ['1', '2'], 'user': 'mei'}",
            """{'ids': "['1', '2']", 'user': "mei", 'note': None}""",
            '{"ids": ["3"], "user": "mei"}',
        )
    ):
        output = [
            {"type": "function_call", "name": "swap", "arguments": given, "call_id": "c"},
            {"type": "function_call_output", "call_id": "c", "output": "ok"},
        ]
        rows.append(rollout(task, 0, reward=float(task < 3), output=output, expected_calls=wanted))
    found = yield rows
    query = "select task_id, status from expected_calls order by 1"
    assert found.rows(query) == [("0", "made"), ("1", "made"), ("2", "made"), ("3", "differs")]


@with_pages
def test_without_grades_nothing_fails() -> Batch:
    """Where no attempt is graded, pages count attempts, not failures; how they end is no reason."""
    rows = [
        rollout(
            *(task, 0),
            output=wrote(f"text {task}"),
            reward=None,
            stop_reason="length" if task < 4 else "stop",
            error_message=None,
        )
        for task in range(12)
    ]
    for row in rows[:4]:
        row["response"]["incomplete_details"] = {"reason": "max_output_tokens"}
    found = yield rows
    assert set(found.rows("select has_grades from failure_modes")) == {(False,)}
    assert not found.rows("from failure_notes where note similar to '.* is null|.* = stop'")
    text = found.report
    assert "4 of 12 attempts (none is graded)" in text
    assert not re.search(r"of \d+ failures|no pass\b|stop_reason = stop|is null", text)
    shown = call("failures", found.name, "--warehouse", found.path).stdout
    assert "none of 12 attempts is graded" in shown
    assert "ungraded attempts" not in shown


@together
def test_an_error_of_the_only_attempt_of_a_run() -> Batch:
    """It is no setting of that run; and what a row says under two spellings is listed once."""
    error = {"error": "RetryError: You exceeded your quota."}
    results = yield {
        "a": [rollout(task, 0, ask=f"error {task}", reward=1.0) for task in range(4)],
        "b": [rollout(0, 0, ask="error 0", reward=0.0, endsWith="bad", ends_with="bad", **error)],
        "c": [
            rollout(n, 0, ask=f"error {n}", reward=0.0, endsWith="bad", ends_with="bad")
            for n in (1, 2)
        ],
    }
    assert "error: RetryError: You exceeded your quota." in notes(results)["0"]
    query = "select distinct name from signs where kind = 'field' and value = 'bad'"
    assert results.column(query) == ["endsWith"]


@together
def test_a_null_alone_is_no_reason() -> Batch:
    """It is one where every pass fills the field."""
    rows = [rollout(task, 0, reward=1.0, patch=f"diff {task}", error=None) for task in range(12)]
    rows += [rollout(task, 0, reward=0.0, patch=None, error=None) for task in range(12, 14)]
    rows += [rollout(task, 0, reward=0.0, patch=f"diff {task}") for task in range(14, 18)]
    rows[0]["note"], rows[13]["note"], rows[14]["note"] = None, None, None
    expected = {"12": ["patch is null"], "13": ["note is null", "patch is null"]}
    assert notes((yield rows)) == expected


@together
def test_what_passes_fail_too_decides_nothing() -> Batch:
    """The part that decides is named, not a step that passes leave out as often."""

    def row(task: int, *, is_pass: bool) -> Row:
        has_parts = task < 3 or 6 <= task < 9
        steps = [
            {"name": "look", "met": task % 2 == 0},
            {"name": "write", "met": is_pass or has_parts},
        ]
        parts = {"SAY": float(is_pass), "DB": 1.0} if has_parts else None
        more = {"parts": parts} if parts else {}
        return rollout(task, 0, output=wrote("."), reward=float(is_pass), moves=steps, **more)

    found = notes((yield [row(task, is_pass=task > 5) for task in range(20)]))
    assert [found[str(task)][0] for task in range(3)] == ["fails SAY"] * 3
    assert [found[str(task)][0] for task in (3, 5)] == ["0 of 2 checks met, fails write"] * 2
    assert found["4"][0] == "1 of 2 checks met, fails write"


@together
def test_the_verdict_explains_nothing() -> Batch:
    """Of few tasks too: the only verdict of its list is no check that fails; one of two is."""

    def row(task: int, reward: int) -> Row:
        verdicts = [{"name": "solved", "ok": reward == 1}]
        parts = {"a": reward == 1, "b": reward == 1 or task == 0}
        return rollout(task, reward, reward=reward, verdicts=verdicts, parts=parts)

    found = yield [row(task, reward) for task in range(2) for reward in range(2)]
    assert notes(found) == {
        "0": ["1 of 2 checks met, fails a"],
        "1": ["0 of 2 checks met, fails a, b"],
    }
    query = "select met_by_pass from report.check_contrasts order by task_id"
    assert found.column(query) == [["a"], ["a", "b"]]


@together
def test_who_never_ran_gave_no_answer() -> Batch:
    """Where most failures have no turn, an answer is known of the others alone."""
    answers = ["unknown"] * 12 + [f"it is {task}" for task in range(12)]
    rows = [
        rollout(task, 0, reward=float(task > 11), output=wrote(answer))
        for task, answer in enumerate(answers)
    ]
    rows += [rollout(24 + task, 0, reward=None, output=[]) for task in range(15)]
    found = yield rows
    assert found.rows("""
        select n_failures, n_failures_observed, n_passes_observed
        from failure_modes
        where mode = 'answer is unknown' and run_id is null
    """) == [(12, 12, 12)]


@together
def test_groups_of_checks() -> Batch:
    """Whose tests differ from task to task: how far failures meet each group."""

    def tests(task: int, states: str) -> list[Row]:
        return [
            {"name": f"t{task}_{no}", "status": "passed" if state == "p" else "failed"}
            for no, state in enumerate(states)
        ]

    states = [("ff", "pp")] * 4 + [("pf", "pp")] * 2 + [("pp", "pf")] + [("pp", "pp")] * 3
    rows = [
        rollout(
            task,
            0,
            reward=float("f" not in wanted + others),
            FAIL_TO_PASS=tests(task, wanted),
            PASS_TO_PASS=tests(100 + task, others),
        )
        for task, (wanted, others) in enumerate(states)
    ]
    found = yield rows
    assert found.rows("""
        select mode, n_failures, n_failures_observed, top_tasks from findings where kind = 'groups'
    """) == [
        (
            "none of FAIL_TO_PASS and all of PASS_TO_PASS",
            4,
            7,
            [
                "some of FAIL_TO_PASS and all of PASS_TO_PASS (2)",
                "all of FAIL_TO_PASS and some of PASS_TO_PASS (1)",
            ],
        )
    ]


@together
def test_nearly_the_score_is_not_the_score() -> Batch:
    """A field that differs from the score in some attempts is listed with how many."""
    grade = {"grade": lambda task: {"ok": task > 9, "db": task > 8}}
    found = yield tried(24, lambda task: task > 9, **grade)
    query = "select same_as_score, nearly_score from report.looked"
    assert found.rows(query) == [(["grade: ok"], ["grade: db (other than the score in 1 attempt)"])]


@together
def test_who_lacks_a_field_does_not_contradict_the_score() -> Batch:
    """Two passes and a failure record no grade."""
    rows = tried(40, lambda task: task > 19, is_right=lambda task: task > 19)
    for row in (rows[0], *rows[-2:]):
        del row["is_right"]
    found = yield rows
    query = "select same_as_score, nearly_score from report.looked"
    assert found.rows(query) == [(["is_right"], [])]


@together
def test_a_card_lists_no_miss_that_its_pass_shares() -> Batch:
    """Of two expected calls that a failure leaves out, the one that the pass makes."""
    wanted = [{"name": name, "arguments": {"id": 1}} for name in ("look", "book")]

    def row(task: int, index: int, *, is_pass: bool) -> Row:
        made = called("book", {"id": 1}) if is_pass else called("wait", {"id": 1})
        return rollout(
            task,
            index,
            output=[*made, *wrote("done")],
            reward=float(is_pass),
            expected_calls=wanted,
        )

    rows = [row(task, index, is_pass=index > 0) for task in range(3) for index in range(2)]
    found = yield rows
    cards = found.column("select notes from report.contrasts")
    assert len(cards) == 3
    for listed in cards:
        assert any(note.startswith("book expected, never called") for note in listed)
        assert not any(note.startswith("look expected") for note in listed)


FAREWELL = [{"type": "message", "role": "user", "content": "thanks"}, *wrote("You're welcome!")]


@with_pages
def test_a_pass_is_shown_where_it_does_what_the_failure_does_not() -> Batch:
    """By the expected call, else by a check; never by a farewell, nor by the failure's words."""

    def row(task: int, *, is_pass: bool) -> Row:
        made = called("book", {"id": 7}) if is_pass and task == 0 else []
        ends = wrote("the same words") if task == 3 else FAREWELL
        more = {"expected_calls": [{"name": "book", "arguments": {"id": 7}}]} if task == 0 else {}
        if task == 1:
            more = {"tests": {"gave_the_sum": is_pass, "was_polite": True, "was_short": True}}
        return rollout(task, 0, output=[*made, *ends], reward=float(is_pass), **more)

    found = yield {
        name: [row(task, is_pass=is_pass) for task in range(4)]
        for name, is_pass in (("a", False), ("b", True))
    }
    shown = dict(found.rows("select task_id, [passing, passing_text] from report.dives"))
    run = f"{found.name}_b"
    assert shown["0"] == [f"{run}/0:0#1", 'book {"id": 7}']
    assert shown["1"] == [f"{run}/1:0", "meets gave_the_sum"]
    # Of a farewell there is nothing to show.
    assert "2" not in shown and shown["3"] == [f"{run}/3:0", None]
    assert "You're welcome" not in found.report


@together
def test_a_conversation_is_not_shown_by_its_last_words() -> Batch:
    """A task that passes sometimes: its checks say what the failure lacks."""
    found = yield [
        rollout(
            task,
            index,
            output=[*wrote("4 bags" if index else "3 bags"), *FAREWELL],
            reward=float(index),
            tests={"gave_the_sum": index > 0, "was_polite": True},
        )
        for task in range(3)
        for index in range(2)
    ]
    assert found.column("select task_id from report.contrasts") == []
    assert found.column("select met_by_pass from report.check_contrasts") == [["gave_the_sum"]] * 3


def based(
    task: int,
    reward: float,
    db: float = 1.0,
    is_met: dict[str, bool] | None = None,
    is_called: bool = True,
) -> Row:
    """A row whose reward is made of `DB` and the facts to tell; the calls are checked beside."""
    breakdown = {"DB": db} | ({"COMMUNICATE": float(all(is_met.values()))} if is_met else {})
    facts = [{"name": name, "met": met} for name, met in (is_met or {}).items()]
    return rollout(
        task,
        0,
        reward=reward,
        reward_basis=["DB", "COMMUNICATE"],
        reward_breakdown=breakdown,
        communicate_checks=facts,
        action_checks=[{"name": "look", "met": is_called}],
    )


@together
def test_the_checks_that_count_are_those_of_the_reward() -> Batch:
    """Their sum is none of them; the others are named as such; one rule for all rows."""
    rows = [based(task, 1.0, is_met={f"fact {task}": True}) for task in range(4)]
    rows += [based(4, 0.0, is_met={"4": False}, is_called=False)]
    rows += [based(task, 0.0, db=0.0, is_called=task != 5) for task in range(5, 8)]
    rows += [based(task, 0.0, db=0.0, is_met={"x": task < 10, "y": True}) for task in range(8, 12)]
    found: Case = yield rows
    first_notes = {task: listed[0] for task, listed in notes(found).items()}
    assert first_notes["4"] == (
        "1 of 3 checks met, fails communicate_checks: 4; not part of the reward: look"
    )
    assert first_notes["5"] == "0 of 2 checks met, fails DB; not part of the reward: look"
    assert first_notes["6"] == "1 of 2 checks met, fails DB"
    assert first_notes["8"] == "3 of 4 checks met, fails DB"
    assert first_notes["10"] == "2 of 4 checks met, fails x, DB"
    # Where there is no fact to state, one check decides alone.
    near = found.rows("""
        select n_failures, n_failures_observed, reason from findings where kind = 'near'
    """)
    assert near == [(3, 5, "reward")]
    assert not found.rows("from signs where name like '%reward_basis%'")


@together
def test_the_only_fact_of_its_kind_is_a_part_of_the_reward() -> Batch:
    """Though it fails where the attempt does: the record names two parts."""
    rows = [based(task, 1.0, is_met={"fact": True}) for task in range(2)]
    rows += [based(task, 0.0, db=0.0, is_met={"fact": False}) for task in range(2, 4)]
    found = yield rows
    assert notes(found)["2"][0] == "0 of 2 checks met, fails fact, DB"


@together.each((0.0, []), (1.0, ["answer begins with {"]))
def test_without_a_pass_a_form_is_no_finding(best: float, listed: list[str]) -> Batch:
    """Nor is a missing answer, where a check names what failed."""
    rows = [rollout(task, 0, output=wrote(f"Text {task}."), reward=best) for task in range(2)]
    rows += [
        rollout(
            task, 0, output=wrote('{"x": 1}'), reward=0.0, tests={"t1": "passed", "t2": "failed"}
        )
        for task in range(2, 6)
    ]
    found = yield rows
    shown = found.rows("select mode from failure_modes where run_id is null and is_told")
    assert [mode for (mode,) in shown if mode.startswith("answer")] == listed


@together
def test_an_answer_that_is_not_read_is_not_missed() -> Batch:
    """Without a pass, where a check says what failed, that is reported and not how it ends."""
    calls = [*wrote("Done."), *called("write", {"n": 2}, "ok")]
    log = "E   assert 60 < 61\n1 line\nFAILED tests/t.py::test_x - assert 6...\n"
    found = yield [rollout(0, 0, output=calls, reward=0.0, log=log)]
    assert not found.rows("select mode from failure_modes where is_told")
    assert notes(found)["0"][:2] == ["fails tests/t.py::test_x", "the grader: assert 60 < 61"]


@together
def test_a_verdict_in_other_words_is_no_weak_slice() -> Batch:
    """A field of the row that is one word for all passes and another for all failures."""
    category = {"category": lambda task: "unsolved" if task < 12 else "solved"}
    found = yield tried(40, lambda task: task > 11, **category)
    assert found.rows("""
        select distinct
            is_verdict,
            is_below_rest
        from slice_metrics
        where slice_key = 'category'
    """) == [(True, False)]
    assert not found.rows("select mode from mode_slices where slice_key = 'category'")


@together
def test_few_tasks_that_all_pass_put_no_slice_below() -> Batch:
    """Three of five against five of five is no clear difference."""
    found = yield tried(10, lambda n: n > 1, category=lambda n: "a" if n < 5 else "b")
    assert found.rows("select distinct is_below_rest from slice_metrics") == [(False,)]


@together.each((12, "", True), (12, "x", False), (6, "", False))
def test_runs_that_give_the_same_answers(n_tasks: int, other: str, is_found: bool) -> Batch:
    """Other bytes, and the same words; one word is another, or the answers are few."""

    def run(took: float, last: str) -> list[Row]:
        answers = [f"a{task}" for task in range(n_tasks - 1)] + [f"last{last}"]
        return [
            rollout(task, 0, output=wrote(answer), reward=float(task % 2), total_run_time=took)
            for task, answer in enumerate(answers)
        ]

    found = yield {"a": run(1.0, ""), "b": run(2.0, other)}
    query = "select run_id, other_runs, n_attempts, n_all_attempts from findings"
    alike = found.rows(f"{query} where kind = 'same_answers'")
    expected = (f"{found.name}_a", [f"{found.name}_b"], n_tasks, 2 * n_tasks)
    assert alike == ([expected] if is_found else [])


@together.each((7, True), (2, False))
def test_runs_that_give_the_same_answers_with_other_grades(n_words: int, is_found: bool) -> Batch:
    """Answers of a few words may be alike by chance; signs of both runs are tested."""

    def run(graded: int) -> list[Row]:
        return [
            rollout(
                task, 0, output=wrote(f"a{task % (2 * n_words)}"), reward=float(task % 2 > graded)
            )
            for task in range(14)
        ]

    found = yield {"a": run(0), "b": [*run(0)[:-1], *run(1)[-1:]]}
    alike = found.rows("""
        select run_id, other_runs, n_attempts, n_all_attempts from findings
        where kind = 'other_grades'
    """)
    assert alike == ([(f"{found.name}_a", [f"{found.name}_b"], 14, 28)] if is_found else [])
    assert not found.rows("select run_id from findings where kind = 'same_answers'")


@together.each(("abcd", 6, True), ("ab", 4, False))
def test_runs_of_the_same_bytes_are_one_sample(names: str, n_rows: int, is_found: bool) -> Batch:
    """Three files are the same and a fourth is not; four rows may be equal by chance."""
    rows = [rollout(task, 0, reward=float(task % 2)) for task in range(n_rows)]
    other = [rollout(task, 0, reward=float(task % 3 == 0)) for task in range(n_rows)]
    found = yield {name: other if name == "c" else rows for name in names}
    copies = found.rows("""
        select finding_no, run_id, other_runs, n_attempts, n_all_attempts from findings
        where kind = 'copies'
    """)
    same = [f"{found.name}_{name}" for name in "abd"]
    assert copies == ([(1, same[0], same[1:], 6, 18)] if is_found else [])


@together.each(
    ("exact", 3, True),
    ("text", 6, True),
    # Few texts may be alike by chance, and what the task has says nothing of an attempt.
    ("text", 4, False),
    ("of the task", 6, False),
    ("verdict", 6, False),
)
def test_a_run_that_is_a_part_of_another(detail: str, n_rows: int, is_found: bool) -> Batch:
    """Every row of it is in the larger run, with its score."""

    def run(n_tasks: int) -> list[Row]:
        numbers = [[-1.2345678 - task, -2.3456789 - task] for task in range(n_tasks)]
        return [
            rollout(
                task,
                0,
                output=wrote(
                    f"A text that is surely long enough for task {task}."
                    if detail == "text"
                    else "a"
                ),
                reward=float(task % 3 == 0),
                metadata={"place": own if detail == "of the task" else []},
                likelihoods=own if detail == "exact" else [],
            )
            for task, own in enumerate(numbers)
        ]

    found = yield {"a": run(n_rows), "b": run(12), "c": run(2)}
    parts = found.rows("""
        select run_id, n_attempts from findings
        where kind = 'part'
    """)
    n_parts = n_rows + 2 * (detail == "exact")
    assert parts == ([(f"{found.name}_b", n_parts)] if is_found else [])
    nobody = found.rows("select n_tasks from findings where kind = 'never'")
    assert bool(nobody) is (not is_found and n_rows > 4)


@together.each((True, []), (False, ["late = very"]))
def test_copies_of_a_run_are_tested_once(is_same: bool, listed: list[str]) -> Batch:
    """11 of 24 failures and 7 of 33 passes may be chance; eight times as many are not."""

    def run(number: int) -> list[Row]:
        places = [(task + number * (not is_same) * 7) % 57 for task in range(57)]
        return [
            rollout(
                task,
                0,
                reward=float(place >= 24),
                late="very" if place < 11 or 24 <= place < 31 else f"by {place % 11} minutes",
                output=wrote(f"{'' if is_same else number} {task}"),
            )
            for task, place in enumerate(places)
        ]

    found = yield {name: run(number) for number, name in enumerate("abcdefgh")}
    modes = found.column("""
        select mode from failure_modes where run_id is null and parent is null and reason = 'tested'
    """)
    assert modes == listed


@together.each((False, 3), (True, 0))
def test_passes_that_make_no_expected_call(is_called: bool, n_found: int) -> Batch:
    """Three of five passes; a reader's list counts though nobody calls what it names."""
    wanted = [{"name": "book", "arguments": {"id": 1}}]
    rows = []
    for task in range(6):
        made = called("book", {"id": 1}) if is_called or task > 2 else called("look", {})
        output = [*made, *wrote(f"done {task}")]
        rows.append(rollout(task, 0, output=output, reward=float(task < 5), expected_calls=wanted))
    found = yield rows
    query = "select reason, n_passes, n_passes_observed from findings where kind = 'unmade'"
    assert found.rows(query) == [("call", n_found, 5)] * bool(n_found)


@together
def test_a_call_is_an_answer() -> Batch:
    """Where a call is all that is asked for; after its result there should be words."""
    rows = [rollout(0, 0, output=called("add", {"a": 1}, None)), rollout(1, 0, output=[])]
    rows += [rollout(2, 0, output=called("add", {"a": 1})), rollout(3, 0, output=wrote("3"))]
    found = yield rows
    query = "select task_id, value from signs where kind = 'answer' order by all"
    assert found.rows(query) == [("1", "is empty"), ("2", "is missing after the last tool call")]


@together
def test_what_is_in_place_of_a_key_is_not_shown() -> Batch:
    """One text at all tasks, which no pass gives."""
    rows = [answered(task, f"guess {task}", "victory", float(task > 2)) for task in range(6)]
    assert not any("victory" in note for listed in notes((yield rows)).values() for note in listed)


@together
def test_another_script_is_no_punctuation() -> Batch:
    """Words around the key differ from it in any language."""
    rows = [answered(task, f"a{task}", f"a{task}", 1.0) for task in range(6)]
    rows += [answered(6, "따라서 a6을 선택합니다", "a6", 0.0), answered(7, "(a7)", "a7", 0.0)]
    found = yield rows
    query = "select task_id from signs where value like 'equals the key but%'"
    assert found.column(query) == ["7"]


@together
def test_a_key_is_no_sign() -> Batch:
    """What is right belongs to the task; a key that is missing is an observation."""
    keys = [*"ababababa", None]
    found = yield tried(10, lambda task: task > 3, target=keys.__getitem__)
    assert found.column("select distinct value from signs where name = 'target'") == ["is null"]


@together
def test_the_lowest_rewards_are_cited_without_a_threshold() -> Batch:
    """Beside the median; where half of the attempts have the lowest, it is usual."""
    found = yield [
        rollout(task, 0, reward=reward) for task, reward in enumerate([0, 0, 7, 8, 9, 9])
    ]
    figures = "reward_with, reward_without, n_attempts, n_all_attempts"
    lowest = found.rows(f"select {figures} from findings where kind = 'lowest'")
    assert lowest == [(0.0, 7.5, 2, 6)]


@together
def test_of_a_traceback_its_last_line() -> Batch:
    """However long it is: what was raised says why, where it began does not."""
    frames = '  File "tests.py", line 6, in check\n    assert flip(3)\n           ^^^^^^^\n' * 20
    start = "Traceback (most recent call last):\n"
    raised = f"{start}{frames}NameError: name 'List' is not defined\n"
    found = yield [*tried(5, never, stderr=raised), rollout(9, 0, stderr="")]
    assert notes(found)["0"][:2] == [
        "error: NameError: name <text> is not defined",
        "stderr: NameError: name 'List' is not defined",
    ]


@together
def test_checks_that_differ_are_not_one_fact() -> Batch:
    """Two of the same first word that fail equally often, but not in the same attempts."""
    found = yield tried(
        8,
        lambda task: task > 3,
        unit=lambda task: {"total_sum": task not in (0, 1), "is_unit": task != 7},
        page=lambda task: {"total_count": task not in (2, 3), "is_page": task != 6},
    )
    counted = "from checks where is_counted and check_name like 'total%'"
    names = found.column(f"select distinct check_name {counted} order by all")
    assert names == ["total_count", "total_sum"]


@together.each((1, True), (20, False))
def test_most_tasks_pass_never_where_hardly_anything_passes(
    n_failing: int, is_listed: bool
) -> Batch:
    """Twenty-one tasks of two attempts: one is never passed, or all but one, in one attempt."""
    rows = [
        rollout(task, index, reward=float(task >= n_failing and (n_failing == 1 or not index)))
        for task in range(21)
        for index in (0, 1)
    ]
    found = yield [*rows, *(rollout(21, index, reward=0.0) for index in (0, 1))]
    never = found.rows("select n_tasks from findings where kind = 'never'")
    assert never == ([(n_failing + 1,)] if is_listed else [])
