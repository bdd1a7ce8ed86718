"""The check of a pull request: one comment that is kept up to date, the exit code of the gate."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline import pull_request
from pipeline.report import markdown
from tests.conftest import ROOT

ISSUES = "/repos/org/evals/issues"
BOT = {"login": "github-actions[bot]"}
OTHERS = [{"id": n, "user": {"login": "ann"}, "body": "hello"} for n in range(100)]


class Api:
    """Recorded answers of the API, and what was asked for them."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.artifacts: list[dict[str, Any]] = []
        self.status = 200
        self.asked: list[tuple[str, str, str]] = []

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any]:
        """As recorded: a page of comments, or the comment that was written."""
        self.asked.append((method, path, body))
        if "/actions/artifacts" in path and self.status == 200:
            return 200, {"artifacts": self.artifacts}
        if method == "GET" and self.status == 200:
            page = int(path.rpartition("=")[2])
            return 200, self.comments[100 * page - 100 : 100 * page]
        return (201 if method == "POST" and self.status == 200 else self.status), {"id": 7}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """The API on loopback, for the tenth pull request of a repository."""
    recorded = Api()

    class Handler(BaseHTTPRequestHandler):
        def answered(self) -> None:
            assert self.headers["Authorization"] == "Bearer secret"
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size))["body"] if size else ""
            status, content = recorded.answer(self.command, self.path, body)
            self.send_response(status)
            if status == 301:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        do_GET = do_POST = do_PATCH = answered  # noqa: N815 (names of the library)

        def log_message(self, *_: Any) -> None:
            """Nothing: what pytest shows is enough."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    event = {
        "pull_request": {"number": 10, "head": {"sha": "0123456789abcdef"}},
        "repository": {"default_branch": "trunk"},
    }
    (tmp_path / "event.json").write_text(json.dumps(event))
    for name, value in {
        "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_REPOSITORY": "org/evals",
        "GITHUB_TOKEN": "secret",
        "BLADE_KEY": "nightly run -->",
        "no_proxy": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    yield recorded
    server.shutdown()
    server.server_close()


def ended(monkeypatch: pytest.MonkeyPatch, code: int, page: str = "") -> int:
    """What the job ends with where `blade compare` ends so."""
    message = f"print({page!r}, end=''); raise SystemExit({code})"
    monkeypatch.setattr(pull_request, "BLADE", (sys.executable, "-S", "-c", message))
    return pull_request.main(["compare", "base", "candidate"])


def artifact(run: int, day: int, *, branch: str = "trunk", of: int = 1, expired: bool = False):
    """An artifact as the API lists it; the repository has the number 1, a fork has another."""
    return {
        "created_at": f"2026-01-{day:02}T00:00:00Z",
        "expired": expired,
        "workflow_run": {
            "id": run,
            "head_branch": branch,
            "repository_id": 1,
            "head_repository_id": of,
        },
    }


def test_the_base_is_the_last_artifact_of_the_default_branch(
    api: Api, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not one of a pull request, of a fork's branch of the same name, or one that has expired."""
    api.artifacts = [
        artifact(1, 1),
        artifact(3, 3),
        artifact(2, 2),
        artifact(4, 4, branch="feature"),
        artifact(5, 5, of=2),
        artifact(6, 6, expired=True),
    ]
    assert pull_request.main(["last-artifact", "base results&x"]) == 0
    assert capfd.readouterr().out == "run=3\n"
    query = "name=base+results%26x&per_page=100"
    assert api.asked == [("GET", f"/repos/org/evals/actions/artifacts?{query}", "")]


def test_no_base_yet_is_a_warning_and_a_failed_request_an_error(
    api: Api, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing is compared before the first artifact; a fault must not look like that."""
    assert pull_request.main(["last-artifact", "base"]) == 0
    printed = capfd.readouterr()
    assert printed.out == "run=\n" and printed.err.startswith("::warning::the default branch has")
    api.status = 500
    assert pull_request.main(["last-artifact", "base"]) == 3
    printed = capfd.readouterr()
    assert printed.out == "" and "HTTPError 500" in printed.err


def test_first_a_new_comment_then_the_same_one(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any page; somebody else's that begins like ours is left alone."""
    assert ended(monkeypatch, 0, "first\n") == 0
    mark = "<!-- nightly_run____ -->\n"
    assert api.asked == [
        ("GET", f"{ISSUES}/10/comments?per_page=100&page=1", ""),
        ("POST", f"{ISSUES}/10/comments", f"{mark}first\n\nCommit 0123456789ab\n"),
    ]
    ours = {"id": 70, "user": BOT, "body": f"{mark}first"}
    api.comments = [*OTHERS[1:], {**OTHERS[0], "body": f"{mark}mine"}, ours]
    assert ended(monkeypatch, 1, "second\n") == 1
    written = f"{mark}second\n\nCommit 0123456789ab\n"
    assert api.asked[4:] == [("PATCH", f"{ISSUES}/comments/70", written)]
    assert (tmp_path / "summary.md").read_text() == "first\nsecond\n"


@pytest.mark.slow
def test_the_comment_is_the_comparison(api: Api, demo: Path, tmp_path: Path) -> None:
    """With verdict, table, causes and link; the exit code is the gate's."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[[metric]]\nmetric = "pass_at_1"\nmargin = 0.02\n')
    runs = ["office_desk_aster-8b", " office_desk_birch-70b\n", "--warehouse", str(demo)]
    request = ["--policy", str(policy), "--link", "https://example.org/a?b=c#d"]
    assert pull_request.main(["compare", *runs, *request]) == 3
    body = api.asked[-1][2]
    assert "\n# Cross-Model Comparison\n\n**INCONCLUSIVE** " in body
    assert "points, the sum of these parts; the change is not significant, so no part" in body
    assert "| pass_at_1 non-inferior | blocking |" in body and "\n- pass_at_1 non-inf" in body
    assert "\n[The whole report](https://example.org/a?b=c#d)\n" in body


def test_what_goes_wrong_leaves_the_exit_code(
    api: Api, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that may not write, a redirect, a fault: a warning; a failed comparison says so."""
    for status in (403, 301, 500):
        api.status = status
        assert ended(monkeypatch, 3) == 3
        warning = f"::warning::the comment could not be written (HTTPError {status})\n"
        assert capfd.readouterr().out == warning
    assert "ended with exit code 3" in (tmp_path / "summary.md").read_text()
    assert [method for method, _, _ in api.asked] == ["GET"] * 3


def test_without_a_pull_request_there_is_no_comment(
    api: Api, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor without a token; the summary of the job has the page all the same."""
    monkeypatch.setenv("GITHUB_TOKEN", "")
    assert ended(monkeypatch, 0, "page\n") == 0
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    (tmp_path / "event.json").write_text("{}")
    assert ended(monkeypatch, 0, "page\n") == 0
    words = "no token, so no comment\nno pull request, so no comment\n"
    assert (capfd.readouterr().out, api.asked) == (words, [])
    assert (tmp_path / "summary.md").read_text() == "page\npage\n"


def test_a_page_fits_a_comment() -> None:
    """What is beyond it is cut between lines, and a line says so."""
    opening = "".join(f"- `{'x' * 100}{n}`\n" for n in range(2000))
    page = markdown.comparison_page([], opening=opening)
    assert len(page) <= 60_000 and len(page) > 59_800
    assert page.endswith("\n\n" + markdown.CUT.strip() + "\n")
    assert set(page.splitlines()[2:-2]) <= set(opening.splitlines())


def test_inputs_of_the_action_reach_no_shell_unquoted() -> None:
    """Every input is declared, and comes to a script as a variable alone."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    text = json.dumps(action["runs"])
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        for name in step.get("env", {}):
            assert name not in step["run"] or f'"${name}"' in step["run"]


def test_actions_of_others_are_pinned() -> None:
    """By the commit, with the version beside it, here and in the workflow."""
    for path in ("action.yml", ".github/workflows/ci.yml"):
        for used in re.findall(r"uses: (.*)", (ROOT / path).read_text("utf-8")):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), used


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({}, "--baseline|main"),
        ({"COMMAND": "suite"}, ""),
        ({"ARTIFACT": "base"}, ""),
        ({"ARTIFACT": "base", "FOLDER": "/a b/c"}, "--run|main=/a b/c|--baseline|main"),
    ],
)
def test_what_is_analyzed(inputs: dict[str, str], expected: str, tmp_path: Path) -> None:
    """With the base's results of an artifact, or of the folder; without any there is no base."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (script,) = (
        step["run"] for step in action["runs"]["steps"] if "blade analyze" in step.get("run", "")
    )
    (tmp_path / "blade").write_text('#!/bin/bash\nIFS="|"\necho "$*"\n')
    (tmp_path / "blade").chmod(0o755)
    defaults = {"RESULTS": "my results", "BASE": "main", "OUT": "out", "COMMAND": "compare"}
    names = {"FOLDER": "", "ARTIFACT": "", "PATH": f"{tmp_path}:/usr/bin:/bin"} | defaults | inputs
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        env=names,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "analyze|my results|--out|out" + f"|{expected}" * bool(expected)
