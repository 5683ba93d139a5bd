"""The work pool of a repository: what its base job template carries, and how a flow reads it again.

One work pool is one repository. The target's fields are variables of the template, and reach the flow as
environment variables; a list is written one entry a line, since both hold text.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, cast

from pydantic import ValidationError

from domain.sharing import ORIGIN
from domain.target import Target, is_url
from domain.value import Refused

PREFIX = "SWATHE_TARGET_"
HOME = "swathe_home"
LISTS = ("paths", "verify", "setup", "allow")
SECONDS_BETWEEN_HEARTBEATS = 30
"""Prefect's floor. An automation takes a run that misses three of them for dead."""

ENGINE = "python -m prefect.engine"
"""Started at once, without a look at the workspace: 6 to 9 s from slot to flow instead of 15 to 19."""


def variables() -> dict[str, dict[str, Any]]:
    """The variables of a pool's template that are Swathe's, as JSON schema: the fields of its form."""
    fields = cast("dict[str, dict[str, Any]]", Target.model_json_schema()["properties"])
    found = {name: _variable(name, field) for name, field in fields.items()}
    found[HOME] = {
        "type": "string",
        "title": "$SWATHE_HOME",
        "description": "Where clones, environments and reports are kept; empty: the worker's own.",
    }
    return found


def _variable(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    kind = "string" if name in LISTS else field.get("type", "string")
    said = str(field.get("description", ""))
    if name in LISTS:
        said = f"{said} One a line.".strip()
    enum = {"enum": field["enum"]} if "enum" in field else {}
    return {"type": kind, "title": field.get("title", name), "description": said, **enum}


def template(base: Mapping[str, Any], given: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """A worker's own base job template, with the repository in it: what is `given` are its defaults."""
    made = deepcopy(dict(base))
    job, schema = made["job_configuration"], made["variables"]
    schema["properties"].update(variables())
    schema["required"] = sorted({*schema.get("required", ()), "repo"})
    job["env"] = _environment()
    if kind == "process":
        schema["properties"]["command"]["default"] = ENGINE
    for name, value in given.items():
        schema["properties"][name]["default"] = value
    return made


def _environment() -> dict[str, str]:
    return {
        **{f"{PREFIX}{name.upper()}": f"{{{{ {name} }}}}" for name in Target.model_fields},
        "SWATHE_HOME": f"{{{{ {HOME} }}}}",
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(SECONDS_BETWEEN_HEARTBEATS),
    }


def target_in(environment: Mapping[str, str]) -> Target:
    """The target that the work pool of this process names."""
    given = {
        name: environment[f"{PREFIX}{name.upper()}"]
        for name in Target.model_fields
        if environment.get(f"{PREFIX}{name.upper()}", "").strip()
    }
    if "repo" not in given:
        raise Refused(
            f"no repository was asked for, and the work pool names none ({PREFIX}REPO is not set). Fill in the "
            f"field Target of the run, or deploy the pool with `swathe deploy deployments/REPO.yaml`."
        )
    return target_of(given)


def target_of(given: Mapping[str, Any]) -> Target:
    """The target in the variables of a pool; a `Refused` names the one that cannot be meant."""
    fields = {
        name: _entries(value) if name in LISTS and isinstance(value, str) else value
        for name, value in given.items()
        if name in Target.model_fields
    }
    if is_url(str(fields.get("repo", ""))):
        # Whatever worker takes the next run: it goes on from there.
        fields = {"share": ORIGIN, **fields}
    try:
        return Target.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise Refused(
            f"the work pool's {name!r} is {given.get(name)!r}: {first['msg']}. "
            f"Correct it in the pool's file and deploy again, or in the pool's form."
        ) from None


def _entries(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
