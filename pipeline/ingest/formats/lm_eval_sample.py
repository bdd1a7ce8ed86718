"""A row of samples of lm-evaluation-harness: one document under one filter.

The metric is of the filtered response: repeats of a document inside a row cannot be scored apart,
and stay in the row.
"""

from __future__ import annotations

import re
from typing import Any

from pipeline.ingest.formats import (
    fields,
    get,
    items,
    message,
    number,
    parsed,
    scores_of,
    text,
    told,
)

# Names of metrics that say how right an answer is, the most usual first.
USUAL = "exact_match acc acc_norm pass@1 f1 em bleu rouge1".split()
NOT_METRICS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash "
    "target_hash input".split()
)
# What stands for a score where nothing was to be scored.
NO_SCORE = "bypass"
# Of these a row has a log likelihood, of which only all rows together make a figure.
OF_ALL_ROWS = frozenset({"perplexity", "weighted_perplexity", "bits_per_byte"})
# What the harness's regular expressions give where they find nothing.
INVALID = "[invalid]"
LIKELIHOODS = frozenset({"multiple_choice", "loglikelihood", "loglikelihood_rolling"})
FUNCTION = re.compile(r"\s*(?:def|<function)\s+([\w.]+)")


def aggregations(config: Any) -> dict[str, str]:
    """How the rows' values of each declared metric become one figure, in the order declared.

    A function of the task's own stands there as its source, or as Python shows it.
    """
    found = {}
    for entry in items(get(config, "metric_list")):
        if metric := text(get(entry, "metric")):
            by = text(get(entry, "aggregation")) or "mean"
            named = FUNCTION.match(by)
            found[metric] = named[1] if named else by[:60]
    return found


def row(sample: dict[str, Any], config: dict[str, Any], model: str | None) -> dict[str, Any]:
    """A line of samples as a row of ours."""
    scores, own = _scores(sample, config)
    asked, given = _request(sample.get("arguments"))
    is_choice = text(config.get("output_type")) in LIKELIHOODS or isinstance(given, str)
    answer = None if is_choice else _answer(sample.get("filtered_resps"))
    request = {
        "input": asked,
        "model": model,
        "temperature": number(get(given, "temperature")),
        "max_output_tokens": get(given, "max_gen_toks"),
    }
    value = {
        "_ng_task_index": sample.get("doc_id"),
        "_ng_rollout_index": 0,
        "responses_create_params": told(request),
        "response": _response(sample, model, answer, is_choice=is_choice),
        "target": sample.get("target"),
        **scores_of(scores, own),
        # The log probability of each choice, in order.
        "choice_likelihoods": [number(get(one, 0)) for one in items(sample.get("filtered_resps"))]
        if is_choice
        else None,
        "metadata": sample.get("doc"),
        "doc_hash": sample.get("doc_hash"),
        "prompt_hash": sample.get("prompt_hash"),
    }
    reward = next((score["score"] for score in scores if score["name"] == own), None)
    # A text that is too long to be an answer says nothing of whether there is one.
    found = None if answer == INVALID else answer
    extracted = {} if answer is None else {"extracted_answer": found}
    return {"reward": reward, **told(value), **extracted}


def _scores(
    sample: dict[str, Any], config: dict[str, Any]
) -> tuple[list[dict[str, Any]], str | None]:
    """Every metric of the row that is one number or none, and which of them is the reward.

    Older rows do not list their metrics: they are what is no other field.
    """
    declared = aggregations(config)
    worse = {
        get(entry, "metric")
        for entry in items(config.get("metric_list"))
        if get(entry, "higher_is_better") is False
    }
    listed = sample.get("metrics")
    names = items(listed) if isinstance(listed, list) else [*sample.keys() - NOT_METRICS]
    known = {
        name
        for name in names
        if isinstance(name, str)
        and name != NO_SCORE
        and (listed or number(sample.get(name)) is not None)
        and not isinstance(sample.get(name), (list, dict))
    }
    order = [*declared, *USUAL, *sorted(known)]
    ranked = sorted(known, key=order.index)
    scores = [{"name": name, "score": number(sample.get(name))} for name in ranked]
    fit = (one for one in ranked if one not in worse and declared.get(one) not in OF_ALL_ROWS)
    return scores, next(fit, None)


def _request(arguments: Any) -> tuple[list[dict[str, Any]], Any]:
    """What was asked first, and how, or what was to follow; older versions list arguments."""
    first = get(arguments, "gen_args_0") or get(arguments, 0)
    asked = get(first, "arg_0") or get(first, 0)
    given = get(first, "arg_1") if isinstance(first, dict) else get(first, 1)
    if isinstance(asked, list) and asked and isinstance(asked[0], str):
        asked = asked[0]
    messages = _messages(asked)
    words = asked if isinstance(asked, str) else ""
    return messages or [message(words, "user")], given


def _messages(asked: Any) -> list[dict[str, Any]]:
    """The messages of a chat template: a list, or that list as JSON."""
    if isinstance(asked, str) and asked.startswith("[{"):
        try:
            asked = parsed(asked)
        except ValueError:
            return []
    return [
        message(said, text(get(one, "role")) or "user")
        for one in items(asked)
        if (said := text(get(one, "content")))
    ]


def _response(
    sample: dict[str, Any], model: str | None, answer: str | None, *, is_choice: bool
) -> dict[str, Any]:
    """What was generated; nothing is where only likelihoods were asked for.

    Of several repeats none was scored alone: those that gave the filter's answer come last.
    """
    response: dict[str, Any] = {"object": "response"} | ({"model": model} if model else {})
    if is_choice:
        return response
    said = [one for one in items(get(sample, "resps", 0)) if isinstance(one, str)]
    shown = [f"[repeat {n}] {one}" for n, one in enumerate(said)] if len(said) > 1 else said
    shown.sort(key=lambda one: answer is not None and answer in one)
    return {**response, "output": [message(one) for one in shown]} if said else response


def _answer(filtered: Any) -> str | None:
    """The filter's answer, which some filters leave in a list."""
    first = filtered
    while isinstance(first, list):
        first = get(first, 0)
    return first if isinstance(first, str) and len(first) <= 200 else None


def filters(config: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """The task's filters in the order of its rows: as declared, else as its figures name them."""
    declared = [text(get(one, "name")) for one in items(config.get("filter_list"))]
    named = [key.partition(",")[2] for key in fields(figures) if "," in key]
    return list(dict.fromkeys(name for name in (declared if any(declared) else named) if name))
