"""lm-evaluation-harness: files of samples, one per task, and the results beside or above them.

A row is one document under one filter, so a run is one task, or one group of tasks with a figure,
under one filter (lm_eval_sample.py). Filters grade the same responses, so what they give is not
compared: of several each is a benchmark.
Files of one evaluation have one time in their names; the oldest have none, and share a folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    MOST_EXPECTED,
    Claim,
    Claims,
    Figure,
    Files,
    Line,
    Object,
    Readings,
    Reject,
    Row,
    Setting,
    claims_of,
    counted,
    document,
    documents,
    expected,
    fields,
    figure,
    get,
    head,
    items,
    number,
    objects,
    packed,
    paths_of,
    picked,
    readable,
    recorded,
    settings,
    text,
    without_empty,
)
from .lm_eval_sample import aggregations, filters, row

TITLE = "lm-evaluation-harness"
FILES = (
    "`samples_<task>_<time>.jsonl` (written with `--log_samples`), `<name>_<time>.json`; before "
    "0.4.3 `<model>_<task>.jsonl`, a JSON list in spite of its name, and `results.json`"
)
GIVES = "checks transcript tokens durations"
SCORE = (
    "the first metric of the task that is a number in the row and better the higher it is "
    "(`metric_list` of the results, else `metrics` of the row), or the accuracy made of it "
    "(`bleu_acc` of `bleu_max`); the others are checks. Of a choice that has only the pair from "
    "which `mcc` or `f1` is made, whether it is the right one (`acc`); other figures of all rows "
    "score none"
)
NOTES = (
    "One run per task and filter; of several filters, which grade the same responses, each is a "
    "benchmark (`gsm8k-strict-match`). The tasks of a group that has a figure of their main "
    "metric, the outermost one, are one run, with `subtask` and `subgroup` as slices. Rows that "
    "name no filter are of the task's filters in order. Of several repeats a filter makes one "
    "answer: they are one attempt. Tokens and times are read where a fork writes them into the "
    "rows; errors are not recorded."
)
NAMES = re.compile(r"\.jsonl?(\.gz|\.zst)?$")
TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:[.-]\d+)?"
PARTS = re.compile(rf"^(?P<name>.+?)(?:_(?P<time>{TIME}))?\.jsonl?(\.gz|\.zst)?$")
FIRST_OF_ROWS = re.compile(rb'[\s\xef\xbb\xbf]*(\[\s*)?\{\s*"doc_id"\s*:')
FIRST_OF_RESULTS = re.compile(rb'[\s\xef\xbb\xbf]*\{\s*"results"\s*:')
LONG = 4096
MODEL = re.compile(r"(?:^|,)(?:pretrained|model)=([^,]+)")
ARGUMENT = re.compile(r"(\w+)=(.*?)(?=,\w+=|$)", re.DOTALL)
OF_PLACE = frozenset("pretrained model tokenizer path base_url host port device".split())
# What distinguishes two evaluations of a model, at the top of results and in their `config`.
OF_RESULTS = (
    "lm_eval_version transformers_version max_length system_instruction_sha fewshot_as_multiturn "
    "chat_template_sha"
).split()
OF_CONFIG = "batch_size random_seed numpy_seed torch_seed fewshot_seed".split()
# The number of samples, which newer results have among the figures.
NO_FIGURE = "sample_len"
UNKNOWN_MEAN = "how its rows were aggregated is not recorded"
UNKNOWN_WEIGHTS = "whether its tasks were weighted by their size is not recorded"


def claims(files: Files) -> Claims:
    """Samples, and results of their time and folder, or of the folder above."""
    samples: dict[tuple[str, str], list[ListedFile]] = defaultdict(list)
    results: dict[tuple[str, str], list[ListedFile]] = defaultdict(list)
    for file in files:
        match = PARTS.match(file.base)
        if match and (of_rows := _is_samples(file, match)) is not None:
            (samples if of_rows else results)[file.folder, match["time"] or ""].append(file)
    claimed: set[ListedFile] = set()
    for (folder, time), listed in samples.items():
        evaluations: dict[tuple[ListedFile, ...], list[ListedFile]] = defaultdict(list)
        for file in listed:
            evaluations[_about(file, time, samples.keys(), results)].append(file)
        for about, rows in evaluations.items():
            models = map(_model, documents(paths_of(about)))
            stem = _short(next(filter(None, models), rows[0].path.parent.name))
            # Several evaluations without a time differ by the names of their results.
            mark = _label(about[0]) if len(evaluations) > 1 and about else time
            yield from claims_of(rows, about, folder, stem, mark)
            claimed.update(about)
    for (folder, time), alone in results.items():
        unclaimed = [file for file in alone if file not in claimed]
        for file in unclaimed:
            if (model := _only_figures(file.path)) is not None:
                stem = _short(model) or file.path.parent.name
                # Several without a time differ by their names.
                mark = time if len(unclaimed) == 1 else _label(file).removeprefix(stem).strip("_-.")
                yield Claim(file, Kind.ROLLOUTS, folder, stem, mark=mark)


def _about(
    samples: ListedFile,
    time: str,
    sampled: Collection[tuple[str, str]],
    results: Mapping[tuple[str, str], list[ListedFile]],
) -> tuple[ListedFile, ...]:
    """The results of a file of samples: of its time, in its folder or the one above.

    Where one of them has no time, the only ones that list its task; of several, those with a name
    that is in its own.
    """
    folder = samples.folder
    above = folder.rpartition("/")[0]
    same = results.get((folder, time)) or (results.get((above, time)) if time else None) or []
    named = same or [
        file
        for (at, of_time), files in results.items()
        if at in (folder, above) and (at, of_time) not in sampled and not (time and of_time)
        for file in files
    ]
    if len(named) > 1 or not same:
        named = [one for one in named if _lists(one, samples)]
        name = f"_{_label(samples)}_"
        own = [one for one in named if (label := _label(one)) and f"_{label}_" in name]
        named = next(
            (each for each in (own, _with_own_words(named, samples)) if len(each) == 1), named
        )
        if not same and len(named) > 1:
            named = []
    return tuple(named or same)


def _lists(results: ListedFile, samples: ListedFile) -> bool:
    known = readable(results.path)
    return _task(samples.path, known) in fields(known, "results")


def _with_own_words(results: Files, samples: ListedFile) -> list[ListedFile]:
    """The results that share a word or a number with samples which the results do not all have."""
    words = {file: _words(_label(file)) for file in results}
    own = _words(_label(samples))
    return [
        file
        for file, known in words.items()
        if any(word in own for word in known if any(word not in each for each in words.values()))
    ]


def _words(label: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", label.lower()))


def _label(file: ListedFile) -> str:
    """What a name says besides what the file is, and when."""
    match = PARTS.match(file.base)
    return re.sub(r"^(results|samples)", "", match["name"] if match else "").strip("_-.")


def _only_figures(path: Path) -> str | None:
    """The model of results without samples, or an empty name; None if the harness is another."""
    results = readable(path)
    # Before 0.4 there is one configuration.
    is_older = {"model", "num_fewshot"} <= fields(results, "config").keys()
    is_harness = "versions" in fields(results) and ("configs" in fields(results) or is_older)
    is_own = is_harness and fields(results, "results")
    return _model(results) or "" if is_own else None


def _is_samples(file: ListedFile, match: re.Match[str]) -> bool | None:
    """True for a file of samples, False for results, None for others."""
    begun = head(file.path)
    if FIRST_OF_RESULTS.match(begun):
        return False
    has_answers = b'resps"' in begun
    if match["name"].startswith("samples_") and match["time"]:
        # The first document may be longer than the sniffed part.
        is_rows = b'"doc_id"' in begun and (has_answers or len(begun) >= LONG)
    else:
        is_rows = bool(FIRST_OF_ROWS.match(begun)) and has_answers
    return is_rows or None


def _model(results: Any) -> str | None:
    """The name of the model; older results have it in the arguments."""
    arguments = get(results, "config", "model_args")
    named = MODEL.search(arguments) if isinstance(arguments, str) else None
    return (
        text(results, "model_name")
        or text(arguments, "pretrained")
        or text(arguments, "model")
        or (named[1] if named else text(results, "model_name_sanitized"))
    )


def _short(name: str) -> str:
    return re.split(r"/|__", name.strip("/"))[-1]


def read(artifact: Artifact) -> Readings:
    if artifact.kind is Kind.ROLLOUTS and FIRST_OF_RESULTS.match(head(artifact.path, LONG)):
        yield from _results_alone(document(artifact.path))
    elif artifact.kind is Kind.ROLLOUTS:
        yield from _samples(artifact)
    else:
        yield from _results(artifact)


def _task(path: Path, results: Any) -> str:
    """The task of a file, by those that results list: its name, or what that ends or begins with.

    Older file names begin with the model, and somebody may have written more behind the task.
    """
    match = PARTS.match(path.name)
    name = match["name"] if match else path.name
    own = name.removeprefix("samples_")
    known = {**fields(results, "configs"), **fields(results, "results")}
    if own in known:
        return own
    ends = [task for task in known if name.endswith(f"_{task}")]
    begins = [task for task in known if own.startswith(f"{task}_")]
    return max(ends or begins, key=len, default=own)


def _groups(results: Any) -> dict[str, list[str]]:
    """By task, the groups above it from the outermost that is a benchmark of its own.

    It has a figure of the main metric of all its tasks; others only list what was run together.
    """
    above: dict[str, str] = {}
    for group, children in fields(results, "group_subtasks").items():
        above |= {child: group for one in items(children) if (child := text(one))}
    lines: dict[str, list[str]] = {}
    metrics: dict[str, set[str]] = defaultdict(set)
    for task, config in fields(results, "configs").items():
        line: list[str] = []
        while (group := above.get(line[0] if line else task, task)) not in (task, *line):
            line.insert(0, group)
        lines[task] = line
        for group in line:
            metrics[group].add(next(iter(aggregations(config)), ""))
    whole = {
        group
        for group, main in metrics.items()
        for key, value in fields(results, "results", group).items()
        if {key.partition(",")[0]} == main and number(value) is not None
    }
    return {
        task: line[line.index(outermost) :]
        for task, line in lines.items()
        if (outermost := next((group for group in line if group in whole), None))
    }


def _variant(task: str, of_filter: str) -> str:
    return task if of_filter == "none" else f"{task}-{of_filter}"


def _filters(results: Any, task: str) -> list[str]:
    return filters(fields(results, "configs", task), fields(results, "results", task))


def _samples(artifact: Artifact) -> Readings:
    results = readable(*artifact.beside)
    task = _task(artifact.path, results)
    config = fields(results, "configs", task)
    named = _filters(results, task)
    model = _model(results)
    grouped = _groups(results)
    groups = grouped.get(task, [])
    whole, before = (groups[0], f"{task}/") if groups else (task, "")
    parts = [task, *(one for one, line in grouped.items() if line[0] == whole)]
    is_of_one_filter = len({name for one in parts for name in _filters(results, one)}) == 1
    seen: Counter[str] = Counter()
    n_rows: Counter[str] = Counter()
    n_rejects = 0
    for sample in _rows(artifact.path):
        if not isinstance(sample, dict):
            n_rejects += isinstance(sample, Reject)
            yield sample
            continue
        document_id = text(sample, "doc_id")
        if document_id is None or not {"filter", "metrics", "filtered_resps"} & sample.keys():
            yield Reject("no doc_id, or nothing that was filtered: not a sample of lm-eval")
            continue
        of_filter = text(sample, "filter")
        if of_filter is None:
            # Every filter of a task has a row of each document, one filter after the other.
            nth = seen[document_id]
            of_filter = named[nth] if nth < len(named) else f"filter-{nth}" if nth else "none"
            seen[document_id] += 1
        variant = _variant(whole, of_filter)
        n_rows[variant] += 1
        value = row(sample, config, model)
        if groups:
            value["_ng_task_index"] = before + document_id
            part = {"subtask": task, "subgroup": " / ".join(groups[1:]) or None}
            value["metadata"] = without_empty(part) | fields(value, "metadata")
        benchmark = whole if is_of_one_filter else variant
        question = _question(sample, benchmark)
        yield Row(value, variant=variant, benchmark=benchmark, question=question)
    # Results are written at the end, so rows missing from a shorter file were removed.
    n_expected = get(results, "n-samples", task, "effective")
    if isinstance(n_expected, int) and n_expected <= MOST_EXPECTED:
        for variant in (name for name, n in n_rows.items() if n + n_rejects >= n_expected):
            yield from expected([f"{before}{place}" for place in range(n_expected)], 1, variant)


def _question(sample: Object, benchmark: str) -> str | None:
    """A hash of the task's document: templates and examples around it change its words alone.

    The row's own hash of it is another one in some versions of the harness. Runs with the same
    questions are of one benchmark, so what names it is part of the question.
    """
    content = sample.get("doc")
    if not isinstance(content, dict) and (content := sample.get("arguments")) is None:
        return None
    written = json.dumps([benchmark, content], sort_keys=True)
    return hashlib.sha256(written.encode(errors="replace")).hexdigest()


def _rows(path: Path) -> Iterator[Object | Reject | Line]:
    """The rows of a file: lines, or the elements of one list."""
    if not head(path, LONG).lstrip().startswith(b"["):
        yield from objects(path)
        return
    for one in packed.elements(path):
        yield one if isinstance(one, dict) else Reject("not a JSON object", str(one)[:200])


def _results(artifact: Artifact) -> Readings:
    results = document(artifact.path)
    groups = _groups(results)
    sampled = [_task(path, results) for path in artifact.beside]
    runs = {task: groups[task][0] if task in groups else task for task in sampled}
    yield from _settings(results)
    n_documents: Counter[str] = Counter()
    home = None
    for task, run in runs.items():
        keys = fields(results, "results", task)
        for of_filter in sorted({key.partition(",")[2] for key in keys if "," in key}):
            variant = _variant(run, of_filter)
            home = home or variant
            n_documents[variant] += int(number(results, "n-samples", task, "effective") or 0)
    for task in fields(results, "results"):
        parts = {one for one, line in groups.items() if line[0] == task}
        yield from _figures(results, task, runs, parts, home)
    for variant, n in n_documents.items():
        if n:
            yield counted("n-samples", n, "num_tasks", variant)


def _settings(results: Any) -> Iterator[Setting]:
    for name, value in recorded(_arguments(results), "model_args."):
        yield Setting(name, value)
    sampling = get(results, "config", "gen_kwargs")
    yield from settings(
        max_tokens=get(sampling, "max_tokens"),
        temperature=get(sampling, "temperature"),
        model_name=_model(results),
        limit=get(results, "config", "limit"),
        commit=get(results, "git_hash"),
        **picked(results, *OF_RESULTS),
        **picked(get(results, "config"), *OF_CONFIG),
    )


def _arguments(results: Any) -> Object:
    """The arguments of the model but for its name and where it is served; older ones are a text."""
    written = get(results, "config", "model_args")
    listed = dict(ARGUMENT.findall(written[:LONG])) if isinstance(written, str) else fields(written)
    return {name: value for name, value in listed.items() if name not in OF_PLACE}


def _results_alone(results: Any) -> Readings:
    """The figures of tasks without samples, of a group of tasks those of the group."""
    yield from _settings(results)
    figures_of = {
        task: {key: one for key in fields(figures) if (one := number(figures[key])) is not None}
        for task, figures in fields(results, "results").items()
    }
    groups = fields(results, "group_subtasks")
    grouped = {
        text(one) for group in groups if figures_of.get(group) for one in items(groups[group])
    }
    for task in (one for one in figures_of if one not in grouped):
        first = next((key for key in figures_of[task] if key != NO_FIGURE), None)
        for key, value in figures_of[task].items():
            means = f"mean/scores.{key.partition(',')[0]}"
            yield figure(key, value, means, variant=task, is_main=key == first)


def _figures(
    results: Any, task: str, runs: Mapping[str, str], parts: Collection[str], home: str | None
) -> Iterator[Figure]:
    """The figures `<metric>,<filter>` of a task or group; without samples it is added to `home`.

    `runs` are those of tasks with samples, `parts` the tasks of a group that is a run.
    """
    run = task if task in runs.values() else runs.get(task)
    is_whole = run == task
    aggregated = aggregations(get(results, "configs", min(parts, default=task)))
    for key, value in fields(results, "results", task).items():
        metric, comma, of_filter = key.partition(",")
        if not comma or isinstance(value, (dict, list)):
            continue
        field = metric.removesuffix("_stderr")
        statistic = "mean" if field == metric else "stderr"
        by = aggregated.get(field)
        means = reason = None
        if run is None:
            is_group = bool(get(results, "group_subtasks", task))
            reason = "of a group of tasks" if is_group else "no samples of this task were logged"
        elif not is_whole:
            reason = f"of a part of {run}"
        elif not runs.keys() >= set(parts):
            reason = "no samples of some of its tasks were logged"
        elif parts and statistic == "stderr":
            reason = "pooled over the tasks of the group"
        elif by in ("mean", "nanmean", None):
            means = f"{statistic}/scores.{field}"
            reason = (UNKNOWN_WEIGHTS if parts else None) if by else UNKNOWN_MEAN
        else:
            reason = f"defined otherwise: an aggregate ({by}) of all rows"
        variant = _variant(run, of_filter) if run else home
        name = key if is_whole else f"{task}/{key}"
        is_main = is_whole and metric == next(iter(aggregated), None)
        yield figure(name, value, means, variant=variant, reason=reason, is_main=is_main)
