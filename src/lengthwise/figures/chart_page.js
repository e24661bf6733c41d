"use strict";
// Draws the panels of a page: each is as wide as its place, and follows it when the window changes.
// Vega-Lite cannot wrap charts that stand side by side, so the page lays the panels out and this script fills them.
(() => {
  const page = JSON.parse(document.getElementById("chart-data").textContent);
  const actions = { export: true, source: false, compiled: false, editor: false };
  const drawn = page.panels.map((panel, place) =>
    vegaEmbed(`#panel-${place}`, { ...panel, ...page.shared }, { mode: "vega-lite", renderer: "svg", ast: true, actions }));
  Promise.all(drawn).then(() => { document.documentElement.dataset.ready = "true"; });
})();
