import random
import string

import pytest

from domain.secret import looks_random

LETTERS = string.ascii_letters + string.digits


@pytest.mark.parametrize(
    "value", ["Tr0ub4dor&3", "s3cr3tP4ss", "9f86d081884c7d65", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"]
)  # fmt: skip
def test_a_value_that_mixes_letters_and_digits_looks_random(value):
    assert looks_random(value)


@pytest.mark.parametrize(
    "value",
    ["", "short1", "postgres", "hunter2", "v1.2.3-RC1", "sha256WithRSAEncryption", "getUserByIdOrName", "my-app-2024-prod",
     "Summer2024", "/etc/ssl/private/key1.pem", "arn:aws:iam::123456789012:role/Deploy", "${A1b2C3d4E5}", "f(a1b2c3d4)",
     "test-a1b2c3d4e5", "your-a1b2c3d4e5f6", "aaaaaaaa1b2c3d4", "two words a1b2c3d4"],
)  # fmt: skip
def test_a_name_a_template_or_an_example_does_not(value):
    """T99."""
    assert not looks_random(value)


@pytest.mark.parametrize(("characters", "length", "share"), [("0123456789abcdef", 32, 0.99), (LETTERS, 24, 0.95), (LETTERS, 40, 0.99)])  # fmt: skip
def test_of_drawn_values_nearly_all_are_seen(characters, length, share):
    draw = random.Random(1)
    drawn = ["".join(draw.choices(characters, k=length)) for _ in range(1000)]

    assert sum(map(looks_random, drawn)) >= share * len(drawn)
