"""The pieces of work that are timed, each run in a process of its own."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from pathlib import Path

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
                reported = (item.get("name"), item.get("call_id"), item.get("arguments"))
                events.append((number, seq, item["type"], *reported, item.get("output") or text))
    polars.DataFrame(rollouts, orient="row")
    polars.DataFrame(events, orient="row")


def ndjson(path: str) -> None:
    """The whole file as a frame."""
    import polars

    polars.read_ndjson(path, infer_schema_length=None, ignore_errors=True)


def stages(path: str, out: str, engine: str = "local") -> None:
    """Print the CPU seconds of an analysis, stage by stage, and of this process in all."""
    from pipeline.run import Progress, run
    from pipeline.settings import Settings

    began: list[tuple[str, float]] = []

    def stage(words: str) -> None:
        began.append((words.split()[0], time.process_time()))

    settings = Settings((Path(path),), Path(out), engine=engine)
    run(settings, progress=Progress(stage=stage))
    began.append(("end", time.process_time()))
    spent = {name: after - at for (name, at), (_, after) in itertools.pairwise(began)}
    print(
        json.dumps(
            {
                "load": spent.get("reading", 0),
                "relations": spent.get("creating", 0) + spent.get("checking", 0),
                "report": spent.get("writing", 0),
                "process": time.process_time(),
            }
        )
    )


def tasks(path: str) -> None:
    """All tasks of an engine, one after the other; print how many bytes they hand back."""
    from pipeline.ingest import discover
    from pipeline.ingest.load import shards
    from pipeline.settings import DEFAULT_MAX_LINE_BYTES

    (artifact,) = discover.artifacts((Path(path),))
    spans = shards.cut(artifact)
    prefixes = shards.scan(shards.Divided(artifact, spans)) if len(spans) > 1 else []
    befores = [0, *(prefix.n_lines for prefix in prefixes)]
    n_bytes = 0
    for span, n_before in zip(spans, befores, strict=False):
        shard = shards.Shard(artifact, 0, span, n_before, DEFAULT_MAX_LINE_BYTES)
        n_bytes += sum(map(len, shards.gather(shard).tables.values()))
    print(json.dumps({"n_bytes": n_bytes}))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
