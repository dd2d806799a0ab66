"""Posts to a webhook or a push service, and retries until it is accepted or retrying is pointless."""

import asyncio
import logging
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from assent.app.webhook_formats import Post
from assent.models.model_protocol import ModelError
from assent.models.proxy import proxy_for
from assent.models.streaming_client import HttpClient, Timeouts

ATTEMPTS = 8
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 120.0
TIMEOUTS = Timeouts(connect=10.0, read=20.0)
_LOG = logging.getLogger("assent.webhooks")


async def post_until_taken(url: str, post: Post, env: Mapping[str, str], first_pause: float = FIRST_PAUSE) -> int:
    """The last status; 0 if there was none. A refusal that would only be repeated ends it at once."""
    pause = first_pause
    for attempt in range(1, ATTEMPTS + 1):
        status, why = await _attempt(url, post, env)
        is_over = _is_final(status) or attempt == ATTEMPTS
        if why and (is_over or attempt == 1):  # the first time, because the question may be answered before the last
            more = "" if is_over else "; trying again"
            _LOG.warning("could not notify %s: %s%s", urlsplit(url).hostname, why, more)
        if is_over:
            return status
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return 0


async def _attempt(url: str, post: Post, env: Mapping[str, str]) -> tuple[int, str]:
    """The status, and why it failed, if it did."""
    parts = urlsplit(url)
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    try:
        client = HttpClient(f"{parts.scheme}://{parts.netloc}", proxy_for(url, env), TIMEOUTS)
        try:
            async with await client.post(path, (("Accept", "*/*"), *post.headers), post.body) as response:
                status = response.status
                return status, "" if 200 <= status < 300 else f"it answered with status {status}"
        finally:
            await client.close()
    except ModelError as error:
        return 0, str(error)


def _is_final(status: int) -> bool:
    """Accepted, or it would be refused again."""
    return 200 <= status < 500 and status not in (408, 425, 429)
