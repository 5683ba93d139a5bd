"""Which model is asked, with whose key, at what price; refused before anything is paid."""

import os
import sys
from pathlib import Path

import pytest

from adapters.models.families import FAMILIES, connect, with_key
from adapters.processes import shell
from domain.hired import Hired
from domain.ledger import Caps
from domain.value import Refused

CLAUDE = {"ANTHROPIC_API_KEY": "k"}
OWN = Hired(family="claude", model="own-model")


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_a_default_whose_price_is_known(family):
    facts = FAMILIES[family]
    made = connect(Hired(family=family), {facts.key: " k "}, Caps(max_usd=5))

    assert (made.model, made.key, made.address) == (facts.model, "k", None)
    assert made.price.rates.output > made.price.rates.input > made.price.rates.cache_read > 0
    assert made.price.rates.cache_write > made.price.rates.input


def test_the_operator_may_name_another_model_address_and_price():
    environment = {**CLAUDE, "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    made = connect(
        Hired(family="claude", model="own-model", price="1/2"), environment, Caps(max_usd=5)
    )

    assert (made.model, made.address, made.price.rates.output) == (
        "own-model",
        "http://127.0.0.1:1",
        2,
    )


def test_a_model_without_a_price_is_refused_under_a_cap_and_only_then():
    with pytest.raises(Refused, match=r"no price is known for claude's model 'own-model'.*--price"):
        connect(OWN, CLAUDE, Caps(max_usd_per_site=1))
    assert connect(OWN, CLAUDE, Caps()).price is None


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": "  "}, CLAUDE])
def test_a_family_without_a_key_is_refused_and_says_what_there_is(environment):
    there = "claude" if environment is CLAUDE else "none"
    with pytest.raises(Refused, match=f"OPENAI_API_KEY is not set.*here: {there}"):
        connect(Hired(family="gpt"), environment)
    assert with_key(environment) == (("claude",) if there == "claude" else ())


def test_a_key_is_in_no_words_about_a_connection():
    assert "canary" not in repr(connect(Hired(family="claude"), {"ANTHROPIC_API_KEY": "canary"}))


def test_a_price_above_a_size_is_known():
    assert connect(Hired(family="gpt"), {"OPENAI_API_KEY": "k"}).price.tiers[0].above == 272_000


def printed(code):
    """What a fresh interpreter prints."""
    done = shell.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env=dict(os.environ),
        timeout_seconds=60,
        contain=False,
        apart=True,
    )
    assert done.ok, done.errors
    return done.output.strip()


START = (
    "import sys; from domain.hired import Hired; from adapters.models.families import connect; "
    "made = connect(Hired(family={family!r}), {{{key!r}: 'k'}}); "
)


@pytest.mark.parametrize("family", FAMILIES)
def test_asking_for_a_family_imports_no_sdk(family):
    code = START.format(family=family, key=FAMILIES[family].key)
    code += (
        "print([name for name in ('anthropic', 'openai', 'pydantic_ai') if name in sys.modules])"
    )
    assert printed(code) == "[]"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_brings_only_its_own_sdk(family):
    other = {"claude": "openai", "gpt": "anthropic"}[family]
    code = START.format(family=family, key=FAMILIES[family].key)
    code += f"from adapters.models.{family} import open_model; open_model(made, 'c'); "
    code += f"print({other!r} in sys.modules)"
    assert printed(code) == "False"


@pytest.mark.parametrize(
    "address",
    ["nonsense", "localhost:8080", "ftp://x", "https://", "http://x:port", "//x", "http://x:0"],
)
def test_an_address_that_is_none_is_refused_before_anything_is_tried(address):
    environment = {**CLAUDE, "ANTHROPIC_BASE_URL": address}
    with pytest.raises(Refused, match=r"ANTHROPIC_BASE_URL is .* no address.*https://"):
        connect(Hired(family="claude"), environment)


@pytest.mark.parametrize(
    "address", ["https://gateway.example/v1", "http://[::1]:8080", "HTTP://x", " http://x "]
)
def test_an_address_is_taken_as_it_is(address):
    made = connect(Hired(family="claude"), {**CLAUDE, "ANTHROPIC_BASE_URL": address})
    assert made.address == address.strip()


def test_no_password_of_an_address_is_in_its_refusal():
    environment = {**CLAUDE, "ANTHROPIC_BASE_URL": "ftp://me:canary@x"}
    with pytest.raises(Refused) as refused:
        connect(Hired(family="claude"), environment)
    assert "canary" not in str(refused.value)
