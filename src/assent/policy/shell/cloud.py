"""Cloud command-line tools (aws, gcloud, az, doctl): whether a command only reads.

Their words are a path in a tree: groups, then a verb, then names. The same word may be any of these (`gcloud projects
delete list` deletes a project called list), so every word before the verb must be a group known here. Knows these
programs only.
"""

import re
from collections.abc import Sequence

from assent.lazy_pattern import lazy_pattern

_AWS_READS = lazy_pattern(r"(?:describe|list|search|lookup|head)-[a-z0-9-]+|get-(?:caller-identity|user|role|policy)")
_READS = lazy_pattern(r"(?:describe|list|show)(?:-[a-z0-9-]+)?|ls")
_GROUPS = frozenset(
    """
    account acr activity-log ad addresses aks alpha app apps appservice artifacts assignment auth backend-services
    backups balance beta blob buckets builds cloud cluster clusters compute config configurations container containers
    cosmosdb dashboards db definition deployment deployments disk disks dns domain domains droplet
    executions extension feature firewall firewall-rules folders forwarding-rules group groups health-checks iam
    identity image images instance-groups instance-templates instances jobs kubernetes lb load-balancer locations
    logging logs machine-types managed managed-zones metrics monitor monitoring network networks nic node-pool
    node-pools nsg objects operations organizations packages plan policies policy project projects provider public-ip
    pubsub record-set record-sets records region regions registry repositories repository resource revisions role roles
    routers routes run server service services sinks size snapshot snapshots sp sql storage subnet subnets subscriptions
    target-pools topics triggers url-maps versions vm vmss vnet volume volumes vpcs webapp zones
    """.split()  # noqa: SIM905
)
# Output that nobody else should see.
_KEYS = lazy_pattern(
    r"secret|token|password|credential|connection|parameter|key|kms|access|session|login|function|kubeconfig|task-def|publishing"
)
_OPTION = lazy_pattern(r"(--[a-z][a-z0-9-]*)(?:=.*)?|-[oglnqh]", re.DOTALL)
# Options that read a file, contact another machine, use other permissions or write more than the answer.
_HARM = lazy_pattern(
    r"(?<!pro)file|(?<!-next)(?<!-starting)-token|credential|endpoint|url|^--config|^--account|impersonat|^--debug|^--trace"
    r"|^--log|http|proxy|^--ca-|^--cli-in|^--flags|^--exec"
)
# They may be abbreviated: `--end` is `--endpoint-url`.
_LONG = (
    *("--endpoint-url", "--cli-input", "--ca-bundle", "--debug", "--flags-file", "--configuration", "--account"),
    *("--impersonate-service-account", "--access-token", "--api-url", "--log-http", "--trace", "--http-retry-max"),
)
CHANGES = "it may change something"
_WORD = lazy_pattern(r"[A-Za-z0-9][\w.-]*")
# Verbs that run, connect, copy, or change the identity.
_MORE = lazy_pattern(
    r"ssh|scp|exec|session|login|logout|configure|kubeconfig|credential|copy|cp$|sync|download|upload|tunnel|import|export|invoke"
    r"|run-command|auth|proxy|submit|interactive|shell"
)
_WHOSE = ("--profile", "--region", "--output", "--project", "--subscription")
_PLAIN = lazy_pattern(r"[A-Za-z0-9][\w.-]*")
_VERSION = (["--version"], ["version"], ["help"])


def without_account(texts: Sequence[str]) -> list[str]:
    """Drop the options before the first group that only choose the account and the region."""
    rest = list(texts)
    while len(rest) > 1 and rest[0] in _WHOSE and _PLAIN.fullmatch(rest[1]):
        del rest[:2]
    while rest and rest[0].partition("=")[0] in _WHOSE and _PLAIN.fullmatch(rest[0].partition("=")[2]):
        del rest[0]
    return rest


def cloud_problems(program: str, texts: Sequence[str]) -> list[str]:
    """Why the words after the program name may do more than ask a harmless question."""
    if list(texts) in _VERSION:
        return []
    at = next((index for index, text in enumerate(texts) if text.startswith("-")), len(texts))
    named, rest = texts[:at], texts[at:]
    problems: list[str] = []
    if not (_aws_reads(named) if program == "aws" else _reads(program, named)):
        problems.append(CHANGES)
    if any(map(_KEYS.search, named)):
        problems.append("it may show keys")
    if not all(map(_harmless_option, rest)) or any("://" in one and not one.startswith("s3://") for one in texts):
        problems.append("one of its options is not known to be harmless")
    return problems


def changes_by_name(program: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The words that say what is changed, for a rule that names them all; empty if more than that may happen."""
    at = next((index for index, text in enumerate(texts) if text.startswith("-")), len(texts))
    named = texts[:at]
    verb = 1 if program == "aws" else next((at for at, text in enumerate(named) if text not in _GROUPS), len(named))
    if not 0 < verb < len(named) or not all(map(_WORD.fullmatch, named)) or named[0] in ("s3", "configure"):
        return ()
    return () if any(map(_MORE.search, named[: verb + 1])) else (program, *named[: verb + 1])


def _aws_reads(named: Sequence[str]) -> bool:
    match named:
        case ["s3", "ls"] | ["s3", "ls", _] | ["configure", "list" | "list-profiles"] | [_, "help"]:
            return True
        case ["logs", "tail"] | ["logs", "tail", _]:
            return True
        case [_, operation]:
            return _AWS_READS.fullmatch(operation) is not None
        case _:
            return False


def _reads(program: str, named: Sequence[str]) -> bool:
    """Groups, then a verb, then names; az uses options for names."""
    verb = next((index for index, text in enumerate(named) if text not in _GROUPS), len(named))
    if not 0 < verb < len(named) or (program == "az" and verb + 1 < len(named)):
        return False
    return _READS.fullmatch(named[verb]) is not None


def _harmless_option(text: str) -> bool:
    """After the first option, each word is an option or a value; a leading `@` names a file."""
    if text.startswith("@") or "=@" in text:
        return False
    if not text.startswith("-"):
        return True
    option = _OPTION.fullmatch(text)
    name = text.partition("=")[0]
    return option is not None and not _HARM.search(name) and not any(one.startswith(name) for one in _LONG)
