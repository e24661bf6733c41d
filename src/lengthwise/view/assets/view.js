"use strict";
// The page: it asks for changes, keeps the rows, and tells the table, the studies, the figures and the opened run.
(() => {
  const { element } = window.lengthwisePage;
  const byId = (id) => document.getElementById(id);
  const rows = new Map(); // id → row, in the order of their last change
  const paths = new Map(); // path → id
  const PAUSE = 500; // milliseconds between two questions
  const HIDDEN_PAUSE = 4000;
  const [MOST_RUNNING, MOST_LATEST, MOST_CHOSEN] = [4, 4, 16];
  let cursor = "";

  const table = new LengthwiseTable(rows, {
    open: (id) => lengthwiseOpened.go(rows.get(id).path),
    choose: () => compare(),
  });

  // Figures

  const compared = () => {
    const chosen = [...table.chosen].map((id) => rows.get(id)).filter(Boolean);
    if (chosen.length) return chosen.slice(0, MOST_CHOSEN);
    const runs = [...rows.values()].filter((row) => row.kind === "run").reverse();
    const running = runs.filter((row) => row.state === "running").slice(0, MOST_RUNNING);
    return [...running, ...runs.filter((row) => row.state === "done").slice(0, MOST_LATEST)];
  };

  const compare = () => {
    const found = compared();
    const chosen = table.chosen.size > 0;
    byId("compare").hidden = !found.length;
    byId("compare-title").textContent = chosen ? "Compare" : "Running and latest runs";
    byId("chosen").hidden = !chosen;
    byId("chosen").replaceChildren(...(chosen ? found : []).map((row) => {
      const chip = element("button", "chip", `${lengthwiseCharts.nameOf(row)} ✕`);
      chip.type = "button";
      chip.setAttribute("aria-label", `Do not compare ${lengthwiseCharts.nameOf(row)}`);
      chip.addEventListener("click", () => table.choose(row.id, false));
      return chip;
    }));
    if (found.length) lengthwiseCharts.show(byId("compare"), found);
  };

  // Studies

  const STATES = ["done", "running", "stopped", "failed", "waiting"];
  const duration = (seconds) => {
    if (seconds < 90) return `${Math.round(seconds)} s`;
    const minutes = Math.round(seconds / 60);
    return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  };
  const progressOf = (study) => {
    const { counts } = study;
    const parts = [`${(counts.done ?? 0).toLocaleString("en")} of ${study.total.toLocaleString("en")} runs done`];
    for (const state of STATES.slice(1)) if (counts[state]) parts.push(`${counts[state].toLocaleString("en")} ${state}`);
    const left = study.seconds_left === undefined ? -1 : study.seconds_left - (Date.now() / 1000 - study.at);
    if (left > 0) parts.push(`about ${duration(left)} left`);
    const unfinished = (counts.done ?? 0) + (counts.failed ?? 0) < study.total;
    if (!study.at_work && unfinished) parts.push("nobody is working on it");
    return parts.join(", ");
  };

  const newCard = (study) => {
    const card = element("article", "study");
    const name = element("button", "link");
    name.type = "button";
    name.addEventListener("click", () => { table.only("study", study.path); byId("runs").scrollIntoView(); });
    const heading = element("h3");
    heading.append(name);
    const bar = element("div", "bar");
    bar.setAttribute("aria-hidden", "true");
    for (const state of STATES) bar.append(element("span", `bar-${state}`));
    card.append(heading, element("p", "question"), bar, element("p", "hint progress"), element("p", "no"));
    return card;
  };

  const cards = new Map();
  const showStudies = () => {
    const studies = [...rows.values()].filter((row) => row.kind === "study").sort((one, other) => other.at_work - one.at_work || one.id - other.id);
    byId("studies").hidden = !studies.length;
    const shown = studies.map((study) => {
      const card = cards.get(study.id) ?? newCard(study);
      cards.set(study.id, card);
      card.querySelector(".link").textContent = study.name;
      card.querySelector(".question").textContent = study.question ?? "";
      card.querySelector(".progress").textContent = study.reason ? "" : progressOf(study);
      card.querySelector(".no").textContent = study.reason ?? "";
      card.querySelector(".bar").hidden = Boolean(study.reason);
      for (const state of STATES) {
        card.querySelector(`.bar-${state}`).style.width = `${(100 * (study.counts[state] ?? 0)) / Math.max(1, study.total)}%`;
      }
      return card;
    });
    const list = byId("study-list");
    if (shown.length !== list.children.length || shown.some((card, at) => list.children[at] !== card)) list.replaceChildren(...shown);
  };

  // Changes

  const takeIn = (found) => {
    if (found.reset) { rows.clear(); paths.clear(); }
    for (const row of found.rows) {
      rows.delete(row.id); // so that it stands last
      rows.set(row.id, row);
      paths.set(row.path, row.id);
    }
    for (const id of found.gone) { rows.delete(id); table.chosen.delete(id); }
    cursor = found.cursor;
    lengthwiseCharts.takeIn(found.journals);
    const grown = Object.values(found.journals ?? {}).some((one) => one.entries.length);
    if (found.reset || found.rows.length || found.gone.length) { table.refresh(); showStudies(); }
    if (found.more || found.unread) return; // first everything that is there
    if (found.rows.length || found.gone.length || grown || !document.documentElement.dataset.ready) { compare(); openAsked(); }
    document.documentElement.dataset.ready = "true";
  };
  const openAsked = () => lengthwiseOpened.refresh((path) => rows.get(paths.get(path)));

  const statusOf = (found) => {
    if (!lengthwiseSource.isLive) return "static copy";
    const left = found.unread ? `reading; ${found.unread.toLocaleString("en")} left` : "live";
    return rows.size || found.unread ? left : "live; there are no runs here yet";
  };

  const ask = async () => {
    let pause = document.hidden ? HIDDEN_PAUSE : PAUSE;
    try {
      const followed = [...compared(), ...(lengthwiseOpened.isOpen() ? [lengthwiseOpened.row()] : [])];
      const found = await lengthwiseSource.changes(cursor, lengthwiseCharts.wanted(followed));
      takeIn(found);
      byId("status").textContent = statusOf(found);
      if (found.more || found.unread) pause = 20;
      if (!lengthwiseSource.isLive) return;
    } catch (error) {
      byId("status").textContent = error.status === 403
        ? "The server was started again; open the address that it printed." : "The server does not answer; trying again …";
      pause = 2000;
      if (!error.status && !(error instanceof TypeError)) console.error(error);
    }
    setTimeout(ask, pause);
  };

  window.addEventListener("hashchange", openAsked);
  window.addEventListener("popstate", openAsked);
  ask();
})();
