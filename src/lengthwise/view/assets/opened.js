"use strict";
// The run that a reader has opened: facts, figures, and any of its records. The address says which, so that it can be
// kept and the browser's way back closes it. The text of a record comes from the server with every character escaped.
const lengthwiseOpened = (() => {
  const page = window.lengthwisePage;
  const { element } = page;
  const byId = (id) => document.getElementById(id);
  const dialog = byId("opened");
  let shown = { row: null, slug: "", records: "" };

  const asked = () => {
    const found = new URLSearchParams(location.hash.slice(1));
    return { path: found.get("run"), slug: found.get("record") ?? "" };
  };

  const go = (path, slug = "") => {
    location.hash = new URLSearchParams(slug ? { run: path, record: slug } : { run: path }).toString();
  };

  const close = () => {
    if (asked().path !== null) history.pushState(null, "", location.pathname + location.search);
    clearRecord();
    shown = { row: null, slug: "", records: "" };
    dialog.close();
  };

  const clearRecord = () => {
    page.forget(byId("opened-record"));
    byId("opened-record").replaceChildren();
  };

  const fill = (row, run) => {
    byId("opened-title").textContent = run.title;
    byId("opened-reason").textContent = row.reason ?? run.reason;
    byId("opened-reason").hidden = !(row.reason ?? run.reason);
    const facts = [...run.facts, ["folder", row.path]];
    byId("opened-facts").replaceChildren(...facts.map(([label, text]) => {
      const line = element("tr");
      const heading = element("th", "", label);
      heading.scope = "row";
      line.append(heading, element("td", "", text));
      return line;
    }));
    const texts = JSON.stringify(run.records);
    byId("opened-records-title").hidden = !run.records.length;
    if (texts === shown.records) return;
    shown.records = texts;
    byId("opened-records").replaceChildren(...run.records.map((slug) => {
      const button = element("button", "chip record", slug);
      button.type = "button";
      button.addEventListener("click", () => go(row.path, slug));
      return button;
    }));
  };

  const showRecord = async (row, slug) => {
    for (const button of dialog.querySelectorAll(".record")) {
      if (button.textContent === slug) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    if (slug === shown.slug) return;
    shown.slug = slug;
    clearRecord();
    if (!slug) return;
    const box = byId("opened-record");
    const found = await lengthwiseSource.record(row.id, slug).catch(() => null);
    if (slug !== shown.slug) return;
    if (!found) {
      box.textContent = "This record could not be read.";
      return;
    }
    box.innerHTML = found.html;
    const plots = page.add(box, found.figures);
    if (!plots.length) return;
    await lengthwiseSource.figures();
    for (const plot of plots) if (plot.isConnected) await page.draw(plot);
  };

  // Called when the address or the rows have changed.
  const refresh = async (rowAt) => {
    const { path, slug } = asked();
    const row = path === null ? undefined : rowAt(path);
    if (!row) {
      if (dialog.open && path === null) close();
      return;
    }
    const news = shown.row !== row;
    if (shown.row?.id !== row.id) {
      clearRecord();
      shown = { row, slug: "", records: "" };
    }
    shown.row = row;
    if (!dialog.open) dialog.showModal();
    if (news) {
      const run = await lengthwiseCharts.detail(row).catch(() => null);
      if (shown.row !== row) return;
      if (run) fill(row, run);
    }
    lengthwiseCharts.show(byId("opened-figures"), [row]);
    await showRecord(row, slug);
  };

  byId("close").addEventListener("click", close);
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); close(); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  return { go, refresh, isOpen: () => dialog.open, row: () => shown.row };
})();
