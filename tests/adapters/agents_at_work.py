"""What a scripted model says to a vendor's own agent: the same deeds, in each agent's tools."""

import json

from stub_script import Call, Turn

from adapters.vendors.agents import installed
from domain.hired import Family

EXECUTORS: dict[Family, str] = {"claude": "claude-code", "gpt": "codex"}
DONE = {
    "axis_complete": True,
    "sites_remaining": [],
    "needs_human": "",
    "options": [],
    "note": "all done",
}


def missing(family: Family) -> str:
    """Why a test of this agent cannot be run here; empty when it can."""
    return "" if installed(family) else f"needs the extra [{EXECUTORS[family]}]"


def shell(family: Family, command: str) -> Turn:
    if family == "claude":
        return Turn(calls=(Call("Bash", {"command": command, "description": "Work"}),))
    script = (
        f"const done = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(done.output);"
    )
    return Turn(calls=(Call("exec", script, custom=True),))


def finish(family: Family, **more: object) -> Turn:
    report = {**DONE, **more}
    if family == "claude":
        return Turn(calls=(Call("StructuredOutput", report),))
    return Turn(text=json.dumps(report))
