"""Tasks for the rules of root causes that look at attempts: three kinds for each rule."""

from __future__ import annotations

from dataclasses import replace

from tests.cause_attempts import (
    BROKEN_JUDGE,
    CUT_LINE,
    DONE,
    FINE,
    LOOKED,
    MISSING,
    SANDBOX,
    SENT,
    UNKNOWN,
    WRONG,
    WRONG_CURRENCY,
    answered,
    assigns,
    calls,
    failed,
    fails,
    passes,
    says,
    searches,
    spends,
    truncated,
)
from tests.cause_results import three

PROFILE = """
[[failure_mode]]
mode = "WRONG_CURRENCY"
title = "paid in another currency"
when = "verifier ->> 'currency' = 'wrong'"
cause = "BI"
severity = 99
intervention = "prompt"

[[failure_mode]]
mode = "RUDE"
title = "a rude answer"
when = "final_text like '%fool%'"
cause = "KG"
severity = 98
intervention = "training"
signal = "words"
"""

ONE_SHORT = {"opens": True, "sends": False}
RULES = [
    *three(
        "profile_mode BI moderate",
        holds=[FINE, fails(SENT, **WRONG_CURRENCY), fails(LOOKED, SENT, **WRONG_CURRENCY)],
        nearly=[fails(SENT, DONE, **WRONG_CURRENCY), WRONG, WRONG],
        in_passes=[fails(SENT, DONE, **WRONG_CURRENCY), passes(LOOKED, DONE, **WRONG_CURRENCY)],
    ),
    *three(
        "conflicting_duplicates DA strong",
        holds=[FINE, fails(SENT, DONE, index=1), passes(SENT, DONE, index=1)],
        nearly=[FINE, fails(LOOKED, DONE, index=1), fails(LOOKED, SENT, index=1)],
        in_passes=[passes(SENT, DONE), fails(LOOKED, DONE, index=0), fails(LOOKED, index=1)],
    ),
    *three(
        "unreadable_rows DA moderate",
        benchmark="lost",
        holds=[CUT_LINE, CUT_LINE],
        nearly=[CUT_LINE, WRONG, WRONG],
        # A second copy of a rollout that is there.
        in_passes=[FINE, WRONG, replace(CUT_LINE, row={"index": 0})],
    ),
    *three(
        "unstable_verdict TI strong",
        holds=[FINE, fails(LOOKED, SENT, DONE)],
        nearly=[FINE, fails(LOOKED, calls("send", to="y"), DONE)],
        in_passes=[FINE, FINE, WRONG],
    ),
    *three(
        "verifier_error TI strong",
        holds=[fails(SENT, DONE, **BROKEN_JUDGE), fails(LOOKED, DONE, **BROKEN_JUDGE)],
        holds_b=[fails(SENT, DONE, **BROKEN_JUDGE)],
        nearly=[fails(SENT, DONE, **BROKEN_JUDGE), WRONG, WRONG],
        in_passes=[fails(SENT, DONE, **BROKEN_JUDGE), passes(LOOKED, DONE, **BROKEN_JUDGE)],
        passes_then="dominant_mode TI weak",
    ),
    *three(
        "answer_is_reference TI moderate",
        benchmark="quiz",
        holds=[answered("42"), answered(" 42. ")],
        nearly=[answered("421"), answered("24")],
        in_passes=[answered("42", ok=True), answered("42", ok=True), answered("41")],
    ),
    *three(
        "suspect_check TI weak",
        holds=[fails(SENT, says(n), tests=ONE_SHORT) for n in "abcd"],
        nearly=[fails(SENT, says(n), tests=ONE_SHORT) for n in "abc"],
        # A check that passes fail, too, decides nothing.
        in_passes=[
            *[fails(SENT, says(n), tests=ONE_SHORT) for n in "abc"],
            passes(SENT, says("d"), tests=ONE_SHORT),
        ],
        passes_then="unreliable UK weak",
    ),
    *three(
        "infrastructure IR strong",
        benchmark="lost",
        holds=[
            failed("transient", error_message="503"),
            failed("remote_agent_error", error="gone"),
        ],
        nearly=[failed("legitimate"), failed("skipped")],
        in_passes=[passes(SENT, DONE, **SANDBOX), fails(SENT, says("Sent."), **SANDBOX)],
    ),
    *three(
        "nothing_recorded IR moderate",
        benchmark="lost",
        holds=[MISSING, MISSING, passes(SENT, DONE), fails(LOOKED, DONE)],
        nearly=[MISSING, WRONG, WRONG],
        in_passes=[spends(0, SENT, DONE), spends(0, LOOKED, DONE, ok=False)],
    ),
    *three(
        "limit_for_all TI moderate",
        holds=[truncated(SENT), truncated(LOOKED)],
        holds_b=[truncated(SENT)],
        nearly=[truncated(SENT), truncated(LOOKED)],
        nearly_b=[fails(SENT, DONE, limit=1000)],
        nearly_then="dominant_mode BI weak",
        in_passes=[truncated(SENT), truncated(LOOKED, reward=1.0)],
        passes_then="dominant_mode BI weak",
    ),
    *three(
        "same_wrong_call KG weak",
        benchmark="crm",
        holds=[assigns("bob"), assigns("bob")],
        nearly=[assigns("bob"), assigns("eve")],
        nearly_then="wrong_actions BI weak",
        in_passes=[assigns("bob"), assigns("bob"), assigns("ada", "bob", ok=True)],
    ),
    *three(
        "dropped_argument UK moderate",
        holds=[*[searches(ok=True, until="May")] * 2, searches(), searches(ids="2")],
        nearly=[*[searches(ok=True, until="May")] * 2, searches(until="June")],
        in_passes=[searches(ok=True, until="May"), searches(ok=True, ids="3"), searches(ids="2")],
    ),
    *three(
        "wrong_actions BI weak",
        benchmark="crm",
        holds=[assigns("ada", ok=True), assigns("ada", "bob"), assigns()],
        nearly=[assigns("ada", ok=True), fails(calls("find_owner"), calls("assign", to="ada"))],
        in_passes=[assigns("ada", "bob"), assigns("bob", ok=True)],
    ),
    *three(
        "unreliable UK weak",
        holds=[FINE, FINE, WRONG, fails(LOOKED, calls("send", to="y"), DONE)],
        nearly=[FINE, WRONG, fails(LOOKED, calls("send", to="y"), DONE)],
        # What a pass did, too, is not what separates them.
        in_passes=[FINE, FINE, fails(LOOKED, SENT, DONE), fails(LOOKED, SENT, DONE)],
        passes_then="unstable_verdict TI strong",
    ),
    *three(
        "undeclared_tool KG moderate",
        holds=[fails(LOOKED, *UNKNOWN), fails(*UNKNOWN)],
        nearly=[fails(LOOKED, *UNKNOWN), WRONG],
        in_passes=[fails(LOOKED, *UNKNOWN), passes(*UNKNOWN)],
    ),
    *three(
        "same_wrong_answer KG weak",
        benchmark="quiz",
        holds=[answered("7"), answered("7")],
        nearly=[answered("7"), answered("8")],
        in_passes=[answered("7"), answered("7"), answered("7", ok=True)],
        passes_then="unstable_verdict TI strong",
    ),
    *three(
        "dominant_mode BI weak",
        benchmark="quiz",
        holds=[fails(says("I must decline.")), fails(says("I decline."))],
        nearly=[fails(says("I must decline.")), fails(says("Blue.")), fails(says("Red."))],
        in_passes=[fails(says("I must decline.")), passes(says("I decline."))],
    ),
]
