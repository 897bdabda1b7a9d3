"use strict";
// The view of a result in an MCP client (MCP Apps, 2026-01-26): it says that it is there and shows what it is sent.
(() => {
  const main = document.querySelector("main");
  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const dress = (context) => {
    if (context?.theme === "dark" || context?.theme === "light") document.documentElement.dataset.theme = context.theme;
  };

  const show = (result) => {
    const made = result?._meta?.["referee/view"];
    if (typeof made === "string") {
      main.innerHTML = made; // escaped where it was made; no script in it runs
      return;
    }
    const words = (result?.content || []).filter((part) => part.type === "text").map((part) => part.text);
    const plain = document.createElement("pre");
    plain.textContent = words.join("\n") || "There is nothing to show.";
    main.replaceChildren(plain);
  };

  addEventListener("message", (event) => {
    if (event.source !== parent || event.data?.jsonrpc !== "2.0") return;
    const { id, method, params, result } = event.data;
    if (id === 1 && result) {
      dress(result.hostContext);
      send({ method: "ui/notifications/initialized", params: {} });
    } else if (method === "ui/notifications/tool-result") {
      show(params);
    } else if (method === "ui/notifications/host-context-changed") {
      dress(params);
    } else if (method && id !== undefined) {
      send({ id, result: {} }); // a ping, or the end
    }
  });

  new ResizeObserver(() => {
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    send({ method: "ui/notifications/size-changed", params: { width, height } });
  }).observe(main);
  send({
    id: 1,
    method: "ui/initialize",
    params: {
      protocolVersion: "2026-01-26",
      appInfo: { name: "referee", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    },
  });
})();
