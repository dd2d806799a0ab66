"""Which providers take a key, and whether they accept it: one cheap request. No message contains the key."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from assent.app.model_access import ModelAccess
from assent.app.model_catalog import how_to_get_key
from assent.models.model_choice import access_to, key_in_environment
from assent.models.model_protocol import BadRequest, Transient
from assent.models.provider import Provider
from assent.models.provider_registry import full_name

CHECK_TIMEOUT = 20.0
"""Seconds."""


class KeyTaker(Struct, frozen=True, kw_only=True):
    """A provider that takes a key."""

    name: str
    title: str
    page: str
    """The page where people get a key."""
    set_variable: str
    """The environment variable that already holds a key; empty if none does."""
    example: str
    """A model to try."""
    is_optional: bool = False
    """Whether it usually works without a key."""


def key_takers(access: ModelAccess) -> Sequence[KeyTaker]:
    providers = (access.find_provider(name) for name in access.providers())
    return [
        _taker(access, one) for one in providers if _takes_key(access, one) and not (one.is_local or one.key_command)
    ]


def find_key_taker(access: ModelAccess, name: str) -> KeyTaker:
    """Raises ModelError if there is no such provider, or if it takes no key."""
    provider = access.find_provider(name)
    if not _takes_key(access, provider):
        raise BadRequest(f"{provider.title} takes no key")
    if provider.key_command:
        raise BadRequest(
            f"{provider.title} uses short-lived tokens, so there is no point in storing one. "
            f"Instead, {how_to_get_key(provider)}"
        )
    return _taker(access, provider)


def _takes_key(access: ModelAccess, provider: Provider) -> bool:
    return bool(provider.key_variables) or provider.name in access.settings.providers


def _taker(access: ModelAccess, provider: Provider) -> KeyTaker:
    used = key_in_environment(provider, access.env)
    variables = (name for name in provider.key_variables if used and access.env.get(name, "").strip() == used)
    return KeyTaker(
        name=provider.name,
        title=provider.title,
        page=provider.key_page,
        set_variable=next(variables, ""),
        example=full_name(provider.name, provider.default_model or "MODEL"),
        is_optional=provider.key_optional,
    )


async def check_key(access: ModelAccess, name: str, key: str) -> int | None:
    """How many models the key gives access to; None if the provider cannot be asked. Raises ModelError."""
    provider = access.find_provider(name)
    env = {variable: value for variable, value in access.env.items() if variable not in provider.key_variables}
    reached = access_to(provider, env, lambda _: key)
    if provider.list_models is None:
        return None
    try:
        async with asyncio.timeout(CHECK_TIMEOUT):
            return len(await provider.list_models(reached))
    except TimeoutError as error:
        raise Transient(f"{provider.title} did not answer within {CHECK_TIMEOUT:.0f} seconds") from error
