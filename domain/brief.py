"""The brief of a pass: all that a model is told at its start, made anew from what is known now.

Nothing of an earlier plan goes in, and no placeholder can: each line is there only when there is something to say.
"""

from collections.abc import Callable, Iterable, Sequence

from pydantic import Field

from domain.gate import Failure
from domain.report import Landed, Parked
from domain.role import Finding
from domain.value import Value
from domain.words import counted, printable

MOST_ITEMS = 40
MOST_FAILURES = 5
"""Of one parked commit."""
MESSAGE_CHARACTERS = 600
DIFF_CHARACTERS = 60_000


class Allowance(Value):
    """What is left of the budget. None: no cap."""

    usd: float | None = None
    minutes: float | None = None
    passes: int | None = None
    """After this one."""

    @property
    def words(self) -> str:
        parts = [
            f"${self.usd:.2f}" if self.usd is not None else "",
            f"{self.minutes:.0f} minutes" if self.minutes is not None else "",
            f"{counted(self.passes, 'pass', 'passes')} after this one"
            if self.passes is not None
            else "",
        ]
        return ", ".join(part for part in parts if part)


class PassBrief(Value):
    """What a work phase is told."""

    axis: str
    """In the operator's words; empty: the model chooses one."""
    number: int = Field(ge=1)
    """Of the pass."""
    paths: tuple[str, ...] = ()
    """Globs of the scope; empty: everything."""
    branch: str = ""
    """Only what was touched since the merge base with this branch."""
    allow: tuple[str, ...] = ()
    """Protected classes that are open: tests, ci, deps, config."""
    gate: tuple[str, ...] = ()
    known_failures: tuple[str, ...] = ()
    landed: tuple[Landed, ...] = ()
    parked: tuple[Parked, ...] = ()
    doubted: tuple[Parked, ...] = ()
    """Of the last pass: the gate was green on them, and a reader of another family spoke against them."""
    disputed: tuple[str, ...] = ()
    """Files where that happened twice."""
    sites: tuple[Finding, ...] = ()
    """Named by a probe, or by whoever looked last."""
    declined: tuple[str, ...] = ()
    """Places the operator took back: not to be done again."""
    said: tuple[str, ...] = ()
    """What the operator said, oldest first."""
    heard: tuple[str, ...] = ()
    """The ids of these words: they are not said again in the same conversation."""
    item: str = ""
    """Of a list: this pass is for it alone."""
    teach: int = 0
    """So many sites are to be done in this pass, to make a rule from them."""
    swept: int = 0
    """Sites that a rule did that was made from the model's own."""
    left: Allowance = Allowance()

    @property
    def words(self) -> str:
        return joined(
            [
                "PHASE: work",
                "" if self.item else f"Pass {self.number}.",
                axis_line(self.axis),
                self._scope(),
                self._item(),
                listed("The gate, which every commit must pass:", self.gate),
                listed(
                    "Known failures of the commit this campaign began with; not your business:",
                    self.known_failures,
                ),
                listed("Landed so far:", [_landed(commit) for commit in self.landed], last=True),
                listed(
                    "Parked, not landed. Do not try the same again:",
                    [_parked(commit) for commit in self.parked],
                    last=True,
                    sanitise=_lines,
                ),
                listed(
                    "Parked, although the gate is green: a model of another family read them and disagrees. You are told "
                    "once. Where it is right, do the site another way; where it is not, leave the site:",
                    [_parked(commit) for commit in self.doubted],
                    sanitise=_lines,
                ),
                listed(
                    "Disagreed about twice, and the operator's to decide; leave these files:",
                    self.disputed,
                ),
                listed("Sites that were found:", [_place(site) for site in self.sites]),
                self._lesson(),
                listed("Taken back by the operator; leave them as they are:", self.declined),
                listed("The operator says:", self.said, last=True),
                f"Left of the budget: {self.left.words}." if self.left.words else "",
            ]
        )

    def _item(self) -> str:
        if not self.item:
            return ""
        return (
            "This pass is for one item of a list, and for nothing else. Others work on the other items at the same time, "
            "in clones of their own; leave those as they are. Make it whole, with what relies on it, in one commit, and "
            "end the pass. If nothing is to be done there, commit nothing, and say why in the note. The item:\n"
            + "\n".join(f"> {line}" for line in _lines(self.item).splitlines())
        )

    def _lesson(self) -> str:
        if self.teach:
            return (
                f"Do {counted(self.teach, 'site')} in this pass, each of them in a commit that holds nothing else, all in the "
                f"same way, and then end it. A rule that is made from them does the others; what it can't do comes back to you."
            )
        if self.swept:
            return (
                f"A rule that was made from your first sites did {self.swept:,} of those that landed, and has nothing left "
                f"that it can do. What is left is yours."
            )
        return ""

    def _scope(self) -> str:
        globs = ", ".join(printable(path) for path in self.paths) or "the whole repository"
        branch = f", only files changed against {printable(self.branch)}" if self.branch else ""
        opened = ", ".join(self.allow) or "none"
        return f"Scope: {globs}{branch}. Protected classes that are open: {opened}."


def confirming(axis: str, message: str, diff: str) -> str:
    """What a confirm phase is told of one commit that the gate found green: nothing that differs between two runs."""
    cut = len(diff) > DIFF_CHARACTERS
    shown = diff[:DIFF_CHARACTERS]
    note = f"(the first {DIFF_CHARACTERS:,} of {len(diff):,} characters; read the rest with git)"
    return joined(
        [
            "PHASE: confirm",
            axis_line(axis),
            (
                "The commit that HEAD stands on passed the gate. Does it hold up: does it do what the axis means, is it "
                "right in what it changes, and in what relies on that? Look at the code around it."
            ),
            "Its message:\n" + "\n".join(f"> {line}" for line in _lines(message).splitlines()),
            f"{note if cut else ''}\n```diff\n{shown}\n```".strip(),
        ]
    )


def teaching(axis: str, diffs: Sequence[str]) -> str:
    """What a teach phase is told: commits that landed, and nothing of those that its rule is proved on."""
    return joined(
        [
            "PHASE: teach",
            axis_line(axis),
            "These changes landed, one site each; the clone stands before the first of them:",
            *(f"```diff\n{diff}\n```" for diff in diffs),
            (
                "Write an ast-grep rule (YAML with `id`, `language`, `message`, `rule` and `fix`; `constraints`, `transform` and "
                "`utils` where they help) that makes them, byte for byte. It is tried on these and on other sites that landed, "
                "and then applied to the whole scope, each match in a commit that has to pass the gate. It must leave alone "
                "what the axis does not mean, and must not match what it wrote itself. Sites that it does not match stay "
                "yours, so that it is better narrow than wrong. No ast-grep is here: the engine tries it. If no rule can do it, "
                "`rule` stays empty."
            ),
        ]
    )


def gating(found: str) -> str:
    """What a gate phase is told."""
    return joined(
        [
            "PHASE: gate",
            f"No commands are known that prove a commit here: {printable(found)}",
            (
                "Find those that do: what builds this repository and runs its tests, and where it has none, what at least "
                "reads all of its sources. They are run in order, in the root of a clean checkout, without network, and the "
                "first that fails ends it; a shell's state is not kept between them. Try them. They have to pass on the "
                "commit you stand on, to fail when a source file is broken, and to tell a failure by their own exit status: "
                "one line each, no `| tail` or other filter after a check, no `|| true`, no `;` between checks, no `&`, no "
                "`sh -c`. Name no path outside of the repository."
            ),
        ]
    )


def refused_gate(words: str, commands: Sequence[str], objection: str) -> str:
    """A gate phase after commands that could not be taken."""
    return joined([words, listed("These were refused:", commands), _lines(objection)])


def retrying(words: str, rule: str, objection: str) -> str:
    """A teach phase after a rule that failed."""
    return joined([words, f"This rule was tried:\n```yaml\n{rule}```", objection])


def rescanning(axis: str, paths: Sequence[str]) -> str:
    """What a rescan phase is told: nothing of what was done, so that it looks with fresh eyes."""
    where = ", ".join(printable(path) for path in paths) or "the whole repository"
    return joined(["PHASE: rescan", axis_line(axis), f"Scope: {where}."])


def enumerating(axis: str, paths: Sequence[str], part: int, most: int) -> str:
    """What a rescan phase is told that makes a list in parts: others work at what it has named while it looks on."""
    if part:
        return joined(
            [
                "PHASE: rescan",
                f"Go on from there: name the next {most}, none that you named before. Fewer than {most}: that was all.",
            ]
        )
    asked = (
        f"Name {most} places at the most, what matters most first, each with its file and line as they stand and with what "
        f"is to be done there, so that it can be done without the others. As soon as you have {most}, end the phase: others "
        f"begin with them, and you are asked for the next. Fewer than {most}: that was all."
    )
    return joined([rescanning(axis, paths), asked])


def axis_line(axis: str) -> str:
    return (
        f"Axis: {printable(axis)}"
        if axis.strip()
        else "Axis: yours to choose, and to say with `ask`."
    )


def joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def listed(
    title: str,
    items: Sequence[str],
    *,
    last: bool = False,
    sanitise: Callable[[str], str] = printable,
) -> str:
    """At most so many items; of a history, the latest."""
    if not items:
        return ""
    shown = items[-MOST_ITEMS:] if last else items[:MOST_ITEMS]
    more = len(items) - len(shown)
    rest = [f"- and {more:,} {'earlier' if last else 'more'}"] if more else []
    return "\n".join([title, *(f"- {sanitise(item)}" for item in shown), *rest])


def _landed(commit: Landed) -> str:
    return f"{commit.site} {commit.subject}".strip()


def _place(finding: Finding) -> str:
    return f"{finding.path}:{finding.line} {finding.what}"


def _parked(commit: Parked) -> str:
    head = f"{printable(f'{commit.site} {commit.subject}')}: {printable(commit.reason)}"
    failures = [_failure(failure) for failure in commit.failures[:MOST_FAILURES]]
    more = len(commit.failures) - len(failures)
    return "\n".join([head, *failures, *([f"  and {more:,} more failures"] if more else [])])


def _failure(failure: Failure) -> str:
    said = _lines(failure.message[-MESSAGE_CHARACTERS:]).strip()
    indented = said.replace("\n", "\n    ")
    return (
        f"  new failure {printable(failure.test)}:\n    {indented}"
        if said
        else f"  new failure {printable(failure.test)}"
    )


def _lines(text: str) -> str:
    """Several lines, each of them printable."""
    return "\n".join(
        line[: len(line) - len(line.lstrip(" "))] + printable(line) for line in text.splitlines()
    )
