"use strict";
// Draws the panels of a page: each is as wide as its place, and follows it when the window changes.
// Vega-Lite cannot wrap charts that stand side by side, so the page lays the panels out and this script fills them.
(() => {
  const page = JSON.parse(document.getElementById("chart-data").textContent);
  const actions = { export: true, source: false, compiled: false, editor: false };
  // The policy of the page lets nobody turn text into code or bring a style along: Vega reads expressions itself.
  const options = {
    mode: "vega-lite", renderer: "svg", ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true }, actions,
  };
  const drawn = page.panels.map((panel, place) =>
    vegaEmbed(`#panel-${place}`, { ...panel, ...page.shared }, options));
  Promise.all(drawn).then(() => { document.documentElement.dataset.ready = "true"; });
})();
