"""JUnit XML, which build servers show: a run is a suite of tests, a task is a test."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from ..files import read_queries
from ..warehouse import Warehouse
from .attempts import RUNS, Note, Row, Written, folder_name

QUERIES = read_queries("export/junit")
# XML 1.0 has no place for these characters, not even escaped.
FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note) -> Written:
    """Write one file per run: a task fails unless every expected attempt passed."""
    for run_id in warehouse.column(RUNS):
        tasks = warehouse.rows(QUERIES["tasks"], run_id)
        name = f"{folder_name(run_id)}/junit.xml"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        tree = ElementTree.ElementTree(_suite(run_id, tasks))
        ElementTree.indent(tree)
        tree.write(folder / name, encoding="utf-8", xml_declaration=True)
        yield name, len(tasks)


def _suite(run_id: str, tasks: list[Row]) -> ElementTree.Element:
    cases = [_case(task) for task in tasks]
    suite = ElementTree.Element(
        "testsuite",
        name=_text(run_id),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
    )
    suite.extend(cases)
    top = ElementTree.Element("testsuites")
    top.append(suite)
    return top


def _case(task: Row) -> ElementTree.Element:
    """A test; without a score it is an error, which build servers count apart from failures."""
    case = ElementTree.Element(
        "testcase", name=_text(task["task_id"]), classname=_text(task["benchmark"])
    )
    if task["seconds"] is not None:
        case.set("time", f"{task['seconds']:.3f}")
    n_attempts, n_scored, n_passed = task["n_attempts"], task["n_scored"], task["n_passed"]
    if n_scored and n_passed is None:
        message = f"nothing says which reward passes; mean reward {task['mean_reward']:.4g}"
        ElementTree.SubElement(case, "skipped", message=message)
        return case
    if n_scored and n_passed == n_attempts:
        return case
    message = f"{n_passed or 0} of {n_attempts} attempts passed"
    if n_scored < n_attempts:
        message += f", {n_attempts - n_scored} without a score"
    outcome = ElementTree.SubElement(case, "failure" if n_scored else "error", message=message)
    outcome.text = _text("\n".join(task["failures"]))
    return case


def _text(text: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
