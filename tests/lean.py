"""An analysis of no more than a test asks about: other relations, and the pages, cost time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from pipeline.profile import Profile
from pipeline.relation import Relation
from pipeline.run import computed_relations
from pipeline.settings import SQL_DIR
from pipeline.warehouse import relations

# What was read, and what the figures are made of.
LOADED = (
    "artifacts runs tasks task_prompts expected rollouts events failures rejects labels "
    "reported_metrics".split()
)
METRICS = (
    "task_outcomes bucket_counts bucket_matrix run_metrics pass_curve estimates denominators "
    "slice_metrics resource_stats reward_components funnel rollout_stages reported_checks".split()
)

# And how failures differ from passes; without what compares runs, and without pages.
DIAGNOSIS = (
    "signs checks expected_calls expected_tools rollout_features rollout_modes failure_modes "
    "mode_slices size_contrasts stuck_checks failure_notes findings root_causes "
    "recommendations error_signatures contrasts labels "
    "health_findings rollout_health task_health run_health".split()
)

# What a format is read into, with its figures beside ours.
RECORDED = (*LOADED, "reported_checks")
# What every check asks, for a test of which notices there are.
CHECKED = (*RECORDED, "run_metrics", "comparison_tasks")


NAMED = re.compile(r"\b(?:from|join) ((?:report\.|staging\.|assertions\.)?[a-z_]+)\b(?!\()")


@cache
def _every() -> list[Relation]:
    return relations.relations(SQL_DIR, computed_relations(Profile()))


_columns: dict[str, str] = {}


def columns_of_all() -> dict[str, str]:
    """The columns that an analysis with every relation has remembered: planning them takes long."""
    # Where nothing was analyzed before, another test may do so at any time.
    if not _columns:
        _columns.update(relations.known_columns(SQL_DIR, _every()))
    return _columns


def named(*queries: str) -> list[str]:
    """The relations that queries name, apart from their own steps."""
    known = {relation.name.removeprefix("main.") for relation in _every()}
    return sorted(known.intersection(NAMED.findall(" ".join(queries))))


NO_NOTICES = "select '' as check_name, '' as subject, '' as message, '' as hint where false"


@contextmanager
def only(*names: str) -> Iterator[None]:
    """Relations of `main` by name, all that they read, and the checks that can then be asked.

    A name with a schema is of that one.
    """
    whole, known = relations.relations, columns_of_all()

    def pruned(sql_dir: Path, made: Any = ()) -> list[Relation]:
        every = whole(sql_dir, made)
        wanted = with_all_read(every, names)
        return [
            relation if set(relation.reads) <= wanted else replace(relation, query=NO_NOTICES)
            for relation in every
            if relation.name in wanted or relation.name.startswith("assertions.")
        ]

    with (
        mock.patch.object(relations, "relations", pruned),
        mock.patch.object(relations, "known_columns", lambda *_: known),
        without_pages(),
    ):
        yield


def with_all_read(every: list[Relation], names: tuple[str, ...]) -> set[str]:
    """These relations and all that they read."""
    by_name = {relation.name: relation for relation in every}
    wanted: set[str] = set()
    # The manifest lists the inputs.
    todo = [name if "." in name else f"main.{name}" for name in ("artifacts", *names)]
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += by_name[name].reads
    return wanted


@contextmanager
def all_empty_but(*names: str) -> Iterator[None]:
    """Every relation, for a page that reads them all; only these and what they read have rows."""
    whole, known = relations.relations, columns_of_all()

    def emptied(sql_dir: Path, made: Any = ()) -> list[Relation]:
        every = whole(sql_dir, made)
        wanted = with_all_read(every, names)
        # What needs rows that are not there is made empty without planning its query.
        unmet = (("(select 1 where false)",),)
        return [each if each.name in wanted else replace(each, needs=unmet) for each in every]

    with (
        mock.patch.object(relations, "relations", emptied),
        mock.patch.object(relations, "known_columns", lambda *_: known),
    ):
        yield


@contextmanager
def without_pages() -> Iterator[None]:
    """The warehouse alone, with every relation."""
    with (
        mock.patch("pipeline.run.report.collect", lambda _: None),
        mock.patch("pipeline.run.report.texts", lambda *_, **__: {}),
    ):
        yield
