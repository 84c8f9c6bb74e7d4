"""What the server is started with."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from socket import gethostname

from fastapi import Request

LOOPBACK = "127.0.0.1"
EVERYWHERE = ("", "0.0.0.0", "::")
"""Addresses to listen on that nobody can open: they mean all that the machine has."""


@dataclass(frozen=True)
class WebSettings:
    """Where the server listens, what it shows, and the secret that its user has."""

    runs: Path = Path("runs")
    """The folder that holds the runs; nothing outside it is shown."""
    files: Path = Path()
    """The folder whose files a job may read besides the runs: the one the server is started in."""
    host: str = LOOPBACK
    port: int = 8000
    token: str = field(default_factory=token_urlsafe, repr=False)
    """What a write must bring and, on any address but this machine's own, a read as well."""

    @property
    def readable(self) -> tuple[Path, Path]:
        """The folders whose files a job may read."""
        return self.files, self.runs

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:  # a name
            return False

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers share cookies between the ports of a host."""
        return f"attnlab-{self.port}"

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        host = gethostname() if self.host in EVERYWHERE else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port}/?token={self.token}"


def settings_of(request: Request) -> WebSettings:
    """Return the settings of the server that a request has reached."""
    settings = request.app.state.settings
    assert isinstance(settings, WebSettings)
    return settings
