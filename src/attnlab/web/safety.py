"""What stands before the application: who may ask, how much a request may hold, what answers carry.

- The Host header must name this machine: a foreign name that resolves to it (DNS rebinding) does
  not.
- A write (any method but GET and HEAD) must come from the page itself, and bring the token.
- On an address that others can reach, a read needs the token as well. ``/?token=…`` puts it into a
  cookie that scripts cannot see and that other sites do not send.
- Whatever fails in the application is a sentence here; the traceback stays on the terminal, where
  ``--debug`` shows it.
"""

import hmac
import socket
import sys
import traceback
from collections.abc import MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnlab.environment import DEBUG, is_on
from attnlab.guard import explain, say
from attnlab.web.answers import sentence
from attnlab.web.settings import WebSettings

TOKEN_HEADER = "X-Attnlab-Token"
MOST_BYTES = 1_000_000
"""The longest body of a request."""
READS = ("GET", "HEAD")
POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
FAILED = "attnlab failed on this request; its terminal says why."
OPEN_AGAIN = "Open the address that `attnlab serve` printed, with its token."


class Safety:
    """The border of the application, around every request and every answer."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on and watch its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send, scope["path"])
        try:
            await self._answered(Request(scope), receive, answer)
        except Exception as error:
            _tell(scope["path"], error)
            if not answer.has_begun:
                await sentence(500, FAILED)(scope, receive, answer)

    async def _answered(self, request: Request, receive: Receive, answer: Send) -> None:
        early = refusal(request, self.settings) or welcome(request, self.settings)
        if early is None and request.method not in READS:
            body = await _body(receive)
            early = sentence(413, _too_long()) if body is None else None
            receive = _again(body or b"", receive)
        await (early or self.app)(request.scope, receive, answer)


def refusal(request: Request, settings: WebSettings) -> Response | None:
    """Return the answer to a request that may not be made; None if it may."""
    host = request.headers.get("host", "")
    if not _is_ours(host, settings):
        return sentence(
            421,
            f"the server is not called {host!r}. Open it as http://127.0.0.1:{settings.port},"
            " or as the address that `attnlab serve` printed.",
        )
    is_read = request.method in READS
    if not is_read and request.headers.get("origin", "").partition("://")[2] != host:
        return sentence(403, "only the page itself may do this, not another site or program.")
    if "token" in request.query_params and request.url.path == "/":
        is_right = _is_token(request.query_params["token"], settings)
        return None if is_right else sentence(403, f"this token is not valid. {OPEN_AGAIN}")
    given = request.headers.get(TOKEN_HEADER, "")
    if not is_read and not _is_token(given, settings):
        return sentence(403, f"this needs the token. {OPEN_AGAIN}")
    if not settings.is_local and not has_token(request, settings):
        return sentence(401, f"this server needs a token. {OPEN_AGAIN}")
    return None


def welcome(request: Request, settings: WebSettings) -> Response | None:
    """Put the token of the address into a cookie, and take it out of the address."""
    if "token" not in request.query_params or request.url.path != "/":
        return None
    answer = RedirectResponse("/", 303)
    answer.set_cookie(settings.cookie, settings.token, httponly=True, samesite="strict")
    return answer


def has_token(request: Request, settings: WebSettings) -> bool:
    """Whether a request brings the token, as a cookie or as a header."""
    given = (request.cookies.get(settings.cookie, ""), request.headers.get(TOKEN_HEADER, ""))
    return any(_is_token(one, settings) for one in given)


def _is_token(text: str, settings: WebSettings) -> bool:
    return hmac.compare_digest(text.encode(), settings.token.encode())


def _is_ours(host: str, settings: WebSettings) -> bool:
    """Whether a Host header names this machine; the port may be that of a tunnel."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost":
        return True
    try:
        address = ip_address(name)
    except ValueError:  # a name, which anyone's DNS may let point here
        return not settings.is_local and name in (settings.host.lower(), *_own_names())
    return address.is_loopback or not settings.is_local


def _own_names() -> tuple[str, str]:
    return socket.gethostname().lower(), socket.getfqdn().lower()


def _too_long() -> str:
    return f"a request may hold {MOST_BYTES:,} bytes at most."


async def _body(receive: Receive) -> bytes | None:
    """Read a body to its end; None if it is too long, whatever its length claims to be."""
    body, goes_on = b"", True
    while goes_on:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += message.get("body", b"")
        goes_on = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            return None
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, then whatever follows it."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return left.pop() if left else await receive()

    return give


class _Answer:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, send: Send, path: str) -> None:
        self.send = send
        self.path = path
        self.has_begun = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            # a page of another version must not meet an old script
            headers["Cache-Control"] = "no-store" if self.path.startswith("/api/") else "no-cache"
        await self.send(message)


def _tell(path: str, error: Exception) -> None:
    """Say on the terminal what failed."""
    if is_on(DEBUG):
        traceback.print_exception(error, file=sys.stderr)
    say("attnlab", f"{path!r} failed: {explain('attnlab', error)[0]}")
