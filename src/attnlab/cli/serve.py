"""``attnlab serve``: the page in the browser."""

import os
import signal
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from attnlab.cli.options import RunsFolder
from attnlab.environment import LAST_PORT
from attnlab.errors import UserError

EXAMPLE = "Example: attnlab serve --port 8001"
PORT = typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=LAST_PORT)
HOST = typer.Option(
    help="Address to listen on. On any address but this machine's own, all requests need the token."
)
NO_OPEN = typer.Option("--no-open", help="Do not open the browser.")
MOST_CONNECTIONS = 500
LAST_SECONDS = 1
"""How long open connections, such as those of live curves, are waited for at the end."""


def serve(
    port: Annotated[int, PORT] = 8000,
    runs: RunsFolder = Path("runs"),
    host: Annotated[str, HOST] = "127.0.0.1",
    no_open: Annotated[bool, NO_OPEN] = False,
) -> None:
    """Open a page in the browser: runs, attention by hand, questions to models, jobs."""
    if runs.exists() and not runs.is_dir():
        raise UserError(f"--runs {runs} is not a folder.")
    listening = _listen(host, port)

    import uvicorn

    from attnlab.phases import shown_by
    from attnlab.web.app import create_app
    from attnlab.web.settings import WebSettings

    settings = WebSettings(runs=runs, host=host, port=listening.getsockname()[1])
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        log_level="critical",  # errors are told by the application, in sentences
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=LAST_SECONDS,
    )
    typer.echo(f"attnlab is at {settings.address}\nCtrl-C ends it.")
    if not no_open and _has_screen():
        import webbrowser

        webbrowser.open(settings.address)
    if hasattr(signal, "SIGHUP"):  # a closed terminal ends it as Ctrl-C does, and its jobs with it
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        with shown_by(lambda _: None):  # what a request waits for is for its page to say
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        app.state.children.close()  # a second Ctrl-C skips what the application does at its end


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is loaded: a mistake is told at once."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (socket.gaierror, ValueError):  # ValueError: it cannot even be looked up
        raise UserError(
            f"--host {host!r} is no address of this machine. Give one of its own, or leave it out."
        ) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise UserError(
            f"cannot listen on {host}:{port}: {reason}. Choose another --port (0 takes a free one),"
            " or stop what uses this one."
        ) from None


def _has_screen() -> bool:
    """Whether somebody watches, and a browser would open in a window of its own."""
    has_windows = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    return sys.stdout.isatty() and has_windows
