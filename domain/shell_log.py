"""What a log says about a tool that is not there. An exit code alone hides it behind a pipe or a make rule."""

import re

NOT_FOUND = (
    re.compile(
        r"^(?:\S*(?:ba|da|z|k|a)?sh: )(?:line )?(?:\d+: )?(?P<tool>[^\s:]+): (?:command )?not found$"
    ),
    re.compile(
        r"^(?:\S*sh: )(?:line )?(?:\d+: )?(?P<tool>[^\s:]+): (?:No such file or directory|Permission denied)$"
    ),
    re.compile(
        r"^(?:g?make|env|just|xargs|nohup|timeout|sudo)(?:\[\d+\])?: [\u2018'\"]?(?P<tool>[^\s:\u2019'\"]+)[\u2019'\"]?: (?:No such file or directory|Permission denied)$"
    ),
    re.compile(r"^\S*python[\d.]*: No module named (?P<tool>\S+)$"),
    re.compile(r"^(?:g?make)(?:\[\d+\])?: \*\*\* \[.*\] Error (?:127|126)$"),
)
LINES_LOOKED_AT = 400


def missing_tool(output: str) -> str:
    """The tool that a shell, make or Python said it could not start, or an empty word."""
    for line in output.splitlines()[-LINES_LOOKED_AT:]:
        for shape in NOT_FOUND:
            match = shape.match(line.strip())
            if match:
                return match.groupdict().get("tool") or "a tool"
    return ""
