"""Codex: the program that ships with openai-codex, started for one pass and for nothing else.

It reads no settings but these, keeps no session, starts no hook, plugin or server, and reports to nobody.
"""

import json
from typing import TYPE_CHECKING

from adapters.vendors.events import Heard, brief, part, report_in, spoken

if TYPE_CHECKING:
    from adapters.vendors.agents import Job

TOKEN = "SWATHE_GATEWAY"  # noqa: S105 -- the name of a variable
PROVIDER = "swathe"
OFF = (
    "api_key_model_discovery",
    "apps",
    "browser_use",
    "computer_use",
    "enable_request_compression",
    "goals",
    "hooks",
    "image_generation",
    "memories",
    "multi_agent",
    "plugins",
    "remote_plugin",
    "skill_mcp_dependency_install",
    "tool_suggest",
    "unbounded_connection_retries",
)
"""What would reach further than the work, or try for longer than the engine waits."""


def command(job: "Job") -> list[str]:
    settings: dict[str, object] = {
        "model_provider": PROVIDER,
        f"model_providers.{PROVIDER}.name": "Swathe's gateway",
        f"model_providers.{PROVIDER}.base_url": f"{job.address}/v1",
        f"model_providers.{PROVIDER}.wire_api": "responses",
        f"model_providers.{PROVIDER}.env_key": TOKEN,
        f"model_providers.{PROVIDER}.supports_websockets": False,
        f"model_providers.{PROVIDER}.request_max_retries": 4,
        f"model_providers.{PROVIDER}.stream_max_retries": 4,
        "developer_instructions": job.contract,
        "project_doc_max_bytes": 0,
        "web_search": "disabled",
        "check_for_update_on_startup": False,
        "analytics.enabled": False,
        "otel.exporter": "none",
        "otel.metrics_exporter": "none",
        "otel.trace_exporter": "none",
        "history.persistence": "none",
        "allow_login_shell": False,
        **{f"features.{name}": False for name in OFF},
    }
    if job.effort:
        settings["model_reasoning_effort"] = job.effort
    return [
        job.program,
        *("exec", "--json", "--color", "never"),
        *("--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"),
        # The sandbox around all of it decides; its own would keep the agent from committing.
        "--dangerously-bypass-approvals-and-sandbox",
        *("-C", job.folder, "-m", job.model),
        *("--output-schema", job.schema_file),
        # JSON's texts, numbers and truths are TOML's too.
        *(
            word
            for name, value in settings.items()
            for word in ("-c", f"{name}={json.dumps(value)}")
        ),
        "-",
    ]


def environment(job: "Job") -> dict[str, str]:
    return {TOKEN: job.token}


def heard(output: str) -> Heard:
    """The last message counts if the turn was completed: it may break the schema it was given all the same."""
    last, trouble, completed = "", "", False
    for said in spoken(output):
        item = part(said, "item")
        match said.get("type"):
            case "item.completed" if item.get("type") == "agent_message":
                last = str(item.get("text"))
            case "turn.completed":
                completed = True
            case "turn.failed":
                trouble = brief(part(said, "error").get("message"))
            case "error":
                trouble = trouble or brief(said.get("message"))
            case _:
                pass
    if not completed:
        return Heard(trouble=trouble or f"it ended without a result: {brief(output[-1000:])}")
    report = report_in(last)
    return Heard(report, "" if report else f"it ended without a report: {brief(last)}")
