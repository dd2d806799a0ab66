"""A second browser of the same person: a QR code with a login that works once."""

import hashlib
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from support.page import Served, Windows, a_server, needs_browser

pytestmark = needs_browser
URL = "https://laptop.local:8420/#code=abcdefghijklmnopqrstuvwxyz012345"
READ_BACK = {
    URL: "906b70f3ce1f52017c1e646a01c7db53b235cc0ba840a345cbacc4ea7bc830dd",
    "z" * 200: "9c295a4a3fc66e9c734b55e263329db0751941c581f9046d3b5516c24d7e5d63",
}
"""SHA-256 of the squares, as rows of 0 and 1, that an independent reader (ZXing) has read back as this text."""


@pytest.mark.parametrize("text", READ_BACK, ids=["url", "long"])
def test_a_qr_code_is_one_that_a_reader_understands(windows: Windows, text: str) -> None:
    draw = "text => import('/page/js/qr.js').then(({ qrCode }) => qrCode(text).map(row => row.map(Number).join('')))"
    rows: list[str] = windows.open().page.evaluate(draw, text)
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest() == READ_BACK[text]


@pytest.mark.spec("H4")
def test_the_user_who_runs_the_server_logs_in_a_phone_and_nobody_else_can(browser: Browser) -> None:
    with a_server() as served:
        page = browser.new_context().new_page()
        page.goto(f"{served.address}/#code={served.code()}")
        with page.expect_response(re.compile("/login-codes$")) as answered:
            page.get_by_role("button", name="Server").click()
            page.get_by_role("menuitem", name="Open on a phone").click()
        expect(page.get_by_role("img", name="QR code of the login link")).to_be_visible()
        expect(page.get_by_role("dialog").get_by_text("a phone cannot reach it")).to_be_visible()  # it is on loopback
        code = answered.value.json()["code"]
        phone = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
        phone.goto(f"{served.address}/#code={code}")
        expect(phone.get_by_role("textbox", name="What should be done?")).to_be_visible()  # not an empty list
        phone.get_by_role("link", name="All sessions").click()
        expect(phone.get_by_role("button", name="Server")).to_be_visible()
        _refused(served, page, "eve", "operator", "eve")
        _refused(served, page, "ada", "approver", "")
        page.context.close()
        phone.context.close()


def test_people_who_may_not_log_in_a_phone_are_not_offered_it(windows: Windows) -> None:
    page = windows.open("eve", "operator").page
    page.get_by_role("button", name="Server").click()
    expect(page.get_by_role("menuitem", name="Who has access")).to_be_visible()
    expect(page.get_by_role("menuitem", name="Open on a phone")).to_have_count(0)


def _refused(served: Served, page: Page, name: str, role: str, owner: str) -> None:
    headers = {"Authorization": f"Bearer {served.token(name, role, owner)}"}
    assert page.request.post(f"{served.address}/api/v1/login-codes", data={}, headers=headers).status == 403
