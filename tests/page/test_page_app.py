"""The view of a result in an MCP client: a browser page that hosts it as clients do."""

from __future__ import annotations

import json

from page_scene import EVIL
from playwright.sync_api import Browser

from referee.domain.component import Approval, Tone, diff_review
from referee.render.app import VIEW, document, view

DIFF = f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-X = 1\n+X = '{EVIL}'\n"
HOST = """
<iframe sandbox="allow-scripts" title="view"></iframe>
<script>
  window.heard = [];
  const frame = document.querySelector("iframe");
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow) return;
    heard.push(event.data);
    if (event.data.method === "ui/initialize") {
      const result = { protocolVersion: "2026-01-26", hostInfo: {},
        hostCapabilities: {}, hostContext: { theme: "dark" } };
      frame.contentWindow.postMessage({ jsonrpc: "2.0", id: event.data.id, result }, "*");
    }
  });
  window.tell = (method, params, id) => frame.contentWindow.postMessage({ jsonrpc: "2.0", method, params, id }, "*");
</script>
"""
# What a host must set where a document declares nothing.
STRICT = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'none'"
)


def test_a_host_shows_a_result_and_nothing_in_it_acts(browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(60_000)
    asked: list[str] = []
    page.on("request", lambda q: asked.append(q.url))
    page.set_content(HOST)
    strict = f'<meta http-equiv="Content-Security-Policy" content="{STRICT}">'
    guarded = document().replace("<head>", f"<head>{strict}")
    page.evaluate("html => { document.querySelector('iframe').srcdoc = html }", guarded)
    page.wait_for_function("heard.some(m => m.method === 'ui/notifications/initialized')")
    approval = Approval(id="q-1", run_id="r", sort="approval", summary=EVIL, shown=EVIL, digest="d" * 64)
    made = view(EVIL, ("Solved", Tone.GOOD), ("Change", diff_review(DIFF)), ("Waiting", approval))
    page.evaluate("r => tell('ui/notifications/tool-result', r)", {"content": [], "_meta": {VIEW: made}})
    shown = page.frame_locator("iframe")
    change = shown.get_by_role("table", name="Changes of a.py")
    assert EVIL in change.locator("ins").inner_text() and shown.get_by_text("d" * 64).is_visible()
    assert shown.locator("html").get_attribute("data-theme") == "dark"
    assert shown.locator("main script, main img").count() == 0
    assert page.frames[1].evaluate("document.title") == "referee"
    page.wait_for_function("heard.some(m => m.method === 'ui/notifications/size-changed' && m.params.height > 100)")
    words = {"content": [{"type": "text", "text": f"passed {EVIL}"}]}
    page.evaluate("r => tell('ui/notifications/tool-result', r)", words)
    shown.get_by_text("passed <img").wait_for()
    page.evaluate("tell('ui/resource-teardown', {}, 7)")
    page.wait_for_function("heard.some(m => m.id === 7 && m.result)")
    first = json.loads(page.evaluate("JSON.stringify(heard.find(m => m.method === 'ui/initialize'))"))
    assert first["params"]["protocolVersion"] == "2026-01-26" and first["params"]["appInfo"]["name"] == "referee"
    assert not [url for url in asked if url.startswith("http")]
    page.close()
