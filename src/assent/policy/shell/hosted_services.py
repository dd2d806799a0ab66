"""Clients of hosted services: clouds, clusters and GitHub.

Knows words; opens no connection.
"""

import re
from itertools import takewhile

from assent.lazy_pattern import lazy_pattern
from assent.policy.shell import containers
from assent.policy.shell.cloud import CHANGES, changes_by_name, cloud_problems, without_account
from assent.policy.shell.options import Use, Words

_OTHER_HOST = lazy_pattern(
    r"(?!https://github\.com/)[a-z]+://|(?!github\.com/)[\w.-]+\.[\w-]+/[^/]+/[^/]+$|.*@.*:", re.I
)


def cloud(use: Use, words: Words) -> None:
    texts = without_account([word.text for word in words[1:]])
    use.problems[:] = cloud_problems(use.names[0], texts)
    if use.problems == [CHANGES] and (named := changes_by_name(use.names[0], texts)):
        use.names, use.by_name = named, True
        use.problems.clear()
        return
    use.names = (use.names[0], *takewhile(lambda text: not text.startswith("-"), texts))


def gh(use: Use, _words: Words) -> None:
    if any(name in ("-q", "--jq") and re.search(r"\$ENV|\benv\b", value) for name, value in use.seen):
        use.problems.append("the program shows environment variables")
    named = [*(value for name, value in use.seen if name in ("-R", "--repo")), *(word.text for word in use.operands)]
    if use.names[1:2] == ("api",) and any(one.strip("/") == "graphql" for one in named):
        use.problems.append("a GraphQL query may change something")
    if any(_OTHER_HOST.match(one) for one in named):
        use.problems.append("it contacts a machine other than GitHub")


def kubectl(use: Use, _words: Words) -> None:
    kinds = [re.split(r"[/.]", kind.strip())[0] for word in use.operands for kind in word.text.lower().split(",")]
    if any(kind in ("secret", "secrets") for kind in kinds):
        use.problems.append("it shows secrets of the cluster")
    if any("file" in form for form in use.values("-o", "--output")):
        use.problems.append("it reads its format from a file")


def kubectl_apply(use: Use, _words: Words) -> None:
    if use.names[-1] == "apply" and use.option("--dry-run") not in ("client", "server"):
        use.by_name = True  # it changes the cluster
    if any("://" in word.text or word.text == "-" for word in use.reads):
        use.problems.append("what it applies comes from elsewhere")


def cluster(use: Use, words: Words) -> None:
    """It changes the cluster, so a rule must name it. Its input comes from project files."""
    kubectl_apply(use, words)
    kubectl(use, words)
    use.by_name = True


def plain_image(use: Use, _words: Words) -> None:
    """Images and containers by plain name. Everything deleted is named explicitly, so a rule is enough."""
    use.by_name = True
    plain = lazy_pattern(r"[A-Za-z0-9][\w./:@-]*")
    if not use.operands or not all(
        plain.fullmatch(word.text) or (word.unknown and word.fixed) for word in use.operands
    ):
        use.problems.append("it does not name a plain image or container")


def compose_names(use: Use, _words: Words) -> None:
    """The full configuration includes the values of `.env`."""
    containers.compose(use, _words)
    if use.option("-q", "--quiet", "--services", "--images", "--volumes", "--profiles") is None:
        use.problems.append("it shows variables, which may hold secrets")
