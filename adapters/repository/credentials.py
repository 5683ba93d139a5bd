"""What a credential looks like: the expressions of detect-secrets, and a few for keys it does not know.

Of its plugins we take the expressions alone: its own scan asks the providers over the network
whether a key is alive. Left out on purpose are public addresses, which are no secret, and entropy
by itself, which finds every hash in a lock file, every digest in a snapshot and every test vector:
entropy counts where a word such as `token` stands beside it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import cast

from domain.secret import looks_random

PLUGINS = (
    "artifactory:ArtifactoryDetector", "aws:AWSKeyDetector", "azure_storage_key:AzureStorageKeyDetector",
    "cloudant:CloudantDetector", "discord:DiscordBotTokenDetector", "github_token:GitHubTokenDetector",
    "gitlab_token:GitLabTokenDetector", "ibm_cloud_iam:IbmCloudIamDetector", "ibm_cos_hmac:IbmCosHmacDetector",
    "jwt:JwtTokenDetector", "mailchimp:MailchimpDetector", "npm:NpmDetector", "openai:OpenAIDetector",
    "pypi_token:PypiTokenDetector", "sendgrid:SendGridDetector", "slack:SlackDetector",
    "softlayer:SoftlayerDetector", "square_oauth:SquareOAuthDetector", "stripe:StripeDetector",
    "telegram_token:TelegramBotTokenDetector", "twilio:TwilioKeyDetector",
)  # fmt: skip

LOOSE = frozenset({
    "Artifactory Credentials", "Cloudant Credentials", "Discord Bot Token", "IBM COS HMAC Credentials",
    "IBM Cloud IAM Key", "SoftLayer Credentials", "Telegram Bot Token", "Twilio API Key",
})  # fmt: skip
"""Kinds of a shape that words have, too (`"APARTMENTS"` is one of Artifactory's): these must look random."""

MORE = (
    ("Anthropic API Key", re.compile(r"sk-ant-[A-Za-z0-9_-]{20,}")),
    ("OpenAI Token", re.compile(r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}")),
    ("GitHub Token", re.compile(r"github_pat_[A-Za-z0-9_]{22,}")),
    ("Google API Key", re.compile(r"AIza[A-Za-z0-9_-]{35}")),
    ("Slack Token", re.compile(r"xapp-\d-[A-Za-z0-9-]{20,}")),
    ("Hugging Face Token", re.compile(r"hf_[A-Za-z0-9]{34}")),
)
"""Keys that detect-secrets 1.5.0 does not know yet."""

CODE = (".ts", ".tsx", ".jsx", ".mjs", ".rb", ".rs", ".kt", ".scala", ".php", ".h", ".hpp", ".cc", ".lua", ".ex", ".dart",
        ".html", ".md", ".rst", ".txt")  # fmt: skip
"""Where an assignment without quotes is not of a text; prose, too: `the token: whatever1s`."""


_ASSIGNED = re.compile(
    r"(?:token|credentials?|bearer|access_?key|signing_?key|encryption_?key)[\w-]*[\"']?\]?"
    r"\s*(?::=|=>|[:=]|\s)\s*[\"']?([^\s\"',;]{16,})",
    re.IGNORECASE,
)
"""Beside detect-secrets' keywords, which have no word for a token."""


@cache
def shapes() -> tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]:
    """Kind, expression and further check. Loaded when first asked: detect-secrets brings `requests` along."""
    from importlib import import_module  # noqa: PLC0415

    found: list[tuple[str, re.Pattern[str], Callable[[str], bool]]] = []
    for name in PLUGINS:
        module, _, plugin = name.partition(":")
        detector = getattr(import_module(f"detect_secrets.plugins.{module}"), plugin)
        loose = looks_random if detector.secret_type in LOOSE else bool
        sound = getattr(detector, "is_formally_valid", loose)
        found += [(detector.secret_type, pattern, sound) for pattern in detector.denylist]
    return (*found, *((kind, pattern, bool) for kind, pattern in MORE))


def beside_a_word(path: str, line: str) -> Iterator[str]:
    """Values that a word in the line calls secret, or that are random in a line with such a word."""
    from detect_secrets.plugins import high_entropy_strings, keyword  # noqa: PLC0415 -- see `shapes`
    from detect_secrets.util.filetype import FileType, determine_file_type  # noqa: PLC0415

    kind = determine_file_type(path)
    if kind is FileType.OTHER and not path.endswith(CODE):
        kind = FileType.CONFIG  # `.env`, a script: values stand without quotes
    expressions = keyword.REGEX_BY_FILETYPE.get(
        kind, keyword.QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP
    )
    said = cast(
        "Callable[..., Iterable[str]]",
        keyword.KeywordDetector().analyze_string,  # pyright: ignore[reportUnknownMemberType]
    )
    yield from (v.strip("\"'` ") for v in said(line, denylist_regex_to_group=expressions))
    yield from (match[1] for match in _ASSIGNED.finditer(line))
    for plugin in (
        high_entropy_strings.Base64HighEntropyString(),
        high_entropy_strings.HexHighEntropyString(),
    ):
        for value in plugin.analyze_string(line):
            if plugin.calculate_shannon_entropy(value) > plugin.entropy_limit:
                yield value
