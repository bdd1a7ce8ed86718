"""A row of samples of lm-evaluation-harness: one document under one filter.

The metric is of the filtered response: repeats of a document inside a row have no scores of their
own, and stay in the row.
"""

from __future__ import annotations

import re
from typing import Any

from . import (
    Object,
    fields,
    get,
    gym_row,
    items,
    message,
    number,
    picked,
    scores_of,
    text,
)
from .own_table import measures

USUAL = "exact_match acc acc_norm pass@1 f1 em bleu rouge1".split()
NOT_METRICS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash "
    "target_hash input".split()
)
NO_SCORE = "bypass"
# For these a row has the right choice and the one that was made; of both accuracy can be made.
OF_PAIRS = ("mcc", "f1")
ACCURACY = "acc"
# For these a row has a log likelihood, which is a figure only over all rows.
OF_ALL_ROWS = frozenset({"perplexity", "weighted_perplexity", "bits_per_byte"})
# What the regular expressions of the harness return without a match.
INVALID = "[invalid]"
LIKELIHOODS = frozenset({"multiple_choice", "loglikelihood", "loglikelihood_rolling"})
FUNCTION = re.compile(r"\s*(?:def|<function)\s+([\w.]+)")


def aggregations(config: Any) -> dict[str, str]:
    """The aggregation of each declared metric, in order.

    A custom function is recorded as its source, or as Python prints it.
    """
    by_metric = {}
    for entry in items(config, "metric_list"):
        if metric := text(entry, "metric"):
            by = text(entry, "aggregation") or "mean"
            named = FUNCTION.match(by)
            by_metric[metric] = named[1] if named else by[:60]
    return by_metric


def row(sample: Object, config: Object, model: str | None) -> Object:
    scores, own = _scores(sample, config)
    question, arguments = _request(sample.get("arguments"))
    is_choice = text(config, "output_type") in LIKELIHOODS or isinstance(arguments, str)
    likelihoods = [number(one, 0) for one in items(sample, "filtered_resps")]
    reward = scores.get(own) if own else None
    chosen, gold = _choice(sample, likelihoods, own, reward) if is_choice else (None, None)
    answer = chosen if is_choice else _answer(sample.get("filtered_resps"))
    known = {*NOT_METRICS, *scores}
    # The harness writes none; forks that measure attempts do, in fields of the row.
    spent = measures({name: value for name, value in sample.items() if name not in known})
    value = gym_row(
        sample.get("doc_id"),
        reward,
        repeat=0,
        request={
            "input": question,
            "model": model,
            "temperature": number(arguments, "temperature"),
            "max_output_tokens": get(arguments, "max_gen_toks"),
        },
        response={
            "model": model,
            "usage": spent.get("usage"),
            "output": None if is_choice else _output(sample, answer),
        },
        total_run_time=spent.get("total_run_time"),
        target=sample.get("target") if gold is None else gold,
        # The log probability of each choice, in order.
        choice_likelihoods=likelihoods if is_choice else None,
        metadata=sample.get("doc"),
        **picked(sample, "doc_hash", "prompt_hash"),
        **scores_of(scores, own),
    )
    # A text that is too long to be an answer does not show whether there is one.
    valid_answer = None if answer == INVALID else answer
    return value if answer is None else {**value, "extracted_answer": valid_answer}


def _scores(sample: Object, config: Object) -> tuple[dict[str, float | None], str | None]:
    """All scalar metrics of the row, and the name of the reward.

    Older rows do not list their metrics: these are all fields that are not known otherwise.
    """
    declared = aggregations(config)
    worse = {
        get(entry, "metric")
        for entry in items(config, "metric_list")
        if get(entry, "higher_is_better") is False
    }
    listed = sample.get("metrics")
    names = items(listed) if isinstance(listed, list) else [*sample.keys() - NOT_METRICS]
    known = {
        name
        for name in names
        if isinstance(name, str)
        and name != NO_SCORE
        and (listed or number(sample, name) is not None)
        and not isinstance(sample.get(name), (list, dict))
    }
    order = [*declared, *USUAL, *sorted(known)]
    ranked = sorted(known, key=order.index)
    scores = {name: number(sample, name) for name in ranked}
    fit = [one for one in ranked if one not in worse and declared.get(one) not in OF_ALL_ROWS]
    # Of a similarity and the accuracy made of it (`bleu_max`, `bleu_acc`), the accuracy.
    stems = {one.removesuffix("_acc") for one in fit if one.endswith("_acc")}
    if fit and (stem := fit[0].rpartition("_")[0]) in stems:
        return scores, f"{stem}_acc"
    if not fit and (is_right := _is_gold(sample, config)) is not None:
        return {**scores, ACCURACY: float(is_right)}, ACCURACY
    return scores, next(iter(fit), None)


def _is_gold(sample: Object, config: Object) -> bool | None:
    """Whether the choice is the right one, by the pair of both from which f1 or mcc is made.

    Of choices the harness keeps this pair (`process_results` of its tasks), unless a task has a
    function of its own for it.
    """
    if text(config, "output_type") != "multiple_choice" or get(config, "process_results"):
        return None
    for metric in OF_PAIRS:
        match sample.get(metric):
            case [int(gold), int(chosen)]:
                return gold == chosen
    return None


def _output(sample: Object, answer: str | None) -> list[Object] | None:
    """The generated text; of several repeats those with the answer of the filter come last."""
    texts = [one for one in items(sample, "resps", 0) if isinstance(one, str)]
    shown = [f"[repeat {n}] {one}" for n, one in enumerate(texts)] if len(texts) > 1 else texts
    shown.sort(key=lambda one: answer is not None and answer in one)
    return [message(one) for one in shown] or None


def _request(arguments: Any) -> tuple[list[Object], Any]:
    """The first question, and its arguments or continuation; older versions have a list."""
    first = get(arguments, "gen_args_0") or get(arguments, 0)
    question = get(first, "arg_0") or get(first, 0)
    arguments_of_it = get(first, "arg_1") if isinstance(first, dict) else get(first, 1)
    if isinstance(question, list) and question and isinstance(question[0], str):
        question = question[0]
    messages = _messages(question)
    words = question if isinstance(question, str) else ""
    return messages or [message(words, "user")], arguments_of_it


def _choice(
    sample: Object, likelihoods: list[float | None], metric: str | None, reward: Any
) -> tuple[str | None, str | None]:
    """The likeliest of several choices and the right one, where the score agrees with them."""
    arguments = sample.get("arguments")
    each = arguments.values() if isinstance(arguments, dict) else items(arguments)
    choices = [text(get(one, "arg_1") if isinstance(one, dict) else get(one, 1)) for one in each]
    words = [choice.strip() for choice in choices if choice and choice.strip()]
    known = [value for value in likelihoods if value is not None]
    if not 1 < len(words) == len(choices) == len(known) or metric not in ("acc", "acc_norm"):
        return None, None
    lengths = [len(choice or "") if metric == "acc_norm" else 1 for choice in choices]
    worth = [value / length for value, length in zip(known, lengths, strict=True)]
    target = str(sample.get("target")).strip()
    if target.isdigit() and int(target) < len(words):
        gold = int(target)
    elif target in words:
        gold = words.index(target)
    else:
        return None, None
    chosen = worth.index(max(worth))
    is_agreed = reward == float(chosen == gold)
    return (words[chosen], words[gold]) if is_agreed else (None, None)


def _messages(question: Any) -> list[Object]:
    """The messages of a chat template: a list, or that list as JSON."""
    return [
        message(words, text(one, "role") or "user")
        for one in items(question)
        if (words := text(one, "content"))
    ]


def _answer(filtered: Any) -> str | None:
    """The answer of the filter, which may be in a list."""
    first = filtered
    while isinstance(first, list):
        first = get(first, 0)
    return first if isinstance(first, str) and len(first) <= 200 else None


def filters(config: Object, figures: Object) -> list[str]:
    """The filters of a task in the order of its rows: as declared, else from its figures."""
    declared = [text(one, "name") for one in items(config, "filter_list")]
    named = [key.partition(",")[2] for key in fields(figures) if "," in key]
    return list(dict.fromkeys(name for name in (declared if any(declared) else named) if name))
