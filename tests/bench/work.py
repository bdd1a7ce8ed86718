"""The pieces of work that are timed, each run in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# What the floor reads: the items of a response, typed, and nothing else.
ITEM = (
    "type varchar, role varchar, name varchar, call_id varchar, arguments varchar, "
    "output varchar, content json, summary json"
)


def floor(path: str) -> None:
    """A typed read_json of the output items straight into an uncompressed events table."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        db = duckdb.connect(str(Path(folder, "floor.duckdb")))
        db.execute("pragma force_compression = 'uncompressed'")
        db.execute("set preserve_insertion_order = false")
        db.execute(
            f"""
            create table events as
            select seq, item.* from (
                select generate_subscripts(items, 1) as seq, unnest(items) as item
                from (
                    select response.output as items
                    from read_json(
                        ?, format = 'newline_delimited', records = true,
                        columns = {{response: 'struct(output struct({ITEM})[])'}}
                    )
                )
            )
            """,
            [path],
        )
        db.close()


def loop(path: str) -> None:
    """What people write: json.loads line by line, the same fields kept in dataframes."""
    import polars

    rollouts, events = [], []
    with Path(path).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            row = json.loads(line)
            response = row.pop("response")
            request = row.pop("responses_create_params")
            rollouts.append(
                (
                    number,
                    row.pop("_ng_task_index"),
                    row.pop("_ng_rollout_index"),
                    row.pop("reward"),
                    response.get("model"),
                    json.dumps(response.get("usage")),
                    json.dumps(request["input"]),
                    json.dumps(row),
                )
            )
            for seq, item in enumerate(response["output"], start=1):
                content = item.get("content") or item.get("summary")
                text = content if isinstance(content, str) else json.dumps(content)
                told = (item.get("name"), item.get("call_id"), item.get("arguments"))
                events.append((number, seq, item["type"], *told, item.get("output") or text))
    polars.DataFrame(rollouts, orient="row")
    polars.DataFrame(events, orient="row")


def load(path: str) -> None:
    """Files to queryable rollouts and events, as `blade analyze` does it."""
    import pipeline

    with tempfile.TemporaryDirectory() as folder:
        pipeline.analyze(path, out=folder)


def metrics(path: str) -> None:
    """Print how long everything took that is computed from the rollouts once they are loaded."""
    import pipeline
    from pipeline import report
    from pipeline.profile import Profile
    from pipeline.run import made_relations
    from pipeline.settings import SQL_DIR
    from pipeline.warehouse import relations

    ordered = relations.relations(SQL_DIR, made_relations(Profile()))
    after = {"main.rollouts"}
    for relation in ordered:
        if after & set(relation.reads):
            after.add(relation.name)
    spent = dict.fromkeys(sorted(after - {"main.rollouts"}), 0.0)
    create, texts = relations._create, report.texts

    def timed_create(db: Any, relation: Any) -> None:
        started = time.perf_counter()
        create(db, relation)
        if relation.name in spent:
            spent[relation.name] = time.perf_counter() - started

    def timed_texts(content: Any) -> Any:
        started = time.perf_counter()
        written = texts(content)
        spent["texts"] = time.perf_counter() - started
        return written

    relations._create, report.texts = timed_create, timed_texts
    with tempfile.TemporaryDirectory() as folder:
        pipeline.analyze(path, out=folder)
    slowest = sorted(spent, key=lambda name: -spent[name])[:4]
    listed = ", ".join(f"{name} {spent[name]:.2f}" for name in slowest)
    print(f"  metrics stage {sum(spent.values()):6.2f} s   ({listed})")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
