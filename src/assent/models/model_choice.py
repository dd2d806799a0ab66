"""Opens a model by its name. The provider's package is imported here, and only when it is chosen."""

from collections.abc import Callable, Mapping

from assent.models.model_protocol import AuthFailed, BadRequest, Model, UnknownModel
from assent.models.provider import Access, Provider
from assent.models.provider_registry import OwnProviders, find_provider, split_name

StoredKey = Callable[[str], str]
"""Finds the key that the person has stored for the named provider; empty if there is none. Raises AuthFailed."""


def no_stored_key(provider: str) -> str:
    return ""


def open_model(
    name: str, env: Mapping[str, str], own: OwnProviders | None = None, stored_key: StoredKey = no_stored_key
) -> Model:
    """`own`: the providers in the settings. Raises ModelError. Does not connect yet."""
    provider_name, model = split_name(name, own)
    provider = find_provider(provider_name, own)
    if not model and not provider.default_model and provider.list_models is not None:
        raise UnknownModel(f"choose a model of {provider.title}: `assent models {provider.name}` lists them")
    return provider.connect(model or provider.default_model, access_to(provider, env, stored_key))


def access_to(provider: Provider, env: Mapping[str, str], stored_key: StoredKey = no_stored_key) -> Access:
    """How to reach a provider from here. Raises AuthFailed without a key, BadRequest for an unusable address."""
    key = find_key(provider, env, stored_key)
    has_credentials = not key and provider.has_credentials is not None and provider.has_credentials(env)
    if not key and provider.key_variables and not (provider.key_optional or has_credentials):
        raise AuthFailed(_no_key(provider))
    url = base_url(provider, env)
    if not url:
        if provider.base_url_variable:
            raise BadRequest(f"{provider.title} has no default address: set {provider.base_url_variable}")
        return Access(base_url="", provider=provider.name, key=key, env=env)
    from assent.models.proxy import proxy_for

    if key or has_credentials:
        _check_safe(url, provider)
    return Access(base_url=url, provider=provider.name, key=key, proxy=proxy_for(url, env), env=env)


def base_url(provider: Provider, env: Mapping[str, str]) -> str:
    """The address of the provider from here; empty if it has none."""
    url = env.get(provider.base_url_variable, "").strip() or provider.base_url
    return provider.complete_url(url) if url and provider.complete_url is not None else url


def find_key(provider: Provider, env: Mapping[str, str], stored_key: StoredKey = no_stored_key) -> str:
    """The environment takes precedence: it is closest to the person who starts Assent."""
    return key_in_environment(provider, env) or stored_key(provider.name)


def key_in_environment(provider: Provider, env: Mapping[str, str]) -> str:
    return next((key for name in provider.key_variables if (key := env.get(name, "").strip())), "")


def _no_key(provider: Provider) -> str:
    if provider.key_command:
        return (
            f"{provider.title} needs a token, and there is none. To let Assent get one whenever it needs it, write\n"
            f'  {provider.name} = {{ command = "{provider.key_command}" }}\n'
            f"under [keys] in settings.toml. Or set one in the shell that starts Assent: "
            f"export {provider.key_variables[0]}=$({provider.key_command})\n"
            "Or store credentials on this machine; see the guide.\n"
            "To try Assent without a key: assent tour."
        )
    where = f" Get one at {provider.key_page}," if provider.key_page else " Get one,"
    return (
        f"{provider.title} needs a key, and there is none.{where}\n"
        f"then run `assent login {provider.name}`, or set it in the shell that starts Assent: "
        f"export {provider.key_variables[0]}=<your key>\n"
        "To try Assent without a key: assent tour."
    )


def _check_safe(url: str, provider: Provider) -> None:
    """The key is sent to this address, so the connection must be encrypted, except on this machine."""
    from assent.http.loopback import is_loopback
    from assent.models.streaming_client import parse_origin

    origin = parse_origin(url)
    if origin.scheme == "http" and not is_loopback(origin.host):
        place = provider.base_url_variable or f"providers.{provider.name}.base_url"
        raise BadRequest(f"{place} is {url}: it must use https, or others could read your key on the way")
