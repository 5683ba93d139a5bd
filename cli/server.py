"""`swathe server start|stop|status`: the background Prefect server that is ours."""

from typing import Annotated

import typer

from adapters.home import swathe_home
from cli import terminal
from domain.value import Refused

app = typer.Typer(
    help="The Prefect server in the background: it keeps the record of runs, and shows it in a browser. "
    "`swathe run` starts it by itself.",
    no_args_is_help=True,
)

SECONDS_TO_START = 120.0

Json = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]


@app.command()
def start() -> None:
    """Start the server, and wait until it answers."""
    from adapters.service import server

    if url := server.operators_server():
        terminal.results().print(
            f"PREFECT_API_URL is set: Swathe uses the server at {url}, and starts none of its own.",
            markup=False,
        )
        return
    home = swathe_home()
    server.start(home)
    if server.ready(home, SECONDS_TO_START) is None:
        raise Refused(
            f"the server does not answer within {SECONDS_TO_START:.0f} s. "
            f"Its log says why: {str(server.log_file(home))!r}. `swathe server stop` ends it."
        )
    terminal.results().print(f"The server runs: {server.status(home).ui}", markup=False)


@app.command()
def stop() -> None:
    """Stop the server. What it has recorded is kept."""
    from adapters.service import server

    stopped = server.stop(swathe_home())
    terminal.results().print("The server has stopped." if stopped else "No server of Swathe runs.")


@app.command()
def status(as_json: Json = False) -> None:
    """Say whether the server runs, and where."""
    from adapters.service import server

    found = server.status(swathe_home())
    if as_json:
        terminal.as_json(found)
        return
    if not found.running:
        terminal.results().print("No server of Swathe runs. `swathe run` starts one by itself.")
        return
    health = "answers" if found.healthy else "does not answer yet"
    terminal.results().print(
        terminal.grid(
            ("state", f"runs, {health}"),
            ("UI", found.ui),
            ("API", found.url),
            ("process", str(found.pid)),
            ("Prefect", found.version),
            ("since", found.since),
        )
    )
