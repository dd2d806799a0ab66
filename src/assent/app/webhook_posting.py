"""Posts to a webhook, and retries until it is accepted or retrying is pointless. It knows nothing about sessions."""

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


async def post_until_taken(url: str, post: Post, env: Mapping[str, str], first_pause: float = FIRST_PAUSE) -> bool:
    """Whether it was accepted. A refusal that would only be repeated ends it at once."""
    pause = first_pause
    for attempt in range(1, ATTEMPTS + 1):
        why, final = await _attempt(url, post, env)
        if not why:
            return True
        host = urlsplit(url).hostname
        if final or attempt == ATTEMPTS:
            _LOG.warning("could not notify the webhook at %s: %s", host, why)
            return False
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return False


async def _attempt(url: str, post: Post, env: Mapping[str, str]) -> tuple[str, bool]:
    """Why it failed, if it did, and whether it would fail again."""
    parts = urlsplit(url)
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    try:
        client = HttpClient(f"{parts.scheme}://{parts.netloc}", proxy_for(url, env), TIMEOUTS)
        try:
            async with await client.post(path, (("Accept", "*/*"), *post.headers), post.body) as response:
                return _judged(response.status)
        finally:
            await client.close()
    except ModelError as error:
        return str(error), False


def _judged(status: int) -> tuple[str, bool]:
    if 200 <= status < 300:
        return "", True
    return f"it answered with status {status}", 300 <= status < 500 and status not in (408, 425, 429)
