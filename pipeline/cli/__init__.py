"""The command line: parse, call, print. Commands are imported only when they are used."""

from __future__ import annotations

import sys

try:
    import _thread
    import errno
    import gc
    import importlib
    import io
    import os
    import signal
    import threading
    from contextlib import suppress
    from pathlib import Path
    from types import FrameType
    from typing import Any

    import click

    from .. import __version__
    from ..errors import BladeError, InputError, UsageError, did_you_mean, is_interrupt
    from ..text import neutral, one_line
except KeyboardInterrupt:
    sys.exit(130)

INTERRUPTED = 130
PIPE_CLOSED = 141
TERMINATED = 143
LONGEST_NAME = 100
# New objects after which Python looks for reference cycles: each 700 would be at every import.
MANY_OBJECTS = 100_000
MAKE_ROOM = "Free disk space there, or choose another place with --out or TMPDIR."
# In the order of `blade --help`, which prints the first line of each command's file.
ANALYSIS = (
    "analyze report metrics compare suite failures why read health plan view sql show mcp export "
    "formats clean"
).split()
PACKAGE = (
    "init verify diff extract-anchor-facts make-shallow score calibrate sanitize validate"
).split()
COMMANDS = (*ANALYSIS, *PACKAGE)


class LazyGroup(click.Group):
    """A group that imports the module of a command on first use, so that `--help` is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reject arguments that are not UTF-8."""
        for word in args:
            if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
                hint = "To read a file with such a name, name its folder."
                raise UsageError(f"{one_line(word, LONGEST_NAME)}: not UTF-8 text.", hint=hint)
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and ctx.resilient_parsing:
            return None  # a shell is completing words
        if cmd_name not in COMMANDS:
            hint = f"{did_you_mean(cmd_name, COMMANDS)}Commands: {', '.join(COMMANDS)}"
            raise UsageError(f"{one_line(cmd_name, LONGEST_NAME)}: no such command.", hint=hint)
        name = cmd_name.replace("-", "_")
        command = getattr(importlib.import_module(f"{__name__}.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Exit with 141 if the reader of a pipe is gone; click would exit with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            sys.exit(PIPE_CLOSED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        for title, commands in (("Commands", ANALYSIS), ("Commands for packages", PACKAGE)):
            with formatter.section(title):
                formatter.write_dl([(name, _purpose(name)) for name in commands])


def _purpose(command: str) -> str:
    module = Path(__file__).with_name(f"{command.replace('-', '_')}.py")
    with module.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')


@click.command(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="blade")
def blade() -> None:
    """Why did the score change? Evaluation results in, SQL and evidence out.

    \b
    Examples:
      blade analyze results/
      blade compare BASE CANDIDATE
      blade why RUN/TASK
      blade sql "select run_id, avg(reward) from rollouts group by all"
    """


def main() -> None:
    """Run the command; Ctrl-C and SIGTERM raise exceptions, so that everything is cleaned up."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no linear algebra is used
    gc.set_threshold(MANY_OBJECTS)
    stops: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if _is_importing(frame):
            # Some libraries abort if an import is interrupted, so raise it a moment later.
            _thread.start_new_thread(_raise_later, (number,))
            return
        stops.append(number)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        # A second signal must not interrupt the cleaning up.
        if stops.count(number) == 1:
            raise SystemExit(TERMINATED)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
        # In the background of a script it is ignored, and stays so.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, stop)
    sys.excepthook = _exit_after_bug
    try:
        _run()
    except BaseException as error:
        # Libraries wrap the interrupt in their own errors; an exit with 0 has handled it.
        ended = error.code if isinstance(error, SystemExit) else 1
        if not stops or not ended:
            raise
        code = TERMINATED if signal.SIGTERM in stops else INTERRUPTED
        if ended != code or code == TERMINATED:
            how = "terminated" if code == TERMINATED else "interrupted"
            _print_error(f"{how}; no incomplete files are left.")
        sys.exit(code)
    finally:
        if signal.getsignal(signal.SIGINT) is stop:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _raise_later(number: int) -> None:
    threading.Event().wait(0.02)
    signal.pthread_kill(threading.main_thread().ident or 0, number)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _run() -> None:
    """Turn errors of blade and of the system into a message and an exit code."""
    try:
        _open_streams()
        try:
            code = blade(standalone_mode=False)
        finally:
            sys.stdout.flush()
        sys.exit(code or 0)
    except BladeError as error:
        _print_error(str(error), error.hint)
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        called = next((word for word in sys.argv[1:] if word in COMMANDS), "")
        _print_error(error.format_message(), f"See: {f'blade {called}'.strip()} --help")
        sys.exit(error.exit_code)
    except OSError as error:
        _discard_output()
        if isinstance(error, BrokenPipeError):
            sys.exit(PIPE_CLOSED)
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        # Errors without a file are about stdout.
        where = error.filename or ("stdout" if is_full else "")
        words = f"{one_line(str(where), LONGEST_NAME)}: " if where else ""
        _print_error(f"{words}{error.strerror or error}.", MAKE_ROOM if is_full else "")
        sys.exit(InputError.exit_code)
    except (Exception, KeyboardInterrupt) as error:
        if not isinstance(error, click.Abort) and not is_interrupt(error):
            raise
        _print_error("interrupted; no incomplete files are left.")
        sys.exit(INTERRUPTED)


def _print_error(words: str, hint: str = "") -> None:
    with suppress(OSError):
        click.echo(f"blade: {neutral(words)}", err=True)
        for line in neutral(hint).splitlines():
            click.echo(f"       {line}", err=True)


def _open_streams() -> None:
    """Open closed streams, so that no other file gets their number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    is_closed = sys.stdout is None
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    if is_closed:
        hint = "Open it, for example with: > answer.txt"
        raise InputError("stdout is closed: nothing can be printed.", hint=hint)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape, not a crash.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Discard buffered output of closed streams, so that the exit does not fail again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _exit_after_bug(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Print the traceback of a bug and exit with 3: 1 is for failed checks."""
    sys.__excepthook__(kind, error, trace)
    sys.exit(InputError.exit_code)
