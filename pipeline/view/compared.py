"""A comparison with its ledgers, and the tasks behind one line of them."""

from __future__ import annotations

from collections.abc import Mapping

from .opened import AbsentError, Opened, Page, Row, page_no, rows_of

PAGE = 50


def comparison(opened: Opened, query: Mapping[str, str]) -> Page | None:
    """The comparison of the requested pair, else of the first; None if nothing was compared."""
    pairs = opened.cached("pairs", lambda: opened.rows("pairs"))
    if not pairs:
        return None
    key = _pair(query) or {name: pairs[0][name] for name in ("base", "candidate")}
    metrics = opened.rows("metrics", **key)
    if not metrics:
        hint = "Compare them in a terminal with: blade compare BASE CANDIDATE"
        raise AbsentError("This analysis did not compare these runs.", hint=hint)
    chosen = next((row for row in metrics if row["metric"] == query.get("metric")), metrics[0])
    ledgers: dict[str, list[Row]] = {}
    for row in opened.rows("ledger", **key, metric=chosen["metric"]):
        missing = ", missing as failures" if row["policy"] == "counted_as_fail" else ""
        by = f" by {row['slice_key']}" if row["slice_key"] else ""
        ledgers.setdefault(f"{row['ledger']}{by}{missing}", []).append(row)
    return {
        **key,
        "pairs": pairs,
        "metrics": metrics,
        "metric": chosen,
        "ledgers": ledgers,
        "settings": opened.cached(
            ("settings", *key.values()), lambda: opened.rows("settings", **key)
        ),
        "flips": opened.rows("flips", **key),
        "signs": opened.rows("flip_signs", **key),
    }


def line_tasks(opened: Opened, query: Mapping[str, str]) -> Page:
    """The tasks behind a line of a ledger."""
    key = _pair(query)
    pair = opened.rows("metrics", **key) if key else []
    if not pair:
        raise AbsentError("This line is in no ledger of this analysis.")
    names = ("metric", "policy", "ledger", "slice", "line", "effect")
    filters = {name: query.get(name, "") for name in names}
    page = page_no(query.get("page"))
    n_rows = rows_of(query, PAGE)
    tasks = opened.rows("line_tasks", **key, **filters, most=n_rows, skipped=(page - 1) * n_rows)
    n_tasks = tasks[0]["n_found"] if tasks else 0
    return {
        "asked": {**filters, "pair": query["pair"]},
        "comparison": pair[0],
        "tasks": tasks,
        "n_tasks": n_tasks,
        "page": page,
        "n_pages": -(-n_tasks // n_rows),
    }


def _pair(query: Mapping[str, str]) -> dict[str, str]:
    """Both runs of an address; names of runs contain no slash."""
    base, slash, candidate = query.get("pair", "").partition("/")
    return {"base": base, "candidate": candidate} if slash else {}
