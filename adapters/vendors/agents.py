"""The vendors' agents that Swathe can hire, and whether they are installed here. None is imported: each is a program."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from adapters.vendors import claude_code, codex
from adapters.vendors.events import Heard
from adapters.vendors.inside import PLACE, PORT
from domain.hired import Effort, Family, Hired
from domain.role import PassReport
from domain.value import Refused


class Vendor(Protocol):
    """What the module of an agent says of it."""

    def command(self, job: "Job", /) -> list[str]:
        """The whole command; the brief comes on standard input."""
        ...

    def environment(self, job: "Job", /) -> dict[str, str]: ...

    def heard(self, output: str, /) -> Heard:
        """What it said at its end."""
        ...


class Program(NamedTuple):
    """Where an agent's program is."""

    vendor: Vendor
    package: str
    path: str
    """In the package."""


PROGRAMS: dict[Family, Program] = {
    "claude": Program(claude_code, "claude_agent_sdk", "_bundled/claude"),
    "gpt": Program(codex, "codex_cli_bin", "bin/codex"),
}


@dataclass(frozen=True)
class Job:
    """What an agent has to know besides its brief. There is no key in it."""

    program: str
    model: str
    effort: Effort
    token: str
    """For the gateway, for this pass alone."""
    contract: str
    schema: Mapping[str, Any]
    """Of its last answer."""
    folder: str
    """Where it sees the clone."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{PORT}"

    @property
    def schema_file(self) -> str:
        return f"{PLACE}/schema.json"


class Installed(NamedTuple):
    """An agent's program."""

    vendor: Vendor
    folder: Path
    """All of it that has to be seen."""
    program: Path


def installed(family: Family) -> Installed | None:
    """The agent of a family, if its extra is installed."""
    vendor, package, path = PROGRAMS[family]
    found = find_spec(package)
    if found is None or found.origin is None:
        return None
    program = Path(found.origin).parent / path
    return Installed(vendor, program.parent.parent, program) if program.is_file() else None


def require(hired: Hired) -> Installed:
    """The program of the agent that was hired, or what to do to have it."""
    found = installed(hired.family)
    if found is None:
        raise Refused(
            f"--executor {hired.executor} needs an extra that is not installed here. Install it beside Swathe: "
            f"pip install 'swathe[{hired.executor}]', or from a checkout: pip install -c constraints.txt "
            f"-e '.[{hired.executor}]'. --executor {hired.family} asks the same models with Swathe's own agent, and needs nothing."
        )
    return found


def contract() -> str:
    """What every pass of an agent goes by: the campaign's contract, told for somebody with other tools."""
    folder = files("domain") / "contracts"
    return "".join((folder / name).read_text() for name in ("campaign.md", "vendor.md"))


def schema() -> dict[str, Any]:
    """The last answer's, as both providers take it: every field required, no other allowed."""
    whole = PassReport.model_json_schema()
    fields = {
        name: {key: field[key] for key in ("type", "items", "description") if key in field}
        for name, field in whole["properties"].items()
    }
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
