"""Rollouts that NeMo Gym exported to MLflow or Weights & Biases: a table of one column of JSON."""

from __future__ import annotations

import re

from ...artifact import Artifact, Kind
from . import (
    Claim,
    Claims,
    Files,
    Readings,
    Reject,
    Row,
    fields,
    head,
    packed,
)

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


def claims(files: Files) -> Claims:
    for file in files:
        if COLUMNS.search(head(file.path)):
            folder = OF_TRACKER.sub("", file.folder)
            yield Claim(file, Kind.ROLLOUTS, folder, "rollouts", mark=file.base)


def read(artifact: Artifact) -> Readings:
    for name, cells in packed.fields(artifact.path, "data"):
        if name == "data":
            row = fields(cells, 0)
            is_row = bool(row.keys() & {"reward", "response"})
            yield Row(row) if is_row else Reject("no reward and no response", str(cells)[:200])
