"""Web push in a real browser, as far as that goes without the internet: its push service is replaced by one on this
machine, and what that receives is delivered to the page's service worker through the browser's own debugger."""

import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from support.page import Served, Windows, a_server, needs_browser
from support.program import asks_for, says, shell
from support.push_service import PushService

pytestmark = needs_browser
SUBSCRIBES = """(given) => {
    PushManager.prototype.subscribe = async (wish) => {
        if (!wish.userVisibleOnly || wish.applicationServerKey.length !== 87) throw new Error("bad wish");
        return { toJSON: () => ({ endpoint: given.endpoint, keys: { p256dh: given.p256dh, auth: given.auth } }) };
    };
}"""
SHOWN = """async (count) => {
    for (;;) {
        const shown = await self.registration.getNotifications();
        if (shown.length === count) return shown.map(({ title, body, tag, data }) => [title, body, tag, data.hash]);
        await new Promise((wake) => setTimeout(wake, 20));
    }
}"""
UNSEEN = """async () => {
    while ((await self.clients.matchAll({ type: "window" })).some((one) => one.visibilityState === "visible")) {
        await new Promise((wake) => setTimeout(wake, 20));
    }
}"""
SHOWING = """() => {
    const show = self.registration.showNotification.bind(self.registration);
    self.showing = new Promise((done) => {
        self.registration.showNotification = (...what) => show(...what).then(done);
    });
}"""
CLICKED = "(hash) => openCard(hash).catch(() => {})"  # only a real click may bring the window to the front


class Pushed:
    """The service worker of the page, and the browser's debugger, which delivers to it."""

    def __init__(self, page: Page, served: Served) -> None:
        page.evaluate("navigator.serviceWorker.ready.then(() => {})")
        self._origin = served.address
        self.worker = page.context.service_workers[0]
        self._debugger = page.context.new_cdp_session(page)
        found: list[dict[str, Any]] = []

        def note(event: dict[str, Any]) -> None:
            found.extend(event["registrations"])

        self._debugger.on("ServiceWorker.workerRegistrationUpdated", note)  # pyright: ignore[reportUnknownMemberType]
        self._debugger.send("ServiceWorker.enable")  # pyright: ignore[reportUnknownMemberType]
        while not found:
            page.evaluate("0")  # events of the debugger arrive meanwhile
        self._registration = found[-1]["registrationId"]

    def deliver(self, message: dict[str, Any]) -> None:
        what = {"origin": self._origin, "registrationId": self._registration, "data": json.dumps(message)}
        self._debugger.send("ServiceWorker.deliverPushMessage", what)  # pyright: ignore[reportUnknownMemberType]

    def until_unseen(self) -> None:
        """Nobody looks at the page any more: the browser tells the worker a little after the page is left."""
        self.worker.evaluate(UNSEEN)

    def show(self, message: dict[str, Any]) -> None:
        """Deliver, and wait until the worker has shown it: a browser that is asked for the notifications while it shows
        one may forget that one.
        """
        self.worker.evaluate(SHOWING)
        self.deliver(message)
        self.worker.evaluate("self.showing")

    def shown(self, count: int) -> list[list[str]]:
        return self.worker.evaluate(SHOWN, count)


@pytest.mark.spec("N5")
def test_a_pushed_question_is_shown_leads_to_its_card_and_goes_when_it_was_answered(browser: Browser) -> None:
    with PushService() as service, a_server(settings=f'[push]\ndelay = 0\nservices = ["{service.origin}"]\n') as served:
        windows = Windows(served, browser)
        tab = windows.open(permissions=["notifications"], hash="#/new")
        page = tab.page
        page.add_init_script(f"({SUBSCRIBES})({json.dumps(service.subscription)})")
        with page.expect_response(lambda response: response.url.endswith("/push") and response.status == 201):
            page.reload()
        session = tab.begin(served.play(asks_for(shell("touch x")), says("Done.")), served.project())
        expect(tab.card()).to_be_visible()
        _, told = service.next()
        pushed = Pushed(page, served)
        page.goto("about:blank")  # whoever looks at the page sees the card there
        pushed.until_unseen()
        tab.complaints.clear()  # there, the test itself may not store its token
        pushed.show(told)
        link = f"#/s/{session}/q/{told['id']}"
        assert pushed.shown(1) == [["Assent asks", told["text"], told["id"], link]]
        tab.go("#/inbox")
        expect(tab.card()).to_be_visible()
        pushed.worker.evaluate(CLICKED, link)
        page.wait_for_url(f"**/#/s/{session}")
        expect(tab.card()).to_be_focused()
        tab.yes()
        tab.sees("Done.")
        _, over = service.next()
        pushed.deliver(over)
        assert pushed.shown(0) == []
        assert tab.complaints == []
        windows.close()
