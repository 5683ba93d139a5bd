"""Every shipped deployment can run: its flow loads, its parameters are what the flow takes, its pool names a repository."""

from pathlib import Path

import pytest
import yaml

from adapters.service.prefect_file import read
from domain.pool import target_of

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "deployments").glob("*.yaml"))
CONTAINERS = sorted((ROOT / "deployments" / "containers").glob("*.yaml"))
"""To be copied: their repositories are nobody's."""


@pytest.mark.parametrize("file", [*FILES, *CONTAINERS], ids=lambda file: file.stem)
def test_a_shipped_file_is_right(file):
    from cli.loading import troubles  # noqa: PLC0415 -- it imports Prefect

    found = read(file)

    assert found.problems == ()
    assert list(troubles(found.content)) == []


@pytest.mark.parametrize("file", [*FILES, *CONTAINERS], ids=lambda file: file.stem)
def test_a_shipped_file_is_one_pool_of_the_files_name_with_a_repository(file):
    content = read(file).content

    assert content.pool == file.stem
    assert target_of(content.spec.job_variables).repo
    assert all(one.name.endswith(f"@{file.stem}") for one in content.deployments)


def test_the_root_file_deploys_what_the_shipped_files_deploy():
    root = yaml.safe_load((ROOT / "prefect.yaml").read_text())

    shipped = [one for file in FILES for one in yaml.safe_load(file.read_text())["deployments"]]

    assert root["deployments"] == shipped
    assert root["pull"] == []
