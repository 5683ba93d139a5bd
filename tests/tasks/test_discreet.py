from importlib import import_module
from pkgutil import iter_modules

from prefect import Task

import tasks
from adapters.redacting import discreet


def test_every_task_is_discreet():
    """What one of them says in an exception is kept in Prefect's database for ever."""
    modules = [import_module(f"tasks.{one.name}") for one in iter_modules(tasks.__path__)]
    steps = {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Task)
    }

    discreetly = discreet(lambda: None).__code__
    assert {"verify", "land", "close"} <= steps.keys()
    assert [name for name, step in steps.items() if step.fn.__code__ is not discreetly] == []
