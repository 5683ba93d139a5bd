"""Every shipped deployment can run: its flow loads, and its parameters are what the flow takes."""

import importlib
from pathlib import Path
from typing import Any

import pytest
import yaml

FILE = Path(__file__).parents[2] / "prefect.yaml"
DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text())["deployments"]

KNOWN = {"name", "description", "entrypoint", "work_pool", "concurrency_limit", "parameters"}
"""Prefect ignores a key that it does not know, without a word."""


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_a_shipped_deployment_can_run(deployment):
    module, _, name = deployment["entrypoint"].partition(":")
    flow = getattr(importlib.import_module(module), name)

    taken = flow.validate_parameters(deployment["parameters"])

    assert taken["target"].repo
    assert taken["axis"].kind == deployment["parameters"]["axis"]["kind"]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_a_wrong_parameter_of_a_deployment_is_not_taken(deployment):
    from prefect.exceptions import ParameterTypeError  # noqa: PLC0415 -- slow to import

    module, _, name = deployment["entrypoint"].partition(":")
    flow = getattr(importlib.import_module(module), name)
    wrong = {**deployment["parameters"], "axis": {"kind": "ruff", "selekt": "UP"}}

    with pytest.raises(ParameterTypeError):
        flow.validate_parameters(wrong)


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_a_deployment_has_no_key_that_prefect_would_ignore(deployment):
    assert set(deployment) <= KNOWN
    assert "/" not in deployment["name"]  # `prefect deployment run` could not name it
    assert deployment["concurrency_limit"] == {"limit": 1, "collision_strategy": "ENQUEUE"}
