"""blade view --bundle: pages as files, whole, repeatable and without what is private."""

from __future__ import annotations

import base64
import json
import re
from html import unescape
from pathlib import Path

import pytest

from tests import browser
from tests.lean import without_pages
from tests.results import analyzed, call, rollout
from tests.viewed import Markup

pytestmark = pytest.mark.slow

RUN = "desk_a"
PICTURE = f"data:image/png;base64,{base64.b64encode(bytes(300)).decode()}"
SECRET = "sk-proj-Zk3vQ8xT1mN7bR5wL2cJ9hF4dS6gA0pE"
MAIL = "ana.lopez@corp-mail.net"


def items(words: str) -> list[dict[str, str]]:
    """A call, its result, and words."""
    arguments = json.dumps({"api_key": SECRET, "to": MAIL})
    return [
        {"type": "function_call", "name": "send", "call_id": "c", "arguments": arguments},
        {"type": "function_call_output", "call_id": "c", "output": f"Error: {words} {PICTURE}"},
        {"type": "message", "role": "assistant", "content": f"I wrote to **{MAIL}**: {words}"},
    ]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of two tasks, one transcript of two pages and one long text."""
    long = [
        {"type": "message", "role": "assistant", "content": "x" * 4000 * (n == 1)}
        for n in range(201)
    ]
    rows = [
        rollout(
            task,
            index,
            ask=f"task {task}",
            reward=float(index > task),
            output=items(f"{task} {index}"),
        )
        for task in range(2)
        for index in range(2)
    ]
    files = {
        f"{RUN}_rollouts.jsonl": rows,
        "desk_b_rollouts.jsonl": [*rows[:3], rollout(1, 1, ask="task 1", output=long)],
    }
    with without_pages():
        path = analyzed(tmp_path_factory.mktemp("bundled"), files).path
    (path.parent / "labels.jsonl").write_text(
        json.dumps({"run": RUN, "task": "0", "cause": "KG", "note": "beside the warehouse"})
    )
    return path


@pytest.fixture(scope="module")
def folder(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its bundle."""
    out = tmp_path_factory.mktemp("bundle") / "pages"
    outcome = call("view", warehouse, "--bundle", out)
    assert outcome.code == 0 and outcome.stderr.startswith("writing pages\n")
    sizes = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
    listing = (out / "bundle.json").stat().st_size
    n_files, size = len(sizes) - 1, (sum(sizes) - listing) / 1e6
    assert f"{out}: {n_files:,} files, {size:,.1f} MB" in outcome.stdout
    return out


def read(folder: Path) -> dict[Path, Markup]:
    """Every page of a bundle."""
    return {path: Markup(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}


def refuse_other_addresses(found: dict[Path, Markup]) -> None:
    """Every address is that of a file of the bundle, or data of ours."""
    for path, page in found.items():
        for address in page.addresses:
            if address.startswith(("#", "data:")):
                continue
            name, _, _ = address.partition("#")
            assert re.fullmatch(r"(\.\./)?([a-z-]+/)?[0-9a-z]+\.(html|css|js)", name), address
            assert (path.parent / name).resolve().is_file(), (path, address)


def test_every_link_leads_to_a_page(folder: Path) -> None:
    """To a file of the bundle and a place in it; nothing is asked of a server."""
    found = read(folder)
    refuse_other_addresses(found)
    kinds = {path.relative_to(folder).parts[0] for path in found}
    assert kinds == {
        *("index.html", "tasks", "task", "rollout", "rollouts", "diff", "event"),
        *("compare", "compare-tasks"),
    }
    for path, page in found.items():
        assert not page.tags & {"iframe", "object", "embed", "base", "style"}
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'; style-src 'self'; script-src 'self'" in text
        assert text.count("<form") == 1, "of the keys alone"
        for address in page.addresses:
            name, _, fragment = address.partition("#")
            target = found.get((path.parent / name).resolve()) if name else page
            assert not fragment or target is None or fragment in target.ids, (path, address)


def test_every_rollout_is_there(folder: Path) -> None:
    """Each with its transcript, the long one on two pages, a long text in full."""
    texts = [path.read_text(encoding="utf-8") for path in (folder / "rollout").iterdir()]
    titles = sorted(title for text in texts for title in re.findall("<title>([^ ]*)", text))
    names = [f"desk_{run}/{task}:{index}" for run in "ab" for task in "01" for index in "01"]
    assert titles == sorted([*names, "desk_b/1:1"])
    whole = [path.read_text(encoding="utf-8") for path in (folder / "event").iterdir()]
    assert any("x" * 4000 in text for text in whole)
    assert any("left out" in text.lower() for text in texts), "what is missing is listed"
    assert not [text for text in texts if "beside the warehouse" in text], "no label of a file"


@pytest.mark.slow
def test_the_same_warehouse_gives_the_same_bytes(
    warehouse: Path, folder: Path, tmp_path: Path
) -> None:
    """Elsewhere, and over an earlier bundle, of which nothing stays."""
    out = tmp_path / "again"
    (out / "rollout").mkdir(parents=True)
    stale = f"rollout/{'0' * 16}.html"
    (out / stale).write_text("old")
    (out / "bundle.json").write_text(json.dumps({"files": [stale]}))
    assert call("view", warehouse, "--bundle", out).code == 0
    actual, expected = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (out, folder)
    )
    assert actual == expected


@pytest.mark.parametrize("listed", [None, ["notes.txt"], ["../notes.txt"], "notes.txt"])
def test_a_folder_of_others_is_refused(
    warehouse: Path, tmp_path: Path, listed: list[str] | str | None
) -> None:
    """With any list in it: nothing is written or removed."""
    (tmp_path / "notes.txt").write_text("mine")
    if listed is not None:
        (tmp_path / "bundle.json").write_text(json.dumps({"files": listed}))
    before = sorted(tmp_path.rglob("*"))
    outcome = call("view", warehouse, "--bundle", tmp_path)
    assert outcome.code == 2 and "not of an earlier bundle" in outcome.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_wrong_options_are_refused(warehouse: Path, tmp_path: Path) -> None:
    """A bundle has no port and no file of labels; without one nothing is sanitized."""
    for words in (("--sanitize",), ("--bundle", tmp_path / "b", "--port", "1")):
        assert call("view", warehouse, "--no-browser", *words).code == 2
    (tmp_path / "file").write_text("")
    assert call("view", warehouse, "--bundle", tmp_path / "file").code == 2


@pytest.mark.slow
def test_what_is_private_is_taken_out(warehouse: Path, folder: Path, tmp_path: Path) -> None:
    """Of texts, fields and what tags part; pictures too. Links lead where they led."""
    (tmp_path / "sanitize.toml").write_text('names = ["desk_b"]\n')
    copy = tmp_path / "warehouse.duckdb"
    copy.write_bytes(warehouse.read_bytes())
    out = tmp_path / "clean"
    outcome = call("view", copy, "--bundle", out, "--sanitize")
    assert outcome.code == 0 and re.search(r"taken out: .*\d+ email", outcome.stdout)
    found = read(out)
    refuse_other_addresses(found)
    assert {path.relative_to(out) for path in found} == {
        path.relative_to(folder) for path in read(folder)
    }
    dirty = "".join(path.read_text(encoding="utf-8") for path in read(folder))
    clean = "".join(path.read_text(encoding="utf-8") for path in found)
    for private in (MAIL, SECRET, "desk_b", PICTURE):
        assert private in unescape(dirty) and private not in unescape(clean), private
    assert "[redacted-email-1]" in clean and "[not shared:" in clean


@pytest.mark.slow
@pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed")
def test_a_bundle_is_read_from_disk(folder: Path, tmp_path: Path) -> None:
    """In silence, with its style and script; rows are narrowed by words."""
    with browser.tab(tmp_path / "browser") as tab:
        tab.open(folder / "index.html")
        rows = (
            "[...document.querySelectorAll('.tasks [data-row]')].filter((row) => row.offsetParent)"
        )
        assert tab.run(f"{rows}.length") == 2
        tab.run("""
            const box = document.querySelector('[data-narrow]');
            box.value = 'TASK 1';
            box.dispatchEvent(new Event('input'));
        """)
        assert tab.run(f"{rows}.length") == 1
        assert tab.run("getComputedStyle(document.querySelector('.top')).position") == "sticky"
        for path in sorted((folder / "rollout").iterdir()):
            tab.open(path)
            assert tab.run("document.querySelectorAll('.event').length") > 0
        assert tab.complaints == []
        assert all(url.startswith(("file:", "data:", "about:")) for url in tab.requests)
