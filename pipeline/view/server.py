"""The pages over HTTP: on loopback only, for whoever has the token, and nothing else."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import anyio.to_thread
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config, Server

from pipeline.errors import BladeError, UsageError
from pipeline.query_worker import MOST_WORKERS, end_queries
from pipeline.report import templates, wording
from pipeline.text import neutral
from pipeline.view import compared, labels, question, tasks, transcript
from pipeline.view.opened import AbsentError, Followed, Opened, Row, stamp

HOST = "127.0.0.1"
# So many requests are worked on at the same time; the others wait.
THREADS = 8
MOST_CONNECTIONS, LARGEST_FORM = 512, 100_000
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A report brings its own policy along, with the hashes of its style and script.
REPORT_POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; connect-src 'none'"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
STYLES = ("html/style.css", "html/charts.css", "view/view.css")
SCRIPTS = ("view/view.js",)
SEEN = {True: "passed", False: "failed", None: "unscored"}


@dataclass
class Explorer:
    """What every page reads: the warehouse as it is now, the labels, and the key to come in."""

    followed: Followed
    labels: labels.LabelFile
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    rendering: threading.Lock = field(default_factory=threading.Lock)
    # Reports rendered last: by what they were made of.
    reports: dict[tuple[Any, ...], str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where it answers, with the key."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def is_token(self, text: str) -> bool:
        """Compared in a time that does not tell how much of it is right."""
        return secrets.compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    @property
    def cookie(self) -> str:
        """Ports share their cookies: each explorer has one of its own name."""
        return f"blade_view_{self.port}"


def prepared(
    warehouse: Path, *, port: int, label_file: Path | None = None, memory_limit: str | None = None
) -> tuple[Explorer, Server, socket.socket]:
    """A server that waits to be run on its socket: connections are taken from here on."""
    file = labels.LabelFile(label_file or warehouse.parent / labels.NAME)
    explorer = Explorer(Followed(warehouse, memory_limit=memory_limit), file, port)
    # Made once ahead: the first reader need not wait, nor find a warehouse of another version.
    with explorer.followed.opened() as opened:
        rendered(explorer, "matrix", tasks.matrix(file, opened, {}))
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(MOST_CONNECTIONS)
    except OSError as error:
        listening.close()
        message = f"port {port}: cannot be listened on ({error.strerror})."
        raise UsageError(message, hint="Take any that is free with: --port 0") from error
    explorer.port = listening.getsockname()[1]
    config = Config(
        Guard(app(explorer), explorer),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        limit_concurrency=MOST_CONNECTIONS,
    )
    return explorer, _Server(config), listening


class _Server(Server):
    """A server that does not wait for queries when it is to end."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C, or a request to terminate."""
        end_queries()
        super().handle_exit(sig, frame)


class Guard:
    """Lets in who has the token, asks this host and comes from these pages; seals every answer."""

    def __init__(self, inner: ASGIApp, explorer: Explorer) -> None:
        self.inner, self.explorer = inner, explorer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Every request passes here."""
        if scope["type"] != "http":
            return
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        request = Request(scope)
        has_token = self.explorer.is_token(request.query_params.get("token", ""))
        headers = HEADERS
        if has_token:
            # No redirect: a browser would not send a strict cookie along where another page led.
            cookie = f"{self.explorer.cookie}={self.explorer.token}"
            headers = {**HEADERS, "set-cookie": f"{cookie}; Path=/; HttpOnly; SameSite=Strict"}

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = message["headers"]
                given = {name for name, _ in sent}
                wanted = [(name.encode(), value.encode()) for name, value in headers.items()]
                message["headers"] = [*sent, *(each for each in wanted if each[0] not in given)]
            await send(message)

        refusal = self._refusal(request, has_token=has_token)
        answer = PlainTextResponse(f"{refusal[1]}\n", refusal[0]) if refusal else self.inner
        await answer(scope, receive, sealed)

    def _refusal(self, request: Request, *, has_token: bool) -> tuple[int, str] | None:
        hosts = [f"{name}:{self.explorer.port}" for name in (HOST, "localhost")]
        if request.headers.getlist("host") not in [[host] for host in hosts]:
            return 421, "This host is not served here."
        asked = request.headers
        is_reading = request.method in ("GET", "HEAD")
        # Forms always say where they come from; a plain address that is typed in does not.
        origins = [*([None] if is_reading else []), *(f"http://{host}" for host in hosts)]
        is_led = asked.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if asked.get("origin") not in origins or (is_led and not has_token):
            return 403, "Only pages of this explorer may ask that."
        cookie = request.cookies.get(self.explorer.cookie, "")
        if not has_token and not self.explorer.is_token(cookie):
            return 401, "Open the address that blade view printed: it holds the key."
        return None


def app(explorer: Explorer) -> Starlette:
    """Every page by its path."""
    questions = anyio.CapacityLimiter(MOST_WORKERS)

    def page(
        template: str, make: Callable[[Opened, Mapping[str, str]], Any]
    ) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            with explorer.followed.opened() as opened:
                made = make(opened, request.query_params)
            return rendered(explorer, template, made)

        return answer

    def asked_sql(request: Request) -> Response:
        with explorer.followed.opened() as opened:
            found = question.question(opened, request.query_params)
        return rendered(explorer, "sql", found, status=400 if found["error"] else 200)

    async def sql(request: Request) -> Response:
        # On threads of their own, so that slow ones never stand before a page.
        return await anyio.to_thread.run_sync(asked_sql, request, limiter=questions)

    def benchmarks(opened: Opened, _query: Mapping[str, str]) -> list[Row]:
        return opened.keep("benchmarks", lambda: opened.rows("benchmarks"))

    async def label(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_FORM:
                return PlainTextResponse("The label is too long.\n", 413)
        return await anyio.to_thread.run_sync(write_label, body)

    def write_label(body: bytes) -> Response:
        form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        if not explorer.is_token(form.get("token", "")):
            return PlainTextResponse("The form lacks the key of this explorer.\n", 403)
        with explorer.followed.opened() as opened:
            line = labels.line(opened, form)
            explorer.labels.append(line, first=lambda: labels.of_the_analysis(opened))
        back = form.get("back", "")
        is_ours = back.startswith(("/rollout?", "/task?"))
        return RedirectResponse(f"{back}#label" if is_ours else "/labels", 303)

    def report(request: Request) -> Response:
        benchmark = request.query_params.get("benchmark", "")
        is_page = request.query_params.get("format") != "md"
        text = _report(explorer, benchmark, is_page=is_page)
        if is_page:
            headers = {"content-security-policy": REPORT_POLICY}
            return Response(text, media_type="text/html", headers=headers)
        headers = {"content-disposition": 'attachment; filename="report.md"'}
        return Response(text, media_type="text/markdown", headers=headers)

    def static(names: tuple[str, ...], kind: str) -> Callable[[Request], Response]:
        return lambda _request: Response(_file(names), media_type=kind)

    def failed(_request: Request, error: Exception) -> Response:
        assert isinstance(error, BladeError)
        status = 404 if isinstance(error, AbsentError) else 400
        said = {"message": str(error), "hint": error.hint}
        return rendered(explorer, "message", said, status=status)

    return Starlette(
        routes=[
            Route("/", page("matrix", partial(tasks.matrix, explorer.labels))),
            Route("/task", page("task", partial(tasks.task, explorer.labels))),
            Route("/rollout", page("rollout", partial(transcript.reader, explorer.labels))),
            Route("/diff", page("diff", transcript.diff)),
            Route("/event", page("event", transcript.event)),
            Route("/compare", page("compare", compared.comparison)),
            Route("/compare/tasks", page("line", compared.line_tasks)),
            Route("/sql", sql),
            Route("/labels", page("labels", benchmarks)),
            Route("/label", label, methods=["POST"]),
            Route("/report", report),
            Route("/view.css", static(STYLES, "text/css")),
            Route("/view.js", static(SCRIPTS, "text/javascript")),
        ],
        exception_handlers={BladeError: failed},
    )


def _report(explorer: Explorer, benchmark: str, *, is_page: bool) -> str:
    """The report with the labels of the file, as an analysis with them would write it."""
    from pipeline.answers.rerender import render

    with explorer.rendering:
        with explorer.followed.opened() as opened:
            found = opened.rows("run_ids", benchmark=benchmark) if benchmark else []
        runs = [row["run_id"] for row in found]
        if benchmark and not runs:
            raise AbsentError(f"{benchmark}: no such benchmark.")
        path = explorer.labels.path
        key = (explorer.followed.stamp, stamp(path), benchmark, is_page)
        if key not in explorer.reports:
            given = path if path.is_file() else None
            made = render(explorer.followed.path, runs=runs, as_html=is_page, labels=given)
            # One at a time is enough: it is looked at, then changed.
            explorer.reports = {key: made.text}
        return explorer.reports[key]


def rendered(explorer: Explorer, template: str, page: Any, *, status: int = 200) -> Response:
    """A page by its template."""
    text = (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(page=page, explorer=explorer, causes=labels.CAUSES)
    )
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html")


@cache
def _file(names: tuple[str, ...]) -> str:
    return "\n".join((templates.OURS / name).read_text(encoding="utf-8") for name in names)


@cache
def _environment() -> Any:
    """Everything printed is escaped, and made inert besides: control and direction marks."""
    made = templates.environment("view", None, autoescape=True)
    made.finalize = _inert
    made.filters |= {
        "pct": lambda rate: "n/a" if rate is None else f"{100 * rate:.1f}%",
        "points": lambda change: "n/a" if change is None else wording.points(change),
        "num": lambda number: "n/a" if number is None else wording.short(f"{number:.4f}"),
        "count": lambda number: "n/a" if number is None else f"{number:,}",
        "cause": lambda name: wording.cause(name) if name else "",
        "first_line": lambda text: " ".join((text or "")[:240].split()),
    }
    made.globals |= {"link": _link, "verdict": _verdict}
    made.globals |= {name: wording.WORDS[name] for name in ("calls", "reasons")}
    return made


def _inert(value: Any) -> Any:
    if value is None:
        return ""
    return neutral(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _verdict(row: Mapping[str, Any]) -> str:
    """In a word; the class of the style sheet has the same name."""
    return "scored" if row["is_pass"] is None and row.get("is_scored") else SEEN[row["is_pass"]]


def _link(path: str, fragment: str = "", **query: Any) -> str:
    """An address of ours: names come from untrusted files."""
    kept = {
        name.rstrip("_"): str(value) for name, value in query.items() if value not in (None, "")
    }
    text = urlencode(kept, errors="replace", quote_via=quote)
    return f"{path}{'?' if text else ''}{text}{'#' if fragment else ''}{quote(fragment)}"
