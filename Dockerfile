# What a run in a container needs: Swathe, git and bubblewrap. `docker build -t swathe .`
FROM python:3.12-slim-bookworm

# As the tests have them, in whatever version Debian mends.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 swathe \
    && install --directory --owner swathe --group swathe /var/lib/swathe

WORKDIR /opt/swathe
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt . \
    && swathe --help >/dev/null

ENV SWATHE_HOME=/var/lib/swathe HOME=/home/swathe
USER 10001
WORKDIR /home/swathe
# A token that may push, in the environment, where there is no key for ssh.
# hadolint ignore=SC2016
RUN git config --global credential.helper \
    '!f() { echo "username=swathe"; echo "password=$SWATHE_GIT_TOKEN"; }; f'
CMD ["swathe", "--help"]
