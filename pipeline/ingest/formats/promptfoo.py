"""promptfoo: the output of `promptfoo eval`, a row per test, prompt and provider."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Reading,
    Reject,
    Row,
    Setting,
    as_json,
    atif,
    counted,
    fields,
    figure,
    get,
    head,
    items,
    message,
    number,
    objects,
    packed,
    recorded,
    scores_of,
    text,
    total,
    without_empty,
)
from .chat import chat

TITLE = "promptfoo"
FILES = "`*.json` and `*.jsonl` of `promptfoo eval --output` (`results.results`)"
GIVES = "checks transcript tokens durations"
SCORE = (
    "`success` as 1 or 0; unscored after an error of the provider (`failureReason` 2). `score` and "
    "`namedScores` are scores beside it, `componentResults` are checks with their reasons"
)
NOTES = (
    "One run per provider and prompt. Tests with the same `vars` and assertions are repeats of one "
    "task, since promptfoo numbers each repeat as a test. `vars` and `metadata` are slices. "
    "promptfoo's own share counts errors as not passed."
)
NAMES = re.compile(r"\.jsonl?$", re.IGNORECASE)
BEGINNING = re.compile(rb'\s*\{\s*"(evalId|version|results)"\s*:')
ERROR = 2
LONGEST_NAME = 120
# What a provider's configuration calls its sampling, and what rows do.
SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
}
COUNTS = ("testPassCount", "testFailCount", "testErrorCount")


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Outputs, by the keys of their first prompt or result."""
    for file in files:
        begun = head(file.path)
        is_document = BEGINNING.match(begun) and b'"results"' in begun and b'"prompt' in begun
        is_ours = is_document and (b'"testPassCount"' in begun or b'"vars"' in begun)
        is_row = file.base[-1] in "lL" and b'"testIdx"' in begun and b'"promptIdx"' in begun
        if is_ours or is_row:
            yield Claim(file, Kind.ROLLOUTS, file.folder, file.base.rpartition(".")[0])


def read(artifact: Artifact) -> Iterator[Reading]:
    """One result after the other, and what the file counts of each prompt."""
    is_lines = artifact.path.name.lower().endswith("l")
    columns = Columns({} if is_lines else _sampling(artifact.path))
    if is_lines:
        contents: Iterable[tuple[str, Any]] = (("results", row) for row in objects(artifact.path))
    else:
        contents = packed.fields(artifact.path, "results")
    for name, value in contents:
        if name == "prompts":
            columns.prompts = [columns.variant(one, get(one, "provider")) for one in items(value)]
            yield from _figures(items(value), columns.prompts)
            yield from _template(items(value))
        elif name == "results" and isinstance(value, Reading):
            yield value
        elif name == "results":
            is_result = isinstance(get(value, "success"), bool) and get(value, "prompt") is not None
            reject = Reject("no result of promptfoo: no success or no prompt", str(value)[:200])
            yield columns.row(value) if is_result else reject


def _template(prompts: list[Any]) -> Iterator[Reading]:
    """The prompt that all rows fill in, if a file has one: two files may differ in it."""
    raw = {text(get(one, "raw")) for one in prompts}
    if len(raw) == 1 and (written := next(iter(raw))):
        yield from (Setting(*each) for each in recorded({"prompt template": written}))


def _figures(prompts: list[Any], variants: list[str]) -> Iterator[Reading]:
    for prompt, variant in zip(prompts, variants, strict=True):
        n_passed, *others = [number(get(prompt, "metrics", key)) for key in COUNTS]
        n_tests = total([n_passed, *others])
        if n_tests and n_passed is not None:
            yield counted("tests", n_tests, "num_rollouts", variant)
            share = n_passed / n_tests
            yield figure("testPassCount / tests", share, "filled_mean/reward", variant=variant)


def _sampling(path: Path) -> dict[str, dict[str, Any]]:
    """How each provider was asked, by its label or id, of the configuration after the rows."""
    config: Any = None
    # A document that is damaged says so where its rows are read.
    with suppress(ValueError):
        config = next(
            (one for name, one in packed.fields(path, "results") if name == "config"), None
        )
    ways_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for provider in items(get(config, "providers")):
        # Either the entry is the provider, or its only key is the provider's id.
        is_keyed = isinstance(provider, dict) and len(provider) == 1 and "id" not in provider
        name, about = next(iter(provider.items())) if is_keyed else (_provider(provider), provider)
        if name is not None:
            own = fields(get(about, "config"))
            ways_of[text(get(about, "label")) or name].append(
                {
                    ours: value
                    for theirs, ours in SAMPLING.items()
                    if (value := number(own.get(theirs))) is not None
                }
            )
    # Of one provider in several ways the rows do not say which is theirs.
    return {name: ways[0] for name, ways in ways_of.items() if all(way == ways[0] for way in ways)}


class Columns:
    """The providers and prompts of a file, and its tests."""

    def __init__(self, sampling: dict[str, dict[str, Any]]) -> None:
        self.sampling = sampling
        self.prompts: list[str] = []
        self.known: dict[tuple[str, str], str] = {}
        self.tests: dict[str, str] = {}

    def variant(self, prompt: Any, provider: Any) -> str:
        """The provider, with the number of the prompt from its second one on."""
        model = _provider(provider) or "provider"
        key = (model, str(get(prompt, "label") or get(prompt, "display") or prompt))
        nth = 1 + sum(one == model for one, _ in self.known)
        return self.known.setdefault(key, model if nth == 1 else f"{model}-prompt-{nth}")

    def sampling_of(self, provider: str | None) -> dict[str, Any]:
        """The sampling of a provider, which rows may name by what follows its first colon."""
        if provider in self.sampling:
            return self.sampling[provider]
        known = [own for name, own in self.sampling.items() if name.partition(":")[2] == provider]
        return known[0] if len(known) == 1 else {}

    def row(self, result: dict[str, Any]) -> Row:
        """The attempt of a result."""
        test = fields(result.get("testCase"))
        variables = fields(result.get("vars")) or fields(test.get("vars"))
        content = as_json([variables, test.get("assert"), test.get("description")])
        question = hashlib.sha256(content.encode(errors="replace")).hexdigest()
        nth, place = result.get("testIdx"), result.get("promptIdx")
        first = str(nth if isinstance(nth, int) else len(self.tests))
        variant = self.variant(result["prompt"], result.get("provider"))
        if isinstance(place, int) and 0 <= place < len(self.prompts):
            variant = self.prompts[place]
        row = _row(result, {**variables, **fields(test.get("metadata"))})
        row["responses_create_params"] |= self.sampling_of(_provider(result.get("provider")))
        row["_ng_task_index"] = self.tests.setdefault(question, first)
        return Row(row, variant=variant, order=first.zfill(9), question=question)


def _provider(provider: Any) -> str | None:
    return text(get(provider, "label") or get(provider, "id")) or text(provider)


def _row(result: dict[str, Any], slices: dict[str, Any]) -> dict[str, Any]:
    response, grading = fields(result.get("response")), fields(result.get("gradingResult"))
    error = text(result.get("error"))
    is_broken = result.get("failureReason") == ERROR or (
        error and not grading and "failureReason" not in result
    )
    reward = None if is_broken else float(result["success"])
    spent = fields(result.get("tokenUsage")) or fields(response.get("tokenUsage"))
    counts = {
        "input_tokens": number(spent.get("prompt")),
        "output_tokens": number(spent.get("completion")),
    }
    # Of an answer from the cache no tokens are recorded.
    counts = counts if total(counts.values()) else {}
    named = {"success": reward, "score": result.get("score"), **fields(result.get("namedScores"))}
    scores = [{"name": name, "score": number(one)} for name, one in named.items() if not is_broken]
    latency = number(result.get("latencyMs"))
    raw = get(result, "prompt", "raw") or text(result["prompt"]) or ""
    row = {
        "responses_create_params": without_empty(
            {"input": list(chat(raw, "user")), "model": _provider(result.get("provider"))}
        ),
        "response": without_empty(
            {
                "object": "response",
                "output": _output(response["output"]) if "output" in response else None,
                "usage": atif.usage({**counts, "cost": number(result.get("cost"))}),
            }
        ),
        **scores_of(scores, "success"),
        "component_results": list(_checks(grading)),
        "grading_reason": text(grading.get("reason")),
        # What failed an assertion is the reason of the grade, and no error.
        "error_message": error if is_broken else text(response.get("error")),
        "finish_reason": text(response.get("finishReason")),
        "total_run_time": None if latency is None else latency / 1000,
        "metadata": slices,
    }
    return {"reward": reward, **without_empty(row)}


def _output(output: Any) -> list[Any]:
    """What the provider answered: text, calls of tools, or any other JSON."""
    calls = output if isinstance(output, list) else [output]
    if calls and all(get(one, "function") for one in calls):
        return list(chat([{"role": "assistant", "tool_calls": calls}]))
    return [message(output if isinstance(output, str) else as_json(output))]


def _visible_end(value: str | None) -> str | None:
    """A value whose closing line breaks can be seen: a pattern that ends in one hardly matches."""
    if value is None:
        return None
    bare = value.rstrip()
    return bare + value[len(bare) :].replace("\n", r"\n")


def _checks(grading: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The assertions; one without a metric is named after its type and value."""
    seen: Counter[str] = Counter()
    for one in items(grading.get("componentResults")):
        assertion = fields(get(one, "assertion"))
        parts = [text(assertion.get("type")), _visible_end(text(assertion.get("value")))]
        plain = text(assertion.get("metric")) or ": ".join(part for part in parts if part)
        plain = " ".join((plain or "assertion").split())[:LONGEST_NAME]
        seen[plain] += 1
        yield without_empty(
            {
                "name": plain if seen[plain] == 1 else f"{plain} ({seen[plain]})",
                "pass": get(one, "pass"),
                "score": number(get(one, "score")),
                "reason": text(get(one, "reason")),
            }
        )
