"""Files of a repository as tables. They are written by anybody: a broken one says nothing."""

import json
import tomllib
from collections.abc import Callable, Mapping
from typing import cast

Contents = Mapping[str, bytes]
"""Files of the base commit by their path."""

Table = Mapping[str, object]

MOST_YAML_BYTES = 200_000
MOST_KEYS = 5_000
"""Of one mapping after its merges: `<<: [*a, *a]` doubles it in every line."""


def toml(text: bytes) -> Table:
    return _parsed(tomllib.loads, text)


def json_table(text: bytes) -> Table:
    return _parsed(json.loads, text)


def yaml_table(text: bytes) -> Table:
    """Tags that only the file's own tool knows are nothing; what is too large to be written by hand is not read."""
    return _parsed(_yaml, text) if len(text) <= MOST_YAML_BYTES else {}


def table(whole: Table, *keys: str) -> Table:
    """The table under `keys`, or an empty one."""
    for key in keys:
        whole = as_table(whole.get(key))
    return whole


def as_table(value: object) -> Table:
    """The value if it is a table, else an empty one. YAML's keys may be anything (`on` is True)."""
    if not isinstance(value, dict):
        return {}
    return {str(key): inner for key, inner in cast("dict[object, object]", value).items()}


def as_list(value: object) -> list[object]:
    """The items of a list, or the value alone; nothing for nothing."""
    if isinstance(value, list):
        return cast("list[object]", value)
    return [] if value is None else [value]


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parsed(parse: Callable[[str], object], text: bytes) -> Table:
    try:
        return as_table(parse(text.decode()))
    except (ValueError, RecursionError):
        return {}


def _yaml(text: str) -> object:
    import yaml  # noqa: PLC0415 -- 20 ms that few commands need

    class Loader(yaml.SafeLoader):
        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            if len(node.value) > MOST_KEYS:
                raise ValueError(f"a mapping with more than {MOST_KEYS} keys")

    Loader.add_multi_constructor("!", _nothing)  # pyright: ignore[reportUnknownMemberType]
    try:
        return yaml.load(text, Loader)  # noqa: S506 -- a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _nothing(*_: object) -> None:
    """What a tag of the file's own tool stands for."""
