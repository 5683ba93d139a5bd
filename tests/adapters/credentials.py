"""Texts for tests of secrets: credentials that no one ever had, and honest lines that look like some."""

import base64
import json
import random
import string

_draw = random.Random(7)
_HEX, _LETTERS = "0123456789abcdef", string.ascii_letters + string.digits


def _of(characters: str, count: int) -> str:
    return "".join(_draw.choices(characters, k=count))


def _json(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


SECRETS = {
    "AWS key id": ("a.py", f'KEY = "AKIA{_of(string.ascii_uppercase + "234567", 16)}"'),
    "AWS secret": ("a.py", f'aws_secret_key = "{_of(_LETTERS + "/+", 40)}"'),
    "GitHub": ("a.py", f'auth = "ghp_{_of(_LETTERS, 36)}"'),
    "GitHub, fine-grained": ("a.py", f'auth = "github_pat_{_of(_LETTERS, 22)}_{_of(_LETTERS, 59)}"'),
    "GitLab": ("a.yml", f"auth: glpat-{_of(_LETTERS, 20)}"),
    "Slack": ("a.py", f'bot = "xoxb-{_of(string.digits, 12)}-{_of(string.digits, 12)}-{_of(_LETTERS, 24)}"'),
    "Slack web hook": ("a.py", f'u = "https://hooks.slack.com/services/T{_of(_LETTERS, 8)}/B{_of(_LETTERS, 8)}/{_of(_LETTERS, 24)}"'),
    "Stripe": ("a.js", f'pay = "sk_live_{_of(_LETTERS, 24)}"'),
    "Twilio": ("a.py", f'sms = "SK{_of(_HEX, 32)}"'),
    "SendGrid": ("a.py", f'mail = "SG.{_of(_LETTERS, 22)}.{_of(_LETTERS, 43)}"'),
    "Mailchimp": ("a.py", f'mail = "{_of(_HEX, 32)}-us12"'),
    "npm": (".npmrc", f"//npm.example.org/:_authToken=npm_{_of(_LETTERS, 36)}"),
    "PyPI": (".pypirc", f"password = pypi-AgEIcHlwaS5vcmc{_of(_LETTERS, 80)}"),
    "OpenAI": ("a.py", f'llm = "sk-{_of(_LETTERS, 20)}T3BlbkFJ{_of(_LETTERS, 20)}"'),
    "OpenAI, of a project": ("a.py", f'llm = "sk-proj-{_of(_LETTERS, 60)}"'),
    "Anthropic": ("a.py", f'llm = "sk-ant-api03-{_of(_LETTERS, 80)}"'),
    "Google": ("a.py", f'maps = "AIza{_of(_LETTERS, 35)}"'),
    "Hugging Face": ("a.py", f'hub = "hf_{_of(_LETTERS, 34)}"'),
    "JSON web token": ("a.py", f'jwt = "{_json({"alg": "HS256"})}.{_json({"sub": "1", "n": 5})}.{_of(_LETTERS, 43)}"'),
    "private key": ("id.pem", f"-----BEGIN RSA PRIVATE KEY-----\n{_of(_LETTERS + '/+', 64)}\n{_of(_LETTERS, 64)}\n"),
    "private key in a string": ("a.py", f'K = "-----BEGIN PRIVATE KEY-----\\n{_of(_LETTERS + "/+", 64)}\\n"'),
    "password in an address": ("a.py", f'db = "postgres://app:{_of(_LETTERS, 20)}@db.internal/x"'),
    "Azure": ("a.py", f'c = "AccountKey={_of(_LETTERS + "/+", 86)}=="'),
    "Discord": ("a.py", f'bot = "M{_of(_LETTERS, 23)}.{_of(_LETTERS, 6)}.{_of(_LETTERS, 27)}"'),
    "Telegram": ("a.py", f'bot = "{_of(string.digits, 9)}:{_of(_LETTERS, 35)}"'),
    "Square": ("a.py", f'pay = "sq0csp-{_of(_LETTERS, 43)}"'),
    "Artifactory": ("a.py", f'repo = "AKC{_of(_LETTERS, 60)}"'),
    "password": ("a.py", 'db_password = "Tr0ub4dor&3"'),
    "unquoted key": ("a.yml", f"  api_key: {_of(_LETTERS, 24)}"),
    "environment file": ("sub/.env", f"SESSION_TOKEN={_of(_LETTERS, 32)}"),
    "hexadecimal": ("a.js", f'const signing = {{ secret: "{_of(_HEX, 40)}" }}'),
    "bearer": ("a.sh", f'curl -H "Authorization: Bearer {_of(_LETTERS, 40)}"'),
}  # fmt: skip
"""By kind: a file, and what is written into it. More than the twenty kinds of cases.md, S6."""

HONEST = {
    "lock of npm": ("package-lock.json", f'"integrity": "sha512-{_of(_LETTERS + "/+", 86)}=="'),
    "lock of yarn": ("yarn.lock", f'  resolved "https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#{_of(_HEX, 40)}"'),
    "lock of uv": ("uv.lock", f'{{ url = "https://files.host/tokenize_rt-6.0.tar.gz", hash = "sha256:{_of(_HEX, 64)}" }}'),
    "hashes of pip": ("requirements.txt", f"keyring==24.0 --hash=sha256:{_of(_HEX, 64)}"),
    "go.sum": ("go.sum", f"github.com/golang-jwt/jwt v3.2.1+incompatible h1:{_of(_LETTERS, 43)}="),
    "UUID": ("a.py", 'REQUEST_ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"'),
    "commit id": ("a.py", f'COMMIT = "{_of(_HEX, 40)}"'),
    "digest": ("a.py", f'EXPECTED = "{_of(_LETTERS + "/+", 43)}="'),
    "fixture": ("test_a.py", 'password = "hunter2"'),
    "fixture of words": ("test_a.py", 'client.login(username="admin", password="test-password-123")'),
    "said to be none": ("test_a.py", 'api_key = "your-api-key-here"; token = "fake-token-0a1b2c3d4e5f"'),
    "of AWS' manual": ("a.py", 'KEY = "AKIA' + 'IOSFODNN7EXAMPLE"'),
    "reference": ("a.yml", "password: ${DB_PASSWORD_2024a1b2}"),
    "call": ("a.py", 'password = get_secret("db/prod/a1b2c3d4")'),
    "name of a secret": ("a.yml", "secretName: app-tls-2024-09-v3"),
    "header of a key": ("a.py", 'if text.startswith("-----BEGIN RSA PRIVATE KEY-----"):'),
    "public key": ("a.pub", f"-----BEGIN PUBLIC KEY-----\n{_of(_LETTERS, 64)}"),
    "word like Artifactory's": ("a.py", 'x = "APARTMENTS"'),
    "address with words": ("a.py", 'url = "postgres://user:password@localhost:5432/db"'),
    "address from a template": ("a.py", 'url = f"postgres://{user}:{password_v2_a1b2}@host"'),
    "picture": ("a.css", f"background: url(data:image/png;base64,{_of(_LETTERS + '/+', 5000)})"),
    "class": ("a.py", "from tokenizers.pre_tokenizers import ByteLevel256v2Tokenizer"),
    "attribute": ("a.py", "token = self.tokens[i0].text1234abcd5678"),
    "type": ("a.ts", "const token: Token1a2b = await getToken4b5c6d7e8f9g(user);"),
    "algorithm": ("a.py", 'PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher"]'),
    "prose": ("README.md", "Set `API_KEY` to your key; the token: see https://docs.host/v1/a1b2c3d4"),
    "public address": ("a.py", 'DNS = "8.8.8.8"'),
}  # fmt: skip
