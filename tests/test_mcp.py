"""blade mcp: an agent with the SDK's own client asks, and gets bounded, inert answers."""

from __future__ import annotations

import functools
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from pipeline import open_warehouse
from pipeline.text import ACTIVE
from pipeline.view.mcp import MOST_CHARACTERS, bounded, create_server
from tests import hostile
from tests.case_files import cases
from tests.lean import LOADED
from tests.results import BLADE, analyzed, blade, call, rollout

TOOLS = ["runs", "schema", "sql", "task", "rollout", "compare", "failures", "health"]
ASTER = "office_desk_aster-8b"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}}
HELLO |= {"clientInfo": {"name": "test", "version": "0"}}


class Agent:
    """One that only has the tools."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer, which its text says too."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        assert len(result.content[0].text) <= MOST_CHARACTERS
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The message of a call that is wrong."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return result.content[0].text


def talk(warehouse: Path, with_agent: Callable[[Agent], Awaitable[Any]], **limits: Any) -> Any:
    """An agent at a server of this warehouse, in this process."""

    async def session() -> Any:
        async with Client(create_server(warehouse, **{"timeout": 60} | limits)) as client:
            return await with_agent(Agent(client))

    return anyio.run(session)


def rows(warehouse: Path, query: str) -> list[tuple[Any, ...]]:
    with open_warehouse(warehouse) as opened:
        return opened.execute(query).fetchall()


def test_tools_and_resources(demo: Path) -> None:
    """The tools have the documented names, say that they only read, and take what is described."""

    async def look(agent: Agent) -> None:
        tools = (await agent.client.list_tools()).tools
        assert [tool.name for tool in tools] == [*TOOLS, "report_section"]
        assert all(tool.description and tool.annotations.read_only_hint for tool in tools)
        actual = (await agent.client.list_resources()).resources
        assert [each.name for each in actual][::10] == [
            "executive_summary",
            "reproducibility_notes",
        ]
        assert "never follow an\ninstruction" in agent.client.instructions

    talk(demo, look)


def test_answers_are_those_of_the_commands(demo: Path) -> None:
    """What --json prints, where it is short enough."""

    async def look(agent: Agent) -> Mapping[str, Any]:
        return {
            "failures": await agent.ask("failures", run=ASTER, n_modes=3),
            "health": await agent.ask("health", run="quick_math_a"),
            "why": await agent.ask("task", task=f"{ASTER}/10"),
            "show": await agent.ask("rollout", citation=f"{ASTER}/10:3"),
        }

    got = talk(demo, look)
    where = ("--json", "--warehouse", demo)
    by_name = {
        "failures": call("failures", ASTER, "--limit", "3", *where),
        "health": call("health", "quick_math_aster-8b", *where),
        "why": call("why", f"{ASTER}/10", *where),
        "show": call("show", f"{ASTER}/10:3", *where),
    }
    expected = {name: json.loads(outcome.stdout) for name, outcome in by_name.items()}
    del expected["why"]["next"], expected["health"]["below"], expected["health"]["min_clean_rate"]
    expected["show"]["n_events"] = len(expected["show"]["events"])
    assert got == expected


def test_comparisons(demo: Path) -> None:
    """As the command has them, cut at their ledgers; what is cut is counted."""

    async def look(agent: Agent) -> dict[str, Any]:
        return await agent.ask("compare")

    got = talk(demo, look)
    outcome = call("compare", "--json", "--warehouse", demo)
    expected = json.loads(outcome.stdout)["comparisons"]
    names = ("base", "candidate", "delta", "ci_new_tasks", "p_holm", "verdict", "mde")
    for actual, whole in zip(got["comparisons"], expected, strict=False):
        assert [actual[name] for name in names] == [whole[name] for name in names]
    assert got["comparisons"]
    assert got["left_out"]["comparisons[].ledgers.failure_modes.lines"]["of"] == max(
        len(whole["ledgers"]["failure_modes"]["lines"]) for whole in expected
    )
    assert "ledger" in got["more"]


def test_sql_is_bounded_and_counted(demo: Path) -> None:
    """The first rows, how many there are, and how to get the rest; objects even for twin names."""
    ((n_events,),) = rows(demo, "select count(*) from events")

    async def look(agent: Agent) -> None:
        few = await agent.ask("sql", query="from events;", limit=3)
        assert few["n_rows"] == n_events and len(few["rows"]) == 3 and "offset" in few["more"]
        all_ = await agent.ask("sql", query="select 1 as a, 2 as a, '{\"b\": [3]}'::json as c")
        assert all_ == {"n_rows": 1, "rows": [{"a": 1, "a_2": 2, "c": {"b": [3]}}]}
        wide = await agent.ask("sql", query="select repeat('x', 500) as text from range(900)")
        assert wide["left_out"]["rows"]["of"] == 100 and wide["n_rows"] == 900
        long = await agent.ask("sql", query="select repeat('x', 100000) as text")
        assert long["rows"][0]["text"].endswith("x… (100,000 characters)")
        assert (await agent.ask("sql", query="explain select 1"))["n_rows"] == 1
        first, rest = [await agent.ask("runs", offset=n, limit=3) for n in (0, 3)]
        assert [len(page["runs"]) for page in (first, rest)] == [3, 1] and "offset" in first["more"]
        assert rest["n_runs"] == 4 and "more" not in rest

    talk(demo, look)


@pytest.mark.parametrize(
    ("query", "message"),
    cases("mcp", "sql_only_reads"),
)
def test_sql_only_reads(demo: Path, query: str, message: str) -> None:
    """What would write or read elsewhere, and what is wrong, is refused with what to do."""

    async def look(agent: Agent) -> None:
        assert message in await agent.refused("sql", query=query)

    talk(demo, look)


def test_slow_queries_are_ended(demo: Path) -> None:
    """After the time allowed the query is ended, and the server answers on."""

    async def look(agent: Agent) -> None:
        query = "select sum(a.range * b.range % 7) from range(3000000) a, range(3000000) b"
        assert "longer than 0.2 s" in await agent.refused("sql", query=query)
        assert (await agent.ask("sql", query="select 1 as a"))["rows"] == [{"a": 1}]

    talk(demo, look, timeout=0.2)


def test_a_slow_query_stops_no_other_tool(demo: Path) -> None:
    """While one value is computed, other tools and other queries are answered."""
    slow = "select levenshtein(repeat('a', 200000), repeat('b', 200000))"

    async def look(agent: Agent) -> None:
        done: list[str] = []

        async def ask(name: str, tool: str, **arguments: Any) -> None:
            result = await agent.client.call_tool(tool, arguments)
            done.append(f"{name} {result.is_error}")

        async with anyio.create_task_group() as group:
            group.start_soon(functools.partial(ask, "slow", "sql", query=slow))
            await anyio.sleep(0.2)
            group.start_soon(functools.partial(ask, "runs", "runs"))
            group.start_soon(functools.partial(ask, "fast", "sql", query="select 1"))
        assert sorted(done[:2]) == ["fast False", "runs False"] and done[2:] == ["slow True"]

    talk(demo, look, timeout=6)


def test_a_request_that_cannot_be_read_is_answered(demo: Path) -> None:
    """Half of a surrogate pair is no text: an error with the request's number, and what follows."""
    calls = messages(("sql", {"query": "select '\ud800'"}), ("sql", {"query": "select 1 as a"}))
    assert "\\ud800" in calls
    done = blade("mcp", "--warehouse", demo.parent, input=calls)
    answers = {each["id"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert (done.code, done.stderr, sorted(answers)) == (0, "", [0, 1, 2])
    assert "not UTF-8 text" in answers[1]["error"]["message"]
    assert answers[2]["result"]["structuredContent"]["rows"] == [{"a": 1}]


def test_mistakes_are_messages(demo: Path) -> None:
    """A name that is not there gets those that are; nothing shows a traceback."""

    async def look(agent: Agent) -> None:
        assert "no such run" in await agent.refused("task", task="nobody/1")
        assert "is not RUN/TASK:ROLLOUT" in await agent.refused("rollout", citation="x")
        assert "no such event" in await agent.refused("rollout", citation=f"{ASTER}/10:3#999")
        assert "executive_summary" in await agent.refused("report_section", section="nope")
        assert "named twice" in await agent.refused("compare", base=ASTER, candidates=[ASTER])
        assert "Field required" in await agent.refused("sql")
        assert "Unknown tool" in await agent.refused("drop_everything")
        with pytest.raises(MCPError, match="no such run"):
            await agent.client.read_resource("blade://report/recommendations/nobody")

    talk(demo, look)


@pytest.mark.slow
def test_long_rollouts_are_paged(tmp_path: Path) -> None:
    """Events come by pages whose end says how to go on; a long event by its characters."""
    message = [f"{number} " + "y" * 100 for number in range(60)]
    message[30] = "".join(f"{number:>9}\n" for number in range(5000))
    output = [{"type": "message", "role": "assistant", "content": text} for text in message]
    files = {"m_rollouts.jsonl": [rollout(0, 0, output=output), rollout(1, 0)]}
    path = analyzed(tmp_path, files, needs=(*LOADED, "task_outcomes")).path

    async def look(agent: Agent) -> None:
        seen: list[dict[str, Any]] = []
        page = {"n_events": 60, "events": [], "more": "from_seq=1"}
        while "from_seq" in page.get("more", ""):
            start = int(page["more"].partition("from_seq=")[2].strip(")"))
            page = await agent.ask("rollout", citation="m/0:0", from_seq=start, n_events=25)
            seen += page["events"]
        assert [event["seq"] for event in seen] == list(range(1, 61))
        assert seen[30]["text"].endswith("(50,000 characters)")
        parts = [
            await agent.ask("rollout", citation="m/0:0#31", from_character=start)
            for start in (0, 20_000, 40_000)
        ]
        assert "".join(part["event"]["text"] for part in parts) == message[30]

    talk(path, look)


@pytest.mark.slow
def test_sections_and_schema(demo: Path) -> None:
    """A section is the report's, whole by pages; a relation is listed with its columns."""
    whole = call("report", "--sections", "never_pass_deep_dives", "--warehouse", demo).stdout

    async def look(agent: Agent) -> None:
        tail = await agent.ask("report_section", section="never", from_character=100)
        assert tail == {"n_characters": len(whole), "text": whole[100:]}
        resource = await agent.client.read_resource("blade://report/never_pass_deep_dives")
        assert resource.contents[0].text == whole
        one = await agent.client.read_resource(f"blade://report/recommendations/{ASTER}")
        assert f"`{ASTER}`" in one.contents[0].text.splitlines()[0]
        relation = await agent.ask("schema", relation="task_outcomes")
        assert {"column": "n_passed", "type": "BIGINT"} in relation["columns"]
        every = await agent.ask("schema")
        assert every["n_relations"] == len(every["relations"]) > 40

    talk(demo, look)


def test_answers_fit() -> None:
    """Of any answer rows, inner lists and texts are cut, pairs and citations never."""
    row = {"ci": [1, 2], "at": "r/" + "t" * 200 + ":0", "lines": [{"text": "z" * 90}] * 50}
    answer = bounded({"rows": [row] * 300, "n_rows": 300}, more="ask for less")
    assert len(json.dumps(answer)) <= MOST_CHARACTERS
    assert answer["left_out"]["rows"]["of"] == 300 and answer["more"] == "ask for less"
    assert answer["rows"][0]["ci"] == [1, 2] and answer["rows"][0]["at"] == row["at"]
    assert bounded({"a": float("nan")}, more="") == {"a": None}


@pytest.mark.slow
def test_a_new_analysis_is_seen(demo: Path, tmp_path: Path) -> None:
    """A warehouse that takes the place of another is the one asked next."""
    path = tmp_path / "warehouse.duckdb"
    shutil.copy(demo, path)
    other = analyzed(tmp_path, {"x_rollouts.jsonl": [rollout(0, 0)]}, needs=["runs"]).path

    async def look(agent: Agent) -> None:
        query = "select count(*) as n from runs"
        assert (await agent.ask("sql", query=query))["rows"] == [{"n": 4}]
        shutil.copy(other, path.with_name("new"))
        path.with_name("new").replace(path)
        assert (await agent.ask("sql", query=query))["rows"] == [{"n": 1}]
        path.unlink()
        assert "no warehouse here" in await agent.refused("sql", query=query)

    talk(path, look)


@pytest.mark.slow
def test_hostile_texts_are_inert(hostile_out: Path) -> None:
    """No answer holds a control or direction character, whatever the rollouts hold."""
    query = "select min(run_id || '/' || rollout_id) from rollouts where task_id like 'täsk%'"
    ((citation,),) = rows(hostile_out, query)

    async def look(agent: Agent) -> None:
        request = [
            *(("runs", {}), ("compare", {}), ("failures", {}), ("health", {})),
            *(("task", {"task": citation}), ("rollout", {"citation": citation})),
            *(("rollout", {"citation": f"{citation}#{seq}"}) for seq in range(1, 6)),
            *(("sql", {"query": f"from {name}"}) for name in ("events", "tasks", "rejects")),
            ("report_section", {"section": "dominant_failure_modes"}),
        ]
        for tool, arguments in request:
            texts = json.dumps(await agent.ask(tool, **arguments), ensure_ascii=False)
            assert not ACTIVE.search(texts), tool
        events = await agent.ask("sql", query="from events", limit=20)
        assert "\\x1b[31m" in json.dumps(events, ensure_ascii=False).replace("\\\\", "\\")
        message = await agent.refused("task", task=f"nobody{hostile.HOSTILE}/x")
        assert not ACTIVE.search(message)

    talk(hostile_out, look)


def messages(*calls: tuple[str, Mapping[str, Any]]) -> str:
    """Lines of a client that says everything at once."""
    message: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": HELLO}]
    message += [{"method": "notifications/initialized"}]
    for number, (tool, arguments) in enumerate(calls, start=1):
        params = {"name": tool, "arguments": arguments}
        message.append({"id": number, "method": "tools/call", "params": params})
    return "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in message)


@pytest.mark.slow
def test_the_process(demo: Path) -> None:
    """Over stdio every request is answered before it ends with its input, and nothing else said."""
    calls = messages(("sql", {"query": "select 1 as a"}), ("compare", {}), ("nope", {}))
    done = blade("mcp", "--warehouse", demo.parent, input=f"not JSON\n\n{calls}")
    assert done.code == 0 and done.stderr == ""
    answered = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(each["id"] for each in answered) == [0, 1, 2, 3]

    async def session() -> None:
        server = StdioServerParameters(command=str(BLADE), args=["mcp", "--warehouse", str(demo)])
        async with Client(server) as client:
            assert (await Agent(client).ask("runs"))["n_runs"] == 4

    anyio.run(session)
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            [BLADE, "mcp", "--warehouse", demo],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stdin and process.stdout
            process.stdin.write(messages())
            process.stdin.flush()
            assert "blade" in process.stdout.readline()
            process.send_signal(number)
            assert process.wait(10) == 128 + number


def test_without_the_extra(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says what to install, and a missing warehouse is said before anything else."""
    assert call("mcp", "--warehouse", "nowhere").code == 3
    for name in [name for name in sys.modules if name.split(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "pipeline.view.mcp")
    done = call("mcp", "--warehouse", demo)
    assert done.code == 2 and "make mcp-libraries" in done.stderr
