"""The settings of Prefect: what our server and our own process are told, by environment variables."""

import os
from pathlib import Path

from adapters.home import swathe_home
from domain.refusal import Refused

DATABASE = "SWATHE_DATABASE"
POSTGRES = "postgresql+asyncpg://"

# What a server may know of the operator's environment: no key, no Prefect setting of theirs.
PASSED_ON = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
)


def operators_server() -> str | None:
    """`PREFECT_API_URL`, when the operator set it: then nothing of ours is started.

    Ask before `client_environment` is applied: afterwards the variable is ours.
    """
    return os.environ.get("PREFECT_API_URL") or None


def client_environment(url: str, home: Path | None = None) -> dict[str, str]:
    """What our process sets before it imports Prefect, to work with the server at `url`.

    With the operator's own server their profile, keys and heartbeats stay as they are.
    """
    settings = {
        "PREFECT_API_URL": url,
        # Prefect's lines go to the API, where the UI shows them; the terminal is ours.
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
        # Prefect's own analytics: the setting covers the server, the variable the client.
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    if url == operators_server():
        return settings
    return settings | {
        "PREFECT_HOME": str((home or swathe_home()) / "prefect"),
        "PREFECT_PROFILES_PATH": str((home or swathe_home()) / "prefect" / "profiles.toml"),
        # A sync flow waits up to 1 s at its end for its heartbeat thread. The plain variable
        # refuses None; the whole section as JSON takes it.
        "PREFECT_FLOWS": '{"heartbeat_frequency": null}',
        # The server is ours and of our version: one request less per client.
        "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false",
    }


def _database(room: Path) -> str:
    """SQLite, unless the operator names a Postgres. A variable of ours: Prefect's own may be meant for another server."""
    chosen = os.environ.get(DATABASE, "")
    if not chosen:
        return f"sqlite+aiosqlite:///{room / 'prefect.db'}"
    if not chosen.startswith(POSTGRES):
        raise Refused(
            f"{DATABASE} does not begin with {POSTGRES}, which is the one database that the server may have besides SQLite. "
            f"Name one, as in {POSTGRES}user:password@host/prefect, or unset it."
        )
    return chosen


def server_environment(room: Path, port: int) -> dict[str, str]:
    """The whole environment of our server, whose files are under `room`."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return passed_on | {
        "PREFECT_HOME": str(room),
        "PREFECT_API_DATABASE_CONNECTION_URL": _database(room),
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_UI_API_URL": f"http://127.0.0.1:{port}/api",
        # The installation may be read-only, and the UI's files are rewritten before they are served.
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(room / "ui"),
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        # No web page but our own may drive a server that starts processes.
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://127.0.0.1:{port}",
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
        # With the default of 1, the record of task runs lags by a minute and more.
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
        "PREFECT__SERVER_FINAL": "1",
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
        "PYTHONUNBUFFERED": "1",
    }
