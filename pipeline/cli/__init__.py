"""The command line: parse, call, print. Commands are imported only when they are called."""

from __future__ import annotations

import errno
import importlib
import io
import signal
import sys
import threading

import click

from pipeline import __version__
from pipeline.errors import BladeError, InputError, is_interrupt
from pipeline.text import neutral, one_line

INTERRUPTED, TERMINATED = 130, 143
LONGEST_NAME = 100
ANALYSIS = {
    "analyze": "Read a results folder into a warehouse, a draft report and metrics.",
    "report": "Render the report again: some runs, some sections, other templates.",
    "metrics": "Print the figures of all runs, or of one.",
    "compare": "Tell what changed between runs, how surely, and why.",
    "failures": "Rank the ways in which runs fail.",
    "why": "Tell why a task fails: its attempts, their evidence, its other runs.",
    "health": "Say how far the evaluation itself can be trusted.",
    "plan": "Say how many tasks and repeats a change needs to be seen.",
    "sql": "Ask the warehouse anything, read-only.",
    "show": "Print one rollout, event by event.",
}
PACKAGE = {
    "init": "Lay out a benchmark's package, and draft its skill and reports from the data.",
    "verify": "Hold every figure and citation of a report against the data.",
    "extract-anchor-facts": "Draft the facts that a report is scored by.",
    "make-shallow": "Write a report's negative control: headings and tables, no diagnosis.",
    "score": "Score a report by the anchor facts of a golden one.",
    "calibrate": "Show that the score tells a golden report from look-alikes.",
    "sanitize": "Take credentials, names and private data out of what is shared.",
    "validate": "Check a package: skill, rollouts, golden reports.",
}
COMMANDS = {**ANALYSIS, **PACKAGE}


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own: `--help` must not wait for them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command = getattr(importlib.import_module(f"pipeline.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The lists of commands from the tables above, without importing any."""
        for title, commands in (("Commands", ANALYSIS), ("Commands of a package", PACKAGE)):
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


@click.command(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="blade")
def blade() -> None:
    """Why did the score change? Evaluation results in, SQL and evidence out.

    \b
    Examples:
      blade analyze results/ --out blade_out
      blade report --run RUN --out report.html
      blade metrics RUN --format table
      blade compare BASE CANDIDATE
      blade failures RUN
      blade why RUN/TASK
      blade health
      blade plan RUN --change 2
      blade sql "select run_id, avg(reward) from rollouts group by all"
      blade show RUN/TASK:ROLLOUT
    """


def main() -> None:
    """Run the command; SIGTERM ends it as an error would: nothing half-made stays behind."""
    stops: list[int] = []

    def stop(number: int, _frame: object) -> None:
        # Once is enough: a second one must not stop the cleaning up.
        stops.append(number)
        if len(stops) == 1:
            raise SystemExit(TERMINATED)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
    try:
        _run()
    except BaseException:
        # The engine wraps it in an error of its own when it strikes inside a query.
        if not stops:
            raise
        click.echo("blade: terminated; earlier output is as it was.", err=True)
        sys.exit(TERMINATED)


def _run() -> None:
    """Our own errors become a message and an exit code, bugs a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape, not a crash.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        blade()
    except BladeError as error:
        click.echo(f"blade: {neutral(str(error))}", err=True)
        if error.hint:
            click.echo(f"       {neutral(error.hint)}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        # Whatever is asked of such a name fails, in many places.
        if error.errno != errno.ENAMETOOLONG:
            raise
        name = one_line(str(error.filename), LONGEST_NAME)
        click.echo(f"blade: {name}: too long for the name of a file.", err=True)
        sys.exit(InputError.exit_code)
    except Exception as error:
        if not is_interrupt(error):
            raise
        click.echo("blade: interrupted; earlier output is as it was.", err=True)
        sys.exit(INTERRUPTED)
