"""Asking a person in mid-run: the run is suspended with a form, its process is freed, and the answer goes on with it.

Called by a flow itself: Prefect suspends no task. The run starts from the top when it goes on, so that whatever was
answered is written down with the words to the run, and is not asked again.
"""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any, Literal, TypeVar
from uuid import UUID

from prefect import suspend_flow_run
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ResumeFlowRun
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.exceptions import Pause
from prefect.input import RunInput
from prefect.logging import get_run_logger
from prefect.runtime import deployment, flow_run
from pydantic import Field, create_model

from adapters import events, words
from adapters.repository import landing
from adapters.repository.workspaces import run_folder
from domain.question import JUDGE, UNDECIDED, Question
from domain.summary import verbatim
from domain.target import Workspace
from domain.word import Word
from domain.words import MINUTE, duration
from tasks.hearing import fall_silent, listen

Form = TypeVar("Form", bound=RunInput)
ALARM = "Swathe: no answer to"
GOES_ON = ("Cancelled", "Cancelling", "Resuming", "Scheduled", "Pending", "Running")
"""Names of states that say that a suspended run was answered, or is over."""
CRASHED = "AwaitingRetry"


def ask_operator(workspace: Workspace, question: Question, tip: str, minutes: float) -> bool:
    """Have an answer to a question, or the default when nobody gives one in `minutes`. False: nobody can be asked here.

    `tip`: what the work stands on; `Moved` when another run went on with it meanwhile.
    """
    if not deployment.id:
        return False
    if not words.known(workspace, question.id):
        given: Any = suspended(workspace, _form(question, minutes), question.id, minutes)
        landing.stands(workspace, tip)
        told = question.answered(given.choice, given.answer)
        words.say(workspace, Word(id=question.id, tell=told))
        events.emit(run_folder(workspace), "step", what=f"answered: {told}")
    return True


def suspended(workspace: Workspace, form: type[Form], key: str, minutes: float) -> Form:
    """The form as it was filled in, or with its defaults when `minutes` have passed. Whoever calls has to call again after a restart."""
    run = UUID(str(flow_run.id))
    for number in count(1):
        _attempt(lambda: _alarm(run, minutes))
        try:
            given = suspend_flow_run(wait_for_input=form, key=f"{key}-{number}")
        except Pause:
            fall_silent()
            raise
        _attempt(lambda: _silence(run))
        if given != form() or not _was_taken_for_crashed(run, number):
            listen(workspace)
            return given
    raise AssertionError  # the loop has no end


def _form(question: Question, minutes: float) -> type[RunInput]:
    options = Literal[(JUDGE, *question.options)]  # pyright: ignore[reportInvalidTypeForm, reportUnknownVariableType]
    fields: dict[str, Any] = {
        "choice": (options, Field(default=JUDGE, title="Answer")),
        "answer": (str, Field(default="", title="In your own words", max_length=2000)),
    }
    made = create_model("Answer", __base__=RunInput, **fields)
    asked = "\n".join(f"- {verbatim(option)}" for option in question.options)
    said = (
        f"The model asks:\n\n> {verbatim(question.text)}\n\n{asked}\n\n"
        f"With no answer in {duration(minutes * MINUTE)} the run goes on, and the model is told: {UNDECIDED}."
    )
    return made.with_initial_data(description=said)


def _alarm(run: UUID, minutes: float) -> None:
    """Have the server resume the run by itself, with the form's defaults. Prefect's own timeout would fail it."""
    resource = f"prefect.flow-run.{run}"
    alarm = AutomationCore(
        name=f"{ALARM} {flow_run.name} ({run})",
        description="Goes on with the default answer. Removed when the run goes on.",
        trigger=EventTrigger(
            posture=Posture.Proactive,
            match={"prefect.resource.id": resource},  # pyright: ignore[reportArgumentType] -- as Prefect reads it
            for_each={"prefect.resource.id"},
            after={"prefect.flow-run.Suspended"},
            expect={f"prefect.flow-run.{name}" for name in GOES_ON},
            threshold=1,
            within=timedelta(minutes=minutes),
        ),
        actions=[ResumeFlowRun()],
        owner_resource=resource,
    )
    with get_client(sync_client=True) as client:
        _forget_cancelled(client)
        client.delete_resource_owned_automations(resource)
        client.create_automation(alarm)


def _forget_cancelled(client: SyncPrefectClient) -> None:
    """Alarms of runs that were cancelled while they waited."""
    for one in client.read_automations():
        if one.name.startswith(ALARM) and one.owner_resource:
            state = client.read_flow_run(UUID(one.owner_resource.rpartition(".")[2])).state
            if state and state.is_final():
                client.delete_automation(one.id)


def _silence(run: UUID) -> None:
    with get_client(sync_client=True) as client:
        client.delete_resource_owned_automations(f"prefect.flow-run.{run}")


def _was_taken_for_crashed(run: UUID, number: int) -> bool:
    """Whether the run goes on since it was taken for dead: nobody has answered then, and nobody is late.

    A heartbeat that is heard just after a run was suspended is the last of it.
    """
    with get_client(sync_client=True) as client:
        states = sorted(client.read_flow_run_states(run), key=lambda state: state.timestamp)
    suspensions = [at for at, state in enumerate(states) if state.type == StateType.PAUSED]
    if len(suspensions) < number:
        return False
    later = states[suspensions[-1] :]
    after = next((state.name for state in later if state.type == StateType.SCHEDULED), "")
    return after == CRASHED


def _attempt(do: Callable[[], object]) -> None:
    try:
        do()
    except Exception as trouble:  # noqa: BLE001 -- without the alarm a person can still answer
        get_run_logger().warning("The deadline of a question: %s", trouble)
