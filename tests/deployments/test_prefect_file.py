"""A file is read strictly: what Prefect would ignore is told, with its line and what to write instead."""

from pathlib import Path

import pytest

from adapters.service.prefect_file import read

GOOD = """\
name: acme
pull: []
definitions:
  work_pools:
    acme:
      type: process
      job_variables:
        repo: https://example.com/acme.git
        verify: |
          make test
          make lint
        sandbox: auto
        env:
          ANTHROPIC_API_KEY: "{{ prefect.blocks.secret.anthropic-api-key }}"
deployments:
  - name: pyupgrade@acme
    entrypoint: flows.campaign.campaign
    work_pool:
      name: acme
    concurrency_limit:
      limit: 1
      collision_strategy: ENQUEUE
    schedules:
      - slug: nightly
        cron: "0 2 * * *"
        timezone: Europe/Berlin
    parameters:
      axis: {kind: ruff, select: UP}
"""


@pytest.fixture(name="told")
def _told(tmp_path: Path):
    """What is said of a file: a line and words for each problem."""

    def told(text: str) -> list[tuple[int, str]]:
        file = tmp_path / "acme.yaml"
        file.write_text(text)
        return sorted((problem.line, problem.said) for problem in read(file).problems)

    return told


def line_of(place: str, text: str = GOOD) -> int:
    """The number of the first line that holds `place`."""
    return next(n for n, row in enumerate(text.splitlines(), 1) if place in row)


def changed(before: str, after: str) -> str:
    assert before in GOOD
    return GOOD.replace(before, after)


def test_a_good_file_is_read_whole(told, tmp_path):
    assert told(GOOD) == []

    content = read(tmp_path / "acme.yaml").content

    assert content.pool == "acme"
    assert content.deployments[0].schedules[0].timezone == "Europe/Berlin"


WRONG = {
    "an unknown key of a deployment": ("concurrency_limit:", "concurency_limit:", "concurency_limit", "'concurrency_limit'"),
    "an unknown key of a schedule": ("timezone:", "time_zone:", "time_zone", "'timezone'"),
    "an unknown key of a limit": ("collision_strategy:", "colision_strategy:", "colision", "'collision_strategy'"),
    "an unknown key of a pool": ("      type:", "      typ:", "typ:", "'type'"),
    "an unknown key at the top": ("deployments:", "deployment:", "deployment:", "'deployments'"),
    "a strategy that is none": ("ENQUEUE", "QUEUE", "QUEUE", "ENQUEUE"),
    "more than one run at once": ("limit: 1", "limit: 2", "limit: 2", "collision_strategy"),
    "a limit whose strategy is not said": (
        "concurrency_limit:\n      limit: 1\n      collision_strategy: ENQUEUE",
        "concurrency_limit: 1",
        "concurrency_limit: 1",
        "collision_strategy",
    ),
    "a cron line without a zone": ("        timezone: Europe/Berlin\n", "", "slug: nightly", "Europe/Berlin or UTC"),
    "cron and interval": ('cron: "0 2 * * *"', 'cron: "0 2 * * *"\n        interval: 60', "slug: nightly", "either"),
    "neither cron nor interval": ('        cron: "0 2 * * *"\n', "", "slug: nightly", "either"),
    "a pool that is not the file's": ("      name: acme", "      name: amce", "name: amce", "one file, one pool"),
    "no pull": ("pull: []\n", "", "name: acme", "`pull: []`"),
    "a relative path": ("https://example.com/acme.git", "acme", "repo: acme", "{{ $PWD }}/acme"),
    "no repository": ("        repo: https://example.com/acme.git\n", "", "job_variables:", "no `repo`"),
    "an unset variable": ("https://example.com/acme.git", "{{ $NO_SUCH_THING }}", "NO_SUCH", "$NO_SUCH_THING"),
    "a reference nobody fills in": ("select: UP", 'select: "{{ prefect.blocks.secret.x }}"', "select:", "only `job_variables`"),
    "a second key": ("  - name: pyupgrade@acme", "  - name: a\n    name: pyupgrade@acme", "pyupgrade@acme", "a second 'name'"),
    "a relative home": ("sandbox: auto", "swathe_home: work", "swathe_home", "a relative path"),
    "another repository": ("      name: acme", "      name: acme\n      job_variables: {repo: /other}", "repo: /other", "the pool's"),
    "a container without an image": ("type: process", "type: docker", "job_variables:", "needs an `image`"),
    "a sandbox that is none": ("sandbox: auto", "sandbox: of", "job_variables:", "'sandbox' is 'of'"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_told_with_its_line_and_what_to_write(told, what):
    before, after, place, said = WRONG[what]
    text = changed(before, after)

    found = told(text)

    assert any(line == line_of(place, text) and said in words for line, words in found), found


TOKEN = "ghp_" + "9fK2mQ7vR4xW8zB3nT6yL1cD5hJ0pS2aUeGi"

CLEAR = {
    "by the name of its variable": "hunter2",
    "by its shape": TOKEN,
    "by the environment": "{{ $MY_API_KEY }}",
}


@pytest.mark.parametrize("value", CLEAR.values(), ids=CLEAR.keys())
def test_a_secret_in_clear_is_refused_and_not_repeated(told, monkeypatch, value):
    monkeypatch.setenv("MY_API_KEY", "s3cr3t-V4lue-of-mine")

    found = told(changed('"{{ prefect.blocks.secret.anthropic-api-key }}"', f'"{value}"'))

    assert any(
        line == line_of("ANTHROPIC") and "prefect.blocks.secret" in words for line, words in found
    ), found
    assert not any(TOKEN in words or "s3cr3t" in words for _, words in found)


def test_a_secret_of_the_environment_is_refused_wherever_it_stands(told, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "quite-some-words-of-mine")

    found = told(changed("make lint", "curl -u quite-some-words-of-mine x"))

    assert [line for line, _ in found] == [line_of("make lint")]
    assert not any("quite-some-words" in words for _, words in found)


def test_a_password_in_an_address_is_refused(told):
    found = told(changed("https://example.com", "https://me:opensesame@example.com"))

    assert [line for line, words in found if "password in an address" in words] == [
        line_of("repo:")
    ]


def test_a_user_in_an_address_is_not(told):
    assert told(changed("https://example.com/acme.git", "ssh://git@example.com/acme.git")) == []
    assert told(changed("https://example.com/acme.git", "git@example.com:acme.git")) == []


@pytest.mark.parametrize("kind", ["docker", "kubernetes"])
def test_the_same_file_is_of_a_container_pool_with_an_image(told, kind):
    text = changed("type: process", f"type: {kind}")

    assert told(text.replace("sandbox: auto", "sandbox: auto\n        image: acme/swathe:1")) == []


def test_no_yaml_is_told_with_its_line(told):
    text = changed("  - name: py", "  - name: [py")

    ((line, words),) = told(text)

    assert line in (line_of("[py", text), line_of("[py", text) + 1)
    assert words.startswith("no YAML")


def test_a_container_whose_work_would_go_with_it_is_refused(told):
    """T104."""
    text = changed("type: process", "type: docker").replace(
        "sandbox: auto", "sandbox: auto\n        image: acme/swathe:1\n        share: none"
    )

    ((line, words),) = told(text)

    assert line == line_of("job_variables", text)
    assert "would go with the container" in words
    assert told(text.replace("share: none", "share: none\n        swathe_home: /kept")) == []
