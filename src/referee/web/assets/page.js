"use strict";
// Everything works without this file; it keeps a page up to date and remembers a theme.
(() => {
  const root = document.documentElement;
  const themes = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  const show = (theme) => {
    root.dataset.theme = theme;
    if (button) button.textContent = `Theme: ${theme}`;
  };
  let theme = "auto";
  try { theme = localStorage.getItem("theme") || "auto"; } catch { /* storage may be forbidden */ }
  if (!themes.includes(theme)) theme = "auto";
  show(theme);
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      show(theme);
      try { localStorage.setItem("theme", theme); } catch { /* then for this page only */ }
    });
  }

  for (const field of document.querySelectorAll("form.filter select")) {
    field.addEventListener("change", () => field.form.requestSubmit());
  }

  const main = document.querySelector("main[data-live]");
  if (!main || !window.EventSource) return;
  const said = document.getElementById("said");
  let busy = false, again = false;

  // Only what differs is replaced, and the focus stays where it was.
  const replace = (fresh) => {
    for (const part of document.querySelectorAll("[data-part]")) {
      const other = fresh.getElementById(part.id);
      if (!other || other.outerHTML === part.outerHTML) continue;
      const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
      part.replaceWith(document.adoptNode(other));
      if (focused) document.getElementById(focused)?.focus();
    }
    document.title = fresh.title;
    const status = document.querySelector("[data-said]")?.dataset.said || "";
    if (said.textContent !== status) said.textContent = status;
  };

  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
      root.dataset.connection = answer.ok ? "live" : "lost";
    } catch {
      root.dataset.connection = "lost";
    }
    busy = false;
    if (again) { again = false; refresh(); }
  };

  const events = new EventSource(main.dataset.live);
  events.addEventListener("change", refresh);
  // Whatever changed between the page's making and the listening is seen by looking once more.
  events.addEventListener("here", () => {
    root.dataset.connection = "live";
    refresh();
  });
  events.addEventListener("error", () => { root.dataset.connection = "lost"; });
  addEventListener("pagehide", () => events.close());
})();
