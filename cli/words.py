"""`swathe enough`, `raise`, `tell` and `answer`: a word to a run that is on."""

from typing import Annotated

import typer

from cli import ask, checked, terminal
from cli.status import OneAxis
from domain.status import Asked
from domain.value import Refused
from domain.word import MOST_CHARACTERS, Word

Pool = Annotated[
    bool,
    typer.Option(
        "--pool",
        help="REPO is on duty: reach its run through the Prefect server, on whatever machine it works. REPO may be the "
        "pool's name then.",
    ),
]


def enough(repo: ask.Repo, axis: OneAxis = None, *, pool: Pool = False) -> None:
    """Ask a run to finish its pass, land it, and stop. Nothing is thrown away."""
    _say(repo, axis, Word(enough=True), "finishes its pass, lands it, and stops", pool=pool)


def more(
    repo: ask.Repo,
    axis: OneAxis = None,
    *,
    max_usd: ask.MaxUsd = None,
    max_minutes: ask.MaxMinutes = None,
    max_passes: ask.MaxPasses = None,
    pool: Pool = False,
) -> None:
    """Raise the budget of a run, at once: what was a cap before is the new figure, if that is higher."""
    given = ask.budget(max_usd=max_usd, max_minutes=max_minutes, max_passes=max_passes)
    if max_usd is None and max_minutes is None and max_passes is None:
        raise Refused("to raise what? Say --max-usd, --max-minutes or --max-passes.")
    caps = given.model_dump(include={"max_usd", "max_minutes", "max_passes"})
    _say(repo, axis, Word.model_validate(caps), "has the higher budget", pool=pool)


def tell(
    repo: ask.Repo,
    words: Annotated[
        str, typer.Argument(metavar="WORDS", help='A sentence, as in "leave b.py alone".')
    ],
    axis: OneAxis = None,
    *,
    pool: Pool = False,
) -> None:
    """Say a sentence to the model that works in a run: it is told before its next answer."""
    _say(repo, axis, Word(tell=_sentence(words)), "tells its model", pool=pool)


def _sentence(words: str) -> str:
    said = checked.words("WORDS", words)
    if len(said) > MOST_CHARACTERS:
        raise Refused(
            f"a sentence of {len(said):,} characters: {MOST_CHARACTERS:,} at the most. Put it in a file of the repository."
        )
    return said


def answer(
    repo: ask.Repo,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="The answer, in a sentence.")],
    axis: OneAxis = None,
) -> None:
    """Answer what a model asked. A run on duty that waits for it goes on; after one from a terminal, the next run is told."""
    said = _sentence(words)
    from adapters import redacting

    redacting.refuse(Word(tell=said))
    from cli import reaching

    if axis is None and (run := reaching.answered(repo, said)):
        terminal.results().print(terminal.said(f"Answered: {run} goes on."))
        return
    from cli import engine

    axis = None if axis is None else checked.words("--axis", axis)
    word = Word(tell=f"to your question: {said}", kept=True)
    asked = engine.say(checked.repository(repo), axis, word)
    terminal.results().print(terminal.said(_kept(asked)))


def _kept(asked: Asked) -> str:
    if not asked.axes:
        return f"No campaign in {asked.repo}: nobody has asked anything."
    axes = ", ".join(asked.axes)
    return f"{'Told' if asked.running else 'Kept for the next run'}: {axes}."


def _say(repo: str, axis: str | None, word: Word, what: str, *, pool: bool) -> None:
    from adapters import redacting

    redacting.refuse(word)
    if pool:
        if axis is not None:
            raise Refused(
                "--axis is for a run on this machine: a pool works on one axis at a time."
            )
        from cli import reaching

        terminal.results().print(terminal.said(reaching.said(repo, word, what)))
        return
    from cli import engine

    axis = None if axis is None else checked.words("--axis", axis)
    asked = engine.say(checked.repository(repo), axis, word)
    terminal.results().print(terminal.said(_answer(asked, what)))


def _answer(asked: Asked, what: str) -> str:
    if not asked.axes:
        return f"No campaign in {asked.repo}: there is nobody to hear it."
    axes = ", ".join(asked.axes)
    if asked.running:
        return f"Asked: {axes} {what}."
    return f"Nothing runs now on this machine: {axes} does not hear it. A run on duty elsewhere: --pool."
