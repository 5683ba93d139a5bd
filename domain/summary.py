"""The closing report in words: the numbers, what to do next, and the whole of it as markdown."""

import re
from collections.abc import Iterable, Sequence

from domain.report import Ending, Parked, Report, Taught
from domain.words import HOUR, counted, duration, printable, tallied

MOST_ROWS = 500
"""A table in the Prefect UI stays readable and quick up to about this length."""

NOTHING = "-"

_NEXT: dict[Ending, str] = {
    "complete": "The axis is done: no site is left.",
    "nothing-to-do": "No site of this axis is left in scope.",
    "exhausted": "Every site was worked on. See what the remaining ones need, repair that, and run again with `--retry`.",
    "budget": "Run the same command again to go on; a higher `--max-minutes` or `--max-usd` goes further at once.",
    "passes": "Run the same command again to go on; a higher `--max-passes` goes further at once.",
    "enough": "Run the same command again to go on.",
    "paused": "Run the same command again when the reason above has passed; it goes on where it stopped.",
    "declined": "Nothing is done without your word: run it again, and approve the list, or say what to leave out.",
    "stalled": "Read which tests the parked commits break, change the axis or the code, and run again with `--retry`.",
    "red": "Each change that remains breaks tests. Read which ones, repair what they need, and run again with `--retry`.",
    "busy": "Wait for the other run, or ask it to finish its pass with `swathe enough {target}`.",
    "refused": "Do what the reason says and run again. `swathe doctor {target}` shows what was found.",
}


_NOTHING_PARKED = (
    "Nothing was made that could have landed. Read the notes above, say more closely what the axis is, or let another "
    "`--executor` or `--model` try."
)
"""Of a run that stalled."""


def next_step(report: Report) -> str:
    """What a person does next, besides taking the work home with `report.take`."""
    if report.ending == "stalled" and not report.parked:
        return _NOTHING_PARKED
    return _NEXT[report.ending].format(target=printable(report.target))


def numbers(report: Report) -> tuple[tuple[str, str], ...]:
    """What a run reports of itself (`design.md` §7)."""
    landed, active = len(report.landed), report.seconds.active
    first = report.first_commit_seconds
    before = f" (and {report.landed_before} by earlier runs)" if report.landed_before else ""
    return (
        ("landed commits", f"{landed}{before}"),
        (
            "landed per active hour",
            f"{landed / active * HOUR:,.1f}" if active and landed else NOTHING,
        ),
        ("time to the first commit", NOTHING if first is None else duration(first)),
        (
            "gate runs per landed commit",
            _each(report.gate_runs, landed, "{:.2f}") + f" ({report.gate_runs} in all)",
        ),
        (
            "US dollars per landed commit",
            _each(report.spend_usd, landed, "{:.2f}") + f" ({report.spend_usd:.2f} in all)",
        ),
        ("time in agent / gate / engine", _shares(report)),
        ("active time", duration(active)),
        ("parked", tallied(parked.reason for parked in report.parked) or "none"),
        ("remaining", str(len(report.remaining)) if report.looked else "nobody has looked"),
        *(_lesson(report.taught) if report.taught else ()),
    )


def _lesson(taught: Taught) -> tuple[tuple[str, str], ...]:
    """What `--teach` came to."""
    if not taught.rule:
        return (("taught", f"{counted(taught.taught, 'site')}, and no rule: {taught.why}"),)
    cost = f"less {taught.usd:.2f} for the lesson" if taught.usd else "the lesson was paid earlier"
    return (
        ("sites taught / compiled / left", f"{taught.taught} / {taught.compiled} / {taught.left}"),
        (
            "US dollars saved, an estimate",
            f"{taught.saved_usd:.2f} ({taught.compiled} at the {taught.usd_each:.2f} of a taught one, {cost})",
        ),
    )


def broken_tests(parked: Parked, most: int = 3) -> str:
    """The tests a parked commit breaks, the first `most` by name."""
    named = [printable(failure.test) for failure in parked.failures[:most]]
    more = len(parked.failures) - most
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def markdown(report: Report) -> str:
    """The closing report, for a file, a terminal or an artifact in the Prefect UI."""
    blocks = [
        f"# {_cell(report.axis)} on {_cell(report.target)}: {report.ending}",
        verbatim(report.why),
        f"**Next:** {verbatim(next_step(report))}",
        *_home(report),
        "## Numbers",
        _table(("", ""), ((name, _cell(value)) for name, value in numbers(report))),
        *_rule(report),
        *_landed(report),
        *_parked(report),
        *_remaining(report),
        *_circumstances(report),
    ]
    return "\n\n".join(blocks) + "\n"


def _each(amount: float, landed: int, form: str) -> str:
    return form.format(amount / landed) if landed else NOTHING


def _shares(report: Report) -> str:
    spent = report.seconds
    parts = (spent.agent, spent.gate, spent.engine)
    whole = sum(parts)
    return " / ".join(f"{part / whole:.0%}" for part in parts) if whole else NOTHING


def _home(report: Report) -> list[str]:
    rows = [
        ("Branch", report.branch),
        ("At", report.tip),
        ("Base", report.base),
        ("Run", report.run),
        ("Gate", "; ".join(report.gate)),
        ("Sandbox", report.sandbox or ""),
        ("Prefect UI", report.ui),
    ]
    table = _table(("", ""), ((name, _code(value)) for name, value in rows if value))
    if not report.take:
        return [table]
    return [table, "## Take it home", f"```sh\n{printable(report.take)}\n```"]


def _rule(report: Report) -> list[str]:
    """The taught rule, as it was applied."""
    taught = report.taught
    if not taught or not taught.rule:
        return []
    ticks = max((len(run) for run in re.findall(r"`+", taught.rule)), default=0)
    fence = "`" * max(3, ticks + 1)
    text = "\n".join(_indented(line) for line in taught.rule.splitlines())
    said = (
        f"Made from {counted(taught.taught, 'site')} of the model's and proved on {taught.held_out} that it was not shown. "
        f"Its commits say `Swathe-Rule: {taught.name}`."
    )
    return ["## The taught rule", said, f"{fence}yaml\n{text}\n{fence}"]


def _indented(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))] + printable(line)


def _landed(report: Report) -> list[str]:
    if not report.landed:
        return []
    rows = (
        (
            _code(one.sha[:12]),
            _code(one.site),
            _cell(one.subject),
            _cell(one.verified + (", pinned" if one.pinned else "")),
            _cell(one.confirmed_by),
        )
        for one in report.landed
    )
    return ["## Landed", _table(("commit", "site", "subject", "verified", "confirmed by"), rows)]


def _parked(report: Report) -> list[str]:
    if not report.parked:
        return []
    rows = (
        (_code(one.site), _cell(one.reason), _cell(broken_tests(one)), _code(one.ref))
        for one in report.parked
    )
    text = "Nothing of it is lost: each commit is kept under its ref (`git show REF`)."
    if not all(one.ref for one in report.parked):
        text += " But one that holds a new secret is not brought into the repository."
    return ["## Parked", text, _table(("site", "reason", "breaks", "kept under"), rows)]


def _remaining(report: Report) -> list[str]:
    if not report.remaining:
        return []
    rows = (
        (_code(one.site), _cell(one.rule), _cell(one.message), _cell(one.why))
        for one in report.remaining
    )
    return ["## Remaining", _table(("site", "rule", "what", "why"), rows)]


def _circumstances(report: Report) -> list[str]:
    base = report.baseline
    said = [verbatim(note) for note in report.notes]
    said += [f"failed on the base already: {_code(test)}" for test in base.failed]
    said += [
        f"answers both ways: {_code(test)}" for test in dict.fromkeys((*base.flaky, *report.flaky))
    ]
    said += [f"failed on the base, passes now: {_code(test)}" for test in report.fixed]
    said += [f"declined: {_code(site)}" for site in report.declined]
    said += [
        f"{counted(count, 'file')} skipped: {verbatim(why)}"
        for why, count in report.skipped.items()
    ]
    return ["## Notes", "\n".join(f"- {line}" for line in said)] if said else []


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    rest = len(lines) - 2 - MOST_ROWS
    if rest > 0:
        lines = [*lines[: MOST_ROWS + 2], "", f"… and {rest} more, in the JSON of this report."]
    return "\n".join(lines)


def verbatim(text: str) -> str:
    """`text` on one line, which markdown shows as it is; code in backticks stays code.

    A repository's texts are not markup: an image in a subject would be fetched by the UI.
    """
    text = printable(text).replace("<", "&lt;")
    return _CODE_OR_MARKUP.sub(lambda found: found["code"] or f"\\{found[0]}", text)


_CODE_OR_MARKUP = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|[\\*]|(?<=!)\[|(?<=\])\(|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)


def _cell(text: str) -> str:
    return verbatim(text).replace("|", "\\|")


def _code(text: str) -> str:
    plain = printable(text).replace("|", "\\|")
    if not plain:
        return ""
    return f"`` {plain} ``" if "`" in plain else f"`{plain}`"
