"""Teaching: a model is asked for a rule, which is proved on commits of its own that it was not shown.

What it answered is kept by the question, so that another run does not pay for it again. Its rule is text from
elsewhere: it is handed to ast-grep as data, and nothing of it is run.
"""

from collections.abc import Sequence
from pathlib import Path

from adapters import beginning, events
from adapters.executors import sweeping
from adapters.executors.ast_grep import AstGrepLook
from adapters.executors.consult import Consultant
from adapters.executors.reading import Reader
from adapters.hiring import HALTS, reading_ears
from adapters.processes.temporary import temporary_folder
from adapters.processes.tool import TookTooLong
from adapters.repository import landed
from adapters.repository.settling import save
from adapters.repository.workspaces import run_folder, store
from domain.axis import AstGrep, Axis, title
from domain.brief import retrying
from domain.edits import planned
from domain.lesson import Lesson, plain_rule
from domain.lines import decoded
from domain.outcome import Outcome
from domain.role import Rule
from domain.site import Edit
from domain.state import State
from domain.survey import Brief
from domain.target import Workspace
from domain.teaching import (
    LEAST,
    MOST_EXAMPLES,
    MOST_RULE,
    MOST_TRIES,
    Example,
    Lecture,
    Split,
    Tried,
    first_words,
    judged,
    landed_by_model,
    matches_itself,
    objection,
    proven,
    split,
    to_open,
)
from domain.value import Refused
from domain.words import counted

MOST_REHEARSING_SECONDS = 20.0
"""For a rule on the few files of one example: where relations are nested, ast-grep tries them all with each other."""
TOO_SLOW = (
    f"On the files of one commit it has no result after {MOST_REHEARSING_SECONDS:.0f} s. Nest no relation (`has`, `inside`) in another "
    f"one, or bound them with `stopBy`."
)


def teach(workspace: Workspace, axis: Axis, brief: Brief) -> Lecture:
    """Have a rule made from what the model landed, and keep it; or keep that there is none.

    Without an answer nothing is kept: a later run asks again.
    """
    state = beginning.current_state(workspace, title(axis))
    lesson = _Teacher(workspace, axis, brief).lesson(state)
    if isinstance(lesson, str):
        return Lecture(state=state, note=f"no rule was made: {lesson}")
    taught = state.model_copy(update={"lesson": lesson})
    listing = sweeping.look(workspace, taught, brief.tip)
    lesson = lesson.model_copy(update={"left": tuple(site.key for site in listing.sites)})
    taught = state.model_copy(update={"lesson": lesson})
    save(workspace, taught, "a rule was taught" if lesson.proven else "no rule was taught", 0)
    note = "" if lesson.proven else f"the model goes on alone: {lesson.why}"
    return Lecture(state=taught, listing=listing, note=note)


class _Teacher:
    """Who asks, and what it cost so far."""

    def __init__(self, workspace: Workspace, axis: Axis, brief: Brief) -> None:
        assert workspace.hired  # noqa: S101 -- only a model's commits are taught by
        self.workspace, self.axis, self.hired = workspace, title(axis), workspace.hired
        prepared, _ = beginning.proved_by(workspace)
        self.consultant = Consultant(
            workspace.hired,
            brief.caps,
            reading_ears(workspace),
            prepared.environment,
            brief.number,
        )
        self.usd = 0.0

    def lesson(self, state: State) -> Lesson | str:
        """The lesson, or why nobody can be asked now."""
        commits = landed_by_model(state)
        known = landed.examples(store(self.workspace), commits[-MOST_EXAMPLES:])
        if len(known) < LEAST:
            why = f"only {counted(len(known), 'commit')} of {len(commits)} changed existing files and nothing else"
            return self._given_up(state, why)
        chosen = split(known)
        before = landed.first_parent(store(self.workspace), known[0].sha)
        tail, why = "", ""
        for _ in range(MOST_TRIES):
            words = first_words(self.axis, chosen) + tail
            outcome = self._asked(before, words)
            if outcome.ended in HALTS:
                return outcome.why
            rule = outcome.answer
            if not isinstance(rule, Rule):
                return self._given_up(state, f"it gave no rule: {outcome.ended}. {outcome.why}")
            text = plain_rule(rule.rule)
            if not text:
                return self._given_up(state, f"it says that no rule can do it. {rule.note}")
            why, tried = self._wrong(text, chosen)
            if not why:
                return self._lesson(state, rule=text, held_out=len(chosen.held))
            tail = retrying("", text, why)
            chosen = chosen.opened(to_open(tried, chosen))
        return self._given_up(state, f"{MOST_TRIES} rules did not hold; of the last: {why}")

    def _wrong(self, rule: str, chosen: Split) -> tuple[str, Sequence[Tried]]:
        """What is wrong with a rule; an empty word when it is proved."""
        if len(rule) > MOST_RULE:
            return f"It has {len(rule):,} characters; {MOST_RULE:,} are allowed.", ()
        try:
            tried = [rehearsed(rule, example) for example in (*chosen.shown, *chosen.held)]
        except TookTooLong:
            return TOO_SLOW, ()
        except Refused as refused:
            return str(refused), ()
        return ("" if proven(tried, chosen) else objection(tried, chosen)), tried

    def _asked(self, before: str, words: str) -> Outcome:
        events.emit(run_folder(self.workspace), "step", what="asking for a rule that does the rest")
        outcome = self.consultant.once(self.workspace, before, "teach", words)
        self.usd += outcome.usd
        return outcome

    def _given_up(self, state: State, why: str) -> Lesson:
        return self._lesson(state, why=" ".join(why.split()))

    def _lesson(self, state: State, **more: object) -> Lesson:
        count = len(landed_by_model(state))
        return Lesson.model_validate(
            {
                "taught": count,
                "run": self.workspace.run,
                "usd": self.usd,
                "usd_each": state.spend_usd / count if count else 0.0,
                **more,
            }
        )


def rehearsed(rule: str, example: Example) -> Tried:
    """Apply a rule to the files as an example found them, where the rule sees nothing else."""
    texts = [(decoded(before), decoded(after)) for _, before, after in example.files]
    wanted = _edits(rule, {path: before for path, before, _ in example.files})
    tried = judged(example, texts, wanted)
    if tried.verdict != "same":
        return tried
    left = _edits(rule, {path: after for path, _, after in example.files})
    again = matches_itself(texts, left)
    return tried.model_copy(update={"verdict": "again"}) if again else tried


def _edits(rule: str, files: dict[str, bytes]) -> list[list[Edit]]:
    """What a first round of the rule would change, file by file."""
    with temporary_folder() as folder:
        for path, content in files.items():
            place = Path(folder) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        look = AstGrepLook(
            Reader(Path(folder)), AstGrep(rule=rule), seconds=MOST_REHEARSING_SECONDS
        )
        found = look(sorted(files)).found
    steps = {path: planned(found.get(path, [])).steps for path in files}
    return [[edit for step in steps[path] for edit in step[0].edits] for path in files]
