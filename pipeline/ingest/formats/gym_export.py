"""Rollouts that NeMo Gym exported to MLflow or Weights & Biases: a table of one column of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...artifact import Artifact, Kind, ListedFile
from . import Claim, Reading, Reject, Row, fields, get, head, packed

TITLE = "NeMo Gym, exported"
FILES = (
    "`rollouts.json` of MLflow, `media/table/Rollouts_<step>_<hash>.table.json` of Weights & Biases"
)
GIVES = "checks transcript tokens durations"
SCORE = "as in rows of Gym, which the column `Rollout` holds as text"
NOTES = "One run per table, named after the folder. Other tables of columns and data are your own."
NAMES = re.compile(r"\.json$", re.IGNORECASE)
COLUMNS = re.compile(rb'"columns"\s*:\s*\[\s*"Rollout"\s*\]')
OF_TRACKER = re.compile(r"/?(files/)?(media/table|artifacts)$")


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Tables whose only column is `Rollout`."""
    for file in files:
        if COLUMNS.search(head(file.path)):
            folder = OF_TRACKER.sub("", file.folder)
            yield Claim(file, Kind.ROLLOUTS, folder, "rollouts", mark=file.base)


def read(artifact: Artifact) -> Iterator[Reading]:
    """The rows of Gym as they were exported."""
    for name, cells in packed.fields(artifact.path, "data"):
        if name == "data":
            row = fields(get(cells, 0))
            is_row = bool(row.keys() & {"reward", "response"})
            yield Row(row) if is_row else Reject("no reward and no response", str(cells)[:200])
