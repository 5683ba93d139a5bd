"""The work-list of a sweep as a form in the UI: look at it, reorder it, strike items, add some."""

from prefect import State, flow
from prefect.states import Completed

from domain.list_change import ListChange
from domain.target import Target
from tasks.edit_list import edit_list
from tasks.states import list_name

NOTHING = ListChange()


@flow(flow_run_name=list_name, persist_result=True, result_serializer="json")
def work_list(
    axis: str = "", target: Target | None = None, change: ListChange = NOTHING
) -> State[dict[str, int]]:
    """Show the work-list of a sweep as a table, and change it.

    Args:
        axis: Which list: the axis, or its part of the branch's name; empty: the only one there is.
        target: The repository; none: the repository of the work pool.
        change: What is to be changed; empty: the list is shown.
    """
    counts = edit_list(target, axis, change)
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    return Completed(name="Listed", message=said or "the list is empty", data=counts)
