"use strict";
// Curves and losses of some runs in two figures. What a run is known by is asked for once: a run in training sends what
// its journal has gained, and a run that has changed in another way is asked for again.
const lengthwiseCharts = (() => {
  const page = window.lengthwisePage;
  const journals = new Map(); // id → { turn, entries }
  const details = new Map(); // id → { row, run }: what was known of it while its row was this one

  // A variant that only repeats the design is left out; the seed comes early, as long names are cut at their end.
  const nameOf = (row) => [
    row.task, row.seed === undefined ? "" : `seed ${row.seed}`, row.design, row.variant === `model ${row.design}` ? "" : row.variant,
  ].filter(Boolean).join(", ");

  const isInTraining = (row) => lengthwiseSource.isLive && row.state === "running";

  // What the server is to send of these runs with the next changes.
  const wanted = (rows) => rows.filter(isInTraining).map(({ id }) => {
    const { turn, entries } = journals.get(id) ?? { turn: 0, entries: [] };
    return [id, turn, entries.length];
  });

  const takeIn = (found) => {
    for (const [id, { turn, first, entries }] of Object.entries(found ?? {})) {
      const known = journals.get(Number(id))?.entries ?? [];
      journals.set(Number(id), { turn, entries: [...known.slice(0, first), ...entries] });
    }
  };

  // A row is replaced when anything about its run changes.
  const detail = async (row) => {
    const known = details.get(row.id);
    if (known?.row === row) return known.run;
    const run = lengthwiseSource.run(row.id);
    details.set(row.id, { row, run });
    if (details.size > 500) details.delete(details.keys().next().value);
    return run;
  };

  const linesOf = async (row) => {
    if (isInTraining(row)) {
      const entries = journals.get(row.id)?.entries ?? [];
      return { curve: [], losses: entries.map(([step, loss]) => [step, loss]) };
    }
    if (row.state === "waiting" || row.state === "damaged") return { curve: [], losses: [] };
    try {
      return await detail(row);
    } catch {
      details.delete(row.id);
      return { curve: [], losses: [] };
    }
  };

  const columns = (series) => {
    const texts = series.map(([name]) => name);
    const rows = series.flatMap(([, points], place) => points.map(([x, y]) => [x, y, place]));
    return { rows: { x: rows.map((row) => row[0]), y: rows.map((row) => row[1]), series: { texts, places: rows.map((row) => row[2]) } } };
  };

  // Draw the curves and losses of these runs into the two figures of a box; a figure without a line is hidden.
  const show = async (box, rows) => {
    const turn = (box.lengthwiseTurn = (box.lengthwiseTurn ?? 0) + 1);
    const known = await Promise.all(rows.map(linesOf));
    if (turn !== box.lengthwiseTurn) return; // something newer is on its way
    const taken = new Map();
    const names = rows.map((row) => {
      const name = nameOf(row);
      taken.set(name, (taken.get(name) ?? 0) + 1);
      return taken.get(name) > 1 ? `${name} (${taken.get(name)})` : name;
    });
    const [curves, losses] = box.querySelectorAll(".plot");
    for (const [plot, kind] of [[curves, "curve"], [losses, "losses"]]) {
      const series = known.map((run, at) => [names[at], run[kind]]).filter(([, points]) => points.length);
      const key = JSON.stringify(series);
      plot.closest("figure").hidden = !series.length;
      if (!series.length || key === plot.lengthwiseKey) continue;
      plot.lengthwiseKey = key;
      plot.lengthwiseData = columns(series);
      page.change(plot, plot.lengthwiseData);
      if (plot.dataset.begun) continue;
      plot.textContent = "preparing figures …";
      lengthwiseSource.figures().then(() => page.draw(plot)).then(
        () => page.change(plot, plot.lengthwiseData), // it may have changed meanwhile
        (error) => { plot.textContent = error.message; },
      );
    }
  };

  return { wanted, takeIn, detail, show, nameOf };
})();
