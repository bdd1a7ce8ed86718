"""Post the output of `blade compare` or `blade suite` as a comment on a pull request.

action.yml runs it as `python -P -m blade.pipeline.pull_request COMMAND BASE CANDIDATES ...`. A
later run updates the comment. The exit code is that of the command, whether or not the comment
could be written. With `last-artifact NAME` it prints which run has the base's results.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# -P: the folder of the job may have a package of the same name.
BLADE = (sys.executable, "-P", "-m", "blade")
PER_PAGE = 100
MOST_PAGES = 50


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects: the token must not be sent to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


def main(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run the command and comment; returns its exit code."""
    if arguments[0] == "last-artifact":
        return print_last_artifact(arguments[1], environment)
    command, base, candidates, *options = arguments
    words = [*BLADE, command, "--format", "markdown", base, *candidates.split(), *options]
    ended = subprocess.run(words, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    code = ended.returncode
    page = ended.stdout or f"`blade {command}` ended with exit code {code}; see the log.\n"
    try:
        # Not to the log, which would interpret some lines of the page as commands.
        with Path(environment["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
            file.write(page)
        print(comment(page, environment))
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
        # The token of a fork may not write; the exit code is the same.
        print(f"::warning::the comment could not be written ({_reason(error)})")
    return code


def print_last_artifact(name: str, environment: Mapping[str, str]) -> int:
    """Print the run whose artifact has the base's results, or nothing if there is none yet.

    A request that fails is an error: otherwise nothing would be compared, and the check would pass.
    """
    try:
        run = last_artifact(name, environment)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
        print(f"::error::artifacts could not be listed ({_reason(error)})", file=sys.stderr)
        return 3
    if run is None:
        message = "the default branch has no artifact of this name, so nothing is compared"
        print(f"::warning::{message}", file=sys.stderr)
    print(f"run={'' if run is None else run}")
    return 0


def last_artifact(name: str, environment: Mapping[str, str]) -> int | None:
    """The run of the default branch that last wrote an artifact of this name."""
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    branch = event["repository"]["default_branch"]
    query = urllib.parse.urlencode({"name": name, "per_page": PER_PAGE})
    path = f"/repos/{environment['GITHUB_REPOSITORY']}/actions/artifacts?{query}"
    runs = [
        (each["created_at"], int(each["workflow_run"]["id"]))
        for each in _request(environment, "GET", path)["artifacts"]
        if not each["expired"]
        and each["workflow_run"]["head_branch"] == branch
        # A fork may have a branch of the same name.
        and each["workflow_run"]["head_repository_id"] == each["workflow_run"]["repository_id"]
    ]
    return max(runs)[1] if runs else None


def comment(page: str, environment: Mapping[str, str]) -> str:
    """Write the page to the pull request: update the existing comment, else add one."""
    if not environment.get("GITHUB_TOKEN"):
        return "no token, so no comment"
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    request = event.get("pull_request")
    if not request:
        return "no pull request, so no comment"
    # Jobs with different keys have different comments.
    key = re.sub(r"[^A-Za-z0-9_.]", "_", environment.get("BLADE_KEY") or "blade")
    mark = f"<!-- {key} -->"
    body = f"{mark}\n{page}\nCommit {request['head']['sha'][:12]}\n"
    author = environment.get("BLADE_AUTHOR") or "github-actions[bot]"
    issues = f"/repos/{environment['GITHUB_REPOSITORY']}/issues"
    listing = f"{issues}/{int(request['number'])}/comments"
    for number in range(1, MOST_PAGES + 1):
        query = f"?per_page={PER_PAGE}&page={number}"
        comments = _request(environment, "GET", listing + query)
        for each in comments:
            # Anyone may write this marker, and could later edit their own comment.
            if each["user"]["login"] == author and each["body"].startswith(mark):
                _request(environment, "PATCH", f"{issues}/comments/{int(each['id'])}", body)
                return "comment updated"
        if len(comments) < PER_PAGE:
            break
    _request(environment, "POST", listing, body)
    return "comment written"


def _reason(error: Exception) -> str:
    return f"{type(error).__name__} {getattr(error, 'code', '')}".strip()


def _request(
    environment: Mapping[str, str], method: str, path: str, body: str | None = None
) -> Any:
    request = urllib.request.Request(
        environment.get("GITHUB_API_URL", "https://api.github.com") + path,
        method=method,
        data=None if body is None else json.dumps({"body": body}).encode(),
        headers={
            "Authorization": f"Bearer {environment['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
