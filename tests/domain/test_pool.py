"""What a pool's template says of a repository, a flow reads again from its environment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.pool import PREFIX, target_in, template
from domain.target import Target
from domain.value import Refused

BASE = {
    "job_configuration": {"command": "{{ command }}", "env": "{{ env }}"},
    "variables": {"type": "object", "properties": {"command": {"type": "string"}, "env": {}}},
}
line = st.text(st.characters(codec="ascii", exclude_categories=("Cc", "Zs")), min_size=1)


def filled(made) -> dict[str, str]:
    """What a worker makes of the template: defaults put in, unset variables left out, everything as text."""
    defaults = {
        name: one["default"]
        for name, one in made["variables"]["properties"].items()
        if "default" in one
    }
    found: dict[str, str] = {}
    for name, value in made["job_configuration"]["env"].items():
        word = value.strip("{} ")
        if not value.startswith("{{"):
            found[name] = value
        elif word in defaults:
            found[name] = str(defaults[word])
    return found


@given(
    st.builds(
        Target,
        repo=line,
        base=line,
        paths=st.lists(line).map(tuple),
        verify=st.lists(line).map(tuple),
        allow=st.sets(st.sampled_from(("tests", "ci"))).map(sorted).map(tuple),
        sandbox=st.sampled_from(("auto", "off")),
        offline=st.booleans(),
        gate_minutes=st.floats(0.1, 1e6),
    )
)
def test_a_target_goes_through_the_pool_unchanged(target):
    given = target.model_dump(exclude_none=True)
    lists = {name: "\n".join(value) for name, value in given.items() if isinstance(value, tuple)}

    made = template(BASE, given | lists, "process")

    assert target_in(filled(made)) == target


def test_the_template_of_the_worker_is_left_as_it_is():
    template(BASE, {"repo": "/x"}, "process")

    assert "repo" not in BASE["variables"]["properties"]


def test_without_a_repository_it_says_what_to_do():
    with pytest.raises(Refused, match="swathe deploy"):
        target_in({f"{PREFIX}BASE": "main"})


def test_a_variable_that_cannot_be_meant_is_named():
    with pytest.raises(Refused, match="'gate_minutes' is 'soon'"):
        target_in({f"{PREFIX}REPO": "/x", f"{PREFIX}GATE_MINUTES": "soon"})
