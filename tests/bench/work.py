"""The pieces of work that are timed, each run in a process of its own."""

from __future__ import annotations

import itertools
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


def ndjson(path: str) -> None:
    """The whole file as a frame."""
    import polars

    polars.read_ndjson(path, infer_schema_length=None, ignore_errors=True)


def stages(path: str, out: str) -> None:
    """Print the CPU seconds of an analysis, stage by stage."""
    from pipeline.run import Progress, run
    from pipeline.settings import Settings

    began: list[tuple[str, float]] = []

    def stage(words: str) -> None:
        began.append((words.split()[0], time.process_time()))

    run(Settings((Path(path),), Path(out)), progress=Progress(stage=stage))
    began.append(("end", time.process_time()))
    spent = {name: after - at for (name, at), (_, after) in itertools.pairwise(began)}
    print(
        json.dumps(
            {
                "load": spent.get("reading", 0),
                "relations": spent.get("making", 0) + spent.get("checking", 0),
                "report": spent.get("writing", 0),
            }
        )
    )


# What the pages printed before there was a diagnosis: the rest of what is computed is diagnosis.
METRIC_TABLES = (
    "headlines curves uncertainties policies components resources slices reported "
    "funnels buckets bucket_tasks task_totals".split()
)


def metrics(path: str) -> None:
    """Print how long the figures took, once the rollouts were loaded."""
    spent = _timed(path)
    print(f"  metrics stage {_told(spent, _of_metrics(), 'texts')}")
    print(f"  diagnosis     {_told(spent, _after('main.rollouts') - _of_metrics())}")


def comparisons(path: str, out: str, *baselines: str) -> None:
    """Print how long all comparisons took, and the contrasts, which are of one run and of two."""
    spent = _timed(path, out=out, baselines=baselines)
    contrasts = _after("staging.sometimes_rollouts")
    compared = {"staging.run_pairs"} | _after("staging.run_pairs") - contrasts
    print(f"  {'one baseline' if baselines else 'every pair':13}{_told(spent, compared)}")
    print(f"    contrasts  {_told(spent, contrasts)}")
    print(f"    all of the analysis {spent['all']:.2f} s, its texts {spent['texts']:.2f} s")


def _told(spent: dict[str, float], names: set[str], *more: str) -> str:
    chosen = [*names, *more]
    slowest = sorted(chosen, key=lambda name: -spent[name])[:4]
    listed = ", ".join(f"{name} {spent[name]:.2f}" for name in slowest)
    return f"{sum(spent[name] for name in chosen):6.2f} s   ({listed})"


def _reads() -> dict[str, list[str]]:
    from pipeline.profile import Profile
    from pipeline.run import made_relations
    from pipeline.settings import SQL_DIR
    from pipeline.warehouse import relations

    ordered = relations.relations(SQL_DIR, made_relations(Profile()))
    return {relation.name: relation.reads for relation in ordered}


def _after(first: str) -> set[str]:
    """Whatever reads a relation, through however many steps."""
    after = {first}
    for name, read in _reads().items():
        if after & set(read):
            after.add(name)
    return after - {first}


def _of_metrics() -> set[str]:
    """Of these, what the figures of the metrics pages are made from."""
    read_by, todo, found = _reads(), [f"report.{name}" for name in METRIC_TABLES], set()
    while todo:
        name = todo.pop()
        found.add(name)
        todo += [read for read in read_by[name] if read not in found]
    return found & _after("main.rollouts")


def _timed(path: str, **options: Any) -> dict[str, float]:
    """Seconds for each relation, for the texts, and for all of an analysis."""
    import pipeline
    from pipeline import report
    from pipeline.warehouse import relations

    spent: dict[str, float] = {}

    def clocked(name: str, work: Any, *given: Any, **options: Any) -> Any:
        started = time.perf_counter()
        result = work(*given, **options)
        spent[name] = time.perf_counter() - started
        return result

    create, texts = relations.create_relation, report.texts
    relations.create_relation = lambda db, relation: clocked(relation.name, create, db, relation)
    report.texts = lambda *given, **options: clocked("texts", texts, *given, **options)
    with tempfile.TemporaryDirectory() as folder:
        clocked("all", lambda: pipeline.analyze(path, **{"out": folder, **options}))
    return spent


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
