"""Words to the run of a work pool, wherever it works: a variable on the server. Prefect is imported in here."""

from typing import Any, cast

from cli.connecting import address, connected
from domain.value import Refused
from domain.word import Word, variable


def said(asked: str, word: Word, what: str) -> str:
    """Leave a word for the run of a pool that is on; what is to be told of it."""
    url = address(start=False)
    if url is None:
        raise Refused(
            "no Prefect server runs, so that no pool's run can be reached. For another server set PREFECT_API_URL."
        )
    with connected(url):
        from prefect.client.orchestration import get_client

        from cli.pools import chosen, pools

        with get_client(sync_client=True) as client:
            pool = chosen(pools(client), asked).name
            run = _at_work(client, pool)
            if run is None:
                return f"Nothing runs now in the pool {pool}: there is nobody to hear it."
            _leave(client, variable(pool), word)
    return f"Asked: {run} of the pool {pool} {what}, as soon as it looks."


def answered(asked: str, words: str) -> str | None:
    """Answer the run of a pool that waits for it; its name. None: none does."""
    url = address(start=False)
    if url is None:
        return None
    with connected(url):
        from prefect.client.orchestration import get_client
        from prefect.client.schemas.objects import StateType

        from cli.pools import fitting, pools

        with get_client(sync_client=True) as client:
            for pool in fitting(pools(client), asked):
                if run := _one(client, pool.name, StateType.PAUSED):
                    result = client.resume_flow_run(run.id, run_input={"answer": words})
                    if result.status.value != "ACCEPT":
                        raise Refused(f"{run.name} did not take it: {result.details}")
                    return run.name
    return None


def _at_work(client: Any, pool: str) -> str | None:
    from prefect.client.schemas.objects import StateType

    run = _one(client, pool, StateType.RUNNING, StateType.PAUSED)
    return run.name if run else None


def _one(client: Any, pool: str, *states: Any) -> Any:
    from prefect.client.schemas.filters import (
        FlowRunFilter,
        FlowRunFilterState,
        FlowRunFilterStateType,
        WorkPoolFilter,
        WorkPoolFilterName,
    )

    working = FlowRunFilterStateType(any_=list(states))
    runs = client.read_flow_runs(
        work_pool_filter=WorkPoolFilter(name=WorkPoolFilterName(any_=[pool])),
        flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=working)),
        limit=1,
    )
    return runs[0] if runs else None


def _leave(client: Any, name: str, word: Word) -> None:
    """Beside what was said before, and was not heard yet."""
    from uuid import uuid4

    from prefect.client.schemas.actions import VariableCreate, VariableUpdate

    said = word.model_copy(update={"id": uuid4().hex}).model_dump(exclude_defaults=True)
    found = client.read_variable_by_name(name)
    if found is None:
        client.create_variable(VariableCreate(name=name, value=[said]))
        return
    value: Any = found.value
    before = cast("list[Any]", value if isinstance(value, list) else [value])
    client.update_variable(VariableUpdate(name=name, value=[*before, said]))
