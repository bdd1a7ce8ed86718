"""Which keys a profile may hold, and where."""

from __future__ import annotations

from pipeline.toml import Contract

CONTRACT = Contract(
    noun="profile",
    file_name="blade.toml",
    keys={
        table: frozenset(keys.split())
        for table, keys in {
            "": "benchmark pass_threshold slices fields expected funnel failure_mode",
            "fields": "task_id reward answer group",
            "expected": "tasks repeats",
            "funnel": "stage when",
            "failure_mode": "mode title when cause severity intervention evidence signal",
        }.items()
    },
    repeated=frozenset({"funnel", "failure_mode"}),
)
