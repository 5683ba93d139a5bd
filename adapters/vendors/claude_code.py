"""Claude Code: the program that ships with the claude-agent-sdk, started for one pass and for nothing else.

It reads no settings but these, keeps no session, starts no hook and no server, and reports to nobody.
"""

import json
from typing import TYPE_CHECKING

from adapters.vendors.events import Heard, brief, report_in, spoken

if TYPE_CHECKING:
    from adapters.vendors.agents import Job

TOOLS = "Bash,Read,Edit,Write,Glob,Grep"
SETTINGS = {
    "attribution": {"commit": "", "pr": ""},
    "includeCoAuthoredBy": False,
    "disableAllHooks": True,
    "cleanupPeriodDays": 1,
}
COMMAND_MS = str(30 * 60 * 1000)
OUTPUT_TOKENS = "32000"
RETRIES = "5"


def command(job: "Job") -> list[str]:
    return [
        job.program,
        "-p",
        *("--output-format", "stream-json", "--verbose"),
        *("--model", job.model),
        *(("--effort", job.effort) if job.effort else ()),
        *("--append-system-prompt", job.contract),
        *("--json-schema", json.dumps(job.schema)),
        *("--tools", TOOLS),
        *("--setting-sources", "", "--settings", json.dumps(SETTINGS)),
        *("--strict-mcp-config", "--safe-mode", "--disable-slash-commands", "--no-chrome"),
        "--no-session-persistence",
        # The sandbox around all of it decides; nobody is there to be asked.
        "--dangerously-skip-permissions",
    ]


def environment(job: "Job") -> dict[str, str]:
    only = dict.fromkeys(
        (
            "ANTHROPIC_DEFAULT_HAIKU_MODEL",
            "ANTHROPIC_DEFAULT_SONNET_MODEL",
            "ANTHROPIC_DEFAULT_OPUS_MODEL",
            "CLAUDE_CODE_SUBAGENT_MODEL",
        ),
        job.model,
    )
    off = dict.fromkeys(
        (
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
            "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_AUTOUPDATER",
            "IS_SANDBOX",  # else root may not skip permissions
        ),
        "1",
    )
    return {
        **only,
        **off,
        "ANTHROPIC_BASE_URL": job.address,
        "ANTHROPIC_API_KEY": job.token,
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": OUTPUT_TOKENS,
        "CLAUDE_CODE_MAX_RETRIES": RETRIES,
        "BASH_DEFAULT_TIMEOUT_MS": COMMAND_MS,
        "BASH_MAX_TIMEOUT_MS": COMMAND_MS,
    }


def heard(output: str) -> Heard:
    """Its result may be called a success while it is an error, or has no answer in the form that was asked for."""
    for said in spoken(output):
        if said.get("type") != "result":
            continue
        if said.get("is_error"):
            return Heard(
                trouble=brief(said.get("result") or said.get("errors") or said.get("subtype"))
            )
        report = report_in(said.get("structured_output"))
        return Heard(
            report, "" if report else f"it ended without a report: {brief(said.get('result'))}"
        )
    return Heard(trouble=f"it ended without a result: {brief(output[-1000:])}")
