"""The webhooks of the settings, as channels for waiting questions."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from assent.app.webhook_formats import QuestionNotice, post_for
from assent.app.webhook_posting import post_until_taken
from assent.config import Webhook


class WebhookChannel(Struct, frozen=True):
    webhook: Webhook
    env: Mapping[str, str]

    @property
    def delay(self) -> float:
        return self.webhook.delay

    async def send(self, notice: QuestionNotice) -> None:
        variable = self.webhook.secret_variable
        secret = self.env.get(variable, "") if variable else ""
        await post_until_taken(self.webhook.url, post_for(self.webhook, notice, secret), self.env)


class Webhooks:
    def __init__(self, webhooks: tuple[Webhook, ...], env: Mapping[str, str]) -> None:
        self._webhooks, self._env = webhooks, env

    def is_used(self) -> bool:
        return bool(self._webhooks)

    def of(self, owner: str) -> Sequence[WebhookChannel]:
        return [WebhookChannel(webhook, self._env) for webhook in self._webhooks if webhook.owner == owner]
