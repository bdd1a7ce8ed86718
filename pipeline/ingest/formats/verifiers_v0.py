"""verifiers up to 0.3: results.jsonl, a line per rollout, and the metadata.json beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    OTHER_ROWS,
    Claim,
    Expected,
    Figure,
    Line,
    Reading,
    Reject,
    Row,
    Setting,
    as_json,
    document,
    fields,
    get,
    head,
    number,
    objects,
    text,
)
from pipeline.ingest.formats.verifiers_row import COUNTERS, averages, row_of

TITLE = "verifiers to 0.3"
FILES = "`results.jsonl` with `metadata.json`"
SCORE = "`reward`, which passes from `pass_threshold` of the metadata on; `metrics` are checks"
NOTES = (
    "One run per folder, named after environment and model. An errored rollout has the reward 0 "
    "that verifiers gives it, and its error is a field of the outcome. Before 0.1.9 an example has "
    "an `id`; where one stands for several questions, tasks are told apart by what was asked."
)
NAMES = re.compile(r"(^|/)(results\.jsonl(\.gz|\.zst)?|metadata\.json)$")
FIRST_OF_OLD = re.compile(rb'\s*\{\s*"id"\s*:\s*\d+\s*,\s*"prompt"\s*:')
MOST_EXPECTED = 1_000_000


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Results whose rows have examples, each with the metadata of its folder."""
    about = {file.folder: file for file in files if file.base == "metadata.json"}
    for file in files:
        begun = b"" if file.base == "metadata.json" else head(file.path)
        beside = about.get(file.folder)
        if b'"example_id"' not in begun and not (beside and FIRST_OF_OLD.match(begun)):
            continue
        # <environment>--<model>/<id of the run>/results.jsonl
        folder, stem, mark = file.folder.rpartition("/")[0], file.path.parent.name, ""
        if "--" in (above := file.path.parent.parent.name):
            folder, stem, mark = folder.rpartition("/")[0], above, stem
        paths = (beside.path,) if beside else ()
        yield Claim(file, Kind.ROLLOUTS, folder, stem, mark=mark, beside=paths)
        if beside:
            yield Claim(beside, Kind.AGGREGATE_METRICS, folder, stem, mark=mark)


def read(artifact: Artifact) -> Iterator[Reading]:
    """Rows of results, and what was expected; settings and figures of metadata."""
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _about(fields(document(artifact.path)))
        return
    metadata = _metadata(artifact)
    is_told = not _has_ids_of_several(artifact.path)
    seen: Counter[str] = Counter()
    for found in objects(artifact.path):
        if isinstance(found, (Reject, Line)):
            yield found
            continue
        position, row = found
        example = text(row.get("example_id", row.get("id")))
        if example is None or not {"reward", "completion"} & row.keys():
            yield Reject("no example_id, or neither reward nor completion", position=position)
            continue
        seen[example] += 1
        start = number(get(row, "timing", "start_time"))
        order = f"{position:012}" if start is None else f"{start:020.6f}"
        value = row_of(row, metadata) | ({"_ng_task_index": example} if is_told else {})
        yield Row(value, position, benchmark=_environment(metadata), order=order)
    yield from _expected(seen, metadata) if is_told else ()


def _has_ids_of_several(path: Path) -> bool:
    """Whether an `id` stands for several questions: some versions numbered rows by their place."""
    asked: dict[Any, int] = {}
    for found in objects(path):
        if isinstance(found, tuple) and "example_id" not in found[1]:
            key = hash(as_json([found[1].get(name) for name in ("prompt", "answer")]))
            if asked.setdefault(text(found[1].get("id")), key) != key:
                return True
        elif isinstance(found, tuple):
            return False
    return False


def _environment(metadata: dict[str, Any]) -> str | None:
    return text(metadata.get("env_id")) or text(metadata.get("env"))


def _metadata(artifact: Artifact) -> dict[str, Any]:
    for path in artifact.beside:
        try:
            return fields(document(path))
        except ValueError:
            continue  # its own reject says so
    return {}


def _expected(seen: Counter[str], metadata: dict[str, Any]) -> Iterator[Reading]:
    """So many repeats of the first examples where those are what was seen; else of the seen.

    Some versions count what was repeated as examples: they say nothing of repeats.
    """
    n_examples, n_repeats = metadata.get("num_examples"), metadata.get("rollouts_per_example")
    if not isinstance(n_repeats, int) or n_repeats < max(seen.values(), default=1):
        return
    tasks = sorted(seen)
    if isinstance(n_examples, int) and 0 < n_examples <= MOST_EXPECTED:
        first = {str(place) for place in range(n_examples)}
        tasks = sorted(first) if first.issuperset(tasks) else tasks
    for task in tasks if len(tasks) * n_repeats <= MOST_EXPECTED else ():
        for repeat in range(n_repeats):
            yield Expected(task, repeat)


def _about(metadata: dict[str, Any]) -> Iterator[Reading]:
    """Settings, and averages over all rollouts, errored ones among them."""
    sampling = fields(metadata.get("sampling_args"))
    settings = {
        "model": metadata.get("model"),
        "num_repeats": metadata.get("rollouts_per_example"),
        "pass_threshold": metadata.get("pass_threshold"),
        **{name: sampling.get(name) for name in ("temperature", "top_p", "max_tokens")},
    }
    for name, value in settings.items():
        if said := text(value):
            yield Setting(name, said)
    figures = [("avg_reward", metadata.get("avg_reward"), "mean/reward", 1.0)]
    figures += [("avg_error", metadata.get("avg_error"), "mean/has_error", 1.0)]
    for name, value in averages(metadata).items():
        means = f"mean/{name}" if COUNTERS.search(name) else f"mean/scores.{name}"
        figures.append((f"avg_metrics/{name}", value, means, 1.0))
    for name, value in fields(metadata.get("usage")).items():
        figures.append((f"usage/{name}", value, f"mean/{name}", 1.0))
    for name, mark in (("pass_at_k", "pass@"), ("pass_all_k", "pass^")):
        for k, value in fields(metadata.get(name)).items():
            figures.append((f"{name}/{k}", value, f"{mark}{k}/reward", 0.01))
    for name, value, means, scale in figures:
        if (figure := number(value)) is not None:
            yield Figure(None, None, None, name, figure, None, means, scale)
    n_examples, n_repeats = metadata.get("num_examples"), metadata.get("rollouts_per_example")
    if isinstance(n_examples, int) and isinstance(n_repeats, int) and n_examples > 0:
        name, n_rollouts = "num_examples x rollouts_per_example", n_examples * n_repeats
        yield Figure(
            None, None, None, name, number(n_rollouts), None, "num_rollouts", reason=OTHER_ROWS
        )
