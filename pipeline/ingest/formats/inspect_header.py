"""What the header of an Inspect AI log says: settings, expected attempts, published figures."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from pipeline.ingest.formats import (
    OTHER_ROWS,
    Expected,
    Figure,
    Reading,
    Setting,
    fields,
    get,
    items,
    number,
    text,
    told,
)
from pipeline.ingest.formats.inspect_sample import Log

MOST_EXPECTED = 1_000_000
LIMITS = "message_limit token_limit time_limit working_limit cost_limit turn_limit".split()
SAMPLING = "temperature top_p top_k max_tokens".split()


def short(name: str) -> str:
    """The last part of a name that has its organization or package before it."""
    return name.rstrip("/").rpartition("/")[2]


def log_of(header: Any) -> Generator[Reading, None, Log]:
    """Settings, expected attempts and published figures; returns what samples need to know."""
    said = fields(get(header, "eval"))
    config = {**fields(said.get("model_generate_config")), **fields(get(header, "plan", "config"))}
    model = text(said.get("model"))
    limits = {name: get(said, "config", name) for name in LIMITS}
    sampling = {name: config.get(name) for name in SAMPLING}
    settings = {**sampling, **limits, "num_repeats": _epochs(header)}
    for name, value in {"model": model, **settings}.items():
        if text(value):
            yield Setting(name, str(text(value)))
    yield from _figures(header)
    if (total := _total(header)) is not None:
        yield Figure(
            None, None, None, "total_samples", total, means="num_rollouts", reason=OTHER_ROWS
        )
    score, key = _headline(header)
    request = told(
        {
            "model": model,
            "temperature": number(config.get("temperature")),
            "top_p": number(config.get("top_p")),
            "max_output_tokens": config.get("max_tokens"),
        }
    )
    return Log(short(text(said.get("task")) or "inspect"), model, request, score, key)


def _epochs(header: Any) -> int:
    epochs = get(header, "eval", "config", "epochs")
    return epochs if isinstance(epochs, int) and 0 < epochs <= MOST_EXPECTED else 1


def _total(header: Any) -> float | None:
    """How many samples a log holds that says it is whole."""
    is_whole = get(header, "status") == "success"
    return number(get(header, "results", "total_samples")) if is_whole else None


def expected(header: Any, n_samples: int | None) -> Iterator[Expected]:
    """All samples at all epochs; those that were taken out of a whole log were not missed."""
    if n_samples is not None and n_samples < (_total(header) or 0):
        return
    ids = [text(one) for one in items(get(header, "eval", "dataset", "sample_ids"))]
    epochs = _epochs(header)
    for task in ids if len(ids) * epochs <= MOST_EXPECTED else ():
        for epoch in range(epochs if task else 0):
            yield Expected(str(task), epoch)


def _published(header: Any) -> list[Any]:
    """Scores with their metrics; the oldest logs have one, without a list."""
    results = fields(get(header, "results"))
    if "scores" in results or "metrics" not in results:
        return items(results.get("scores"))
    return [{**results, "name": get(results, "scorer", "name"), "scorer": None}]


def _headline(header: Any) -> tuple[str | None, str | None]:
    """The scorer that the reward is of, and which of its values where it gives several."""
    first = get(_published(header), 0)
    chosen = get(header, "results", "headline") or first
    scorer = text(get(chosen, "scorer")) or text(get(first, "name"))
    value = text(get(chosen, "score")) or text(get(chosen, "name"))
    if scorer is None:
        scorer = text(get(header, "eval", "scorers", 0, "name"))
    return scorer, None if value in (scorer, None) else value


def _figures(header: Any) -> Iterator[Figure]:
    """Metrics of every score: of the mean over epochs, unless epochs are reduced otherwise."""
    for score in _published(header):
        name, scorer = text(get(score, "name")) or "", text(get(score, "scorer"))
        field = f"scores.{name}" if scorer in (None, name) else f"scores.{scorer}.{name}"
        reducer = text(get(score, "reducer")) or "mean"
        several = text(get(score, "reducer"))
        for key, metric in fields(get(score, "metrics")).items():
            kind = (text(get(metric, "name")) or key).rpartition("/")[2]
            means = reason = None
            if reducer != "mean":
                reason = f"defined otherwise: epochs are reduced by {reducer}"
            elif kind in ("accuracy", "mean"):
                means = f"task_mean/{field}"
            elif kind == "stderr" and not get(metric, "params", "cluster"):
                means = f"task_stderr/{field}"
            shown = "/".join(part for part in (name, several, key) if part)
            value = number(get(metric, "value"))
            yield Figure(None, None, None, shown, value, None, means, 1.0, reason)
