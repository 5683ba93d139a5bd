"""How a command whose runner names its tests only when asked is asked: by words that the runner knows.

A report goes to `$SWATHE_JUNIT`, as JUnit XML where the runner can write it. Only a plain command is added
to; the operator may always write a report there himself. Node knows these words from 18.15 on, vitest from 0.20.
"""

import re
from collections.abc import Mapping

from domain.script_lines import PIECE

WAY = r"((?:cd \S+ && |export \w+=\S+ && |\w+=\S+ )*)"
WORDS = r"([^;&|<>\n]*)$"
GO = re.compile(rf"{WAY}go test(?= |$){WORDS}")
CARGO = re.compile(rf"{WAY}(cargo (?:\+\S+ )?test)(?= |$){WORDS}")
SCRIPT = re.compile(
    rf"{WAY}((npm|pnpm|yarn|bun) (?:run )?(?:-s |--silent )?(t|tst|test[\w:-]*))(?= |$){WORDS}"
)
DIRECT = re.compile(rf"{WAY}((?:npx |pnpm exec |yarn )?(?:vitest|jest|mocha)|node)(?= |$){WORDS}")

JUNIT = "$SWATHE_JUNIT"
REPORTERS = "$SWATHE_REPORTERS"
NODE_OPTIONS = (
    "--test-reporter=spec --test-reporter-destination=stdout "
    rf"--test-reporter=\"{REPORTERS}/node.mjs\" --test-reporter-destination=stdout"
)

RUNNERS = {
    "vitest": f'--reporter=default --reporter=junit --outputFile.junit="{JUNIT}/vitest-{{0}}.xml"',
    "jest": f'--reporters=default --reporters="{REPORTERS}/jest.cjs"',
    "mocha": f'--reporter xunit --reporter-option output="{JUNIT}/mocha-{{0}}.xml"',
}


def reporting(command: str, scripts: Mapping[str, object], number: int) -> str:
    """The command with a report of its own, its `number`th; `scripts` are those of package.json."""
    if found := GO.match(command):
        way, words = found.groups()
        if not re.search(r"-(?:json|c|list)\b", words):
            return f'{way}go test -json{words} > "{JUNIT}/go-{number}.json"'
    elif found := CARGO.match(command):
        way, cargo, words = found.groups()
        if not re.search(
            r" (?:--nocapture|--no-capture|--format|--no-run|--quiet|-q|--list)\b", words
        ):
            more = "" if "--no-fail-fast" in words else " --no-fail-fast"
            return f'{way}{cargo}{more}{words} 2>&1 | tee "{JUNIT}/cargo-{number}.txt"'
    elif found := SCRIPT.match(command):
        way, npm, manager, name, words = found.groups()
        script = str(scripts.get("test" if name in {"t", "tst"} else name, ""))
        dashes = " --" if manager == "npm" and " -- " not in words else ""
        return _node(_last(script), way, f"{npm}{words}", dashes, number) or command
    elif found := DIRECT.match(command):
        way, program, words = found.groups()
        return _node(f"{program}{words}", way, f"{program}{words}", "", number) or command
    return command


def _last(script: str) -> str:
    """The command of a script that gets the words added at its end."""
    parts = PIECE.findall(script)
    if any(mark in {"|", "||", ";", "&"} for _, mark in parts):
        return ""
    return next((part.strip() for part, _ in reversed(parts) if part.strip()), "")


def _node(run: str, way: str, command: str, dashes: str, number: int) -> str:
    """Nothing when the runner is not known, or has a reporter already."""
    if re.search(r"--(?:test-)?reporters?\b|--json\b|-R\b", run):
        return ""
    if re.match(r"(?:\w+=\S* )*node (?:.* )?--test(?= |$)", run):
        return f'{way}NODE_OPTIONS="{NODE_OPTIONS}" {command}'
    program = re.match(
        r"(?:\w+=\S* |cross-env |npx |pnpm exec |yarn )*(?:\S*/)?(vitest|jest|mocha)(?= |$)", run
    )
    return f"{way}{command}{dashes} {RUNNERS[program[1]].format(number)}" if program else ""
