"use strict";
// The table of runs: filters, order, and as many rows as one can read. A row that stays as it is is not touched.
const LengthwiseTable = (() => {
  const { element, percent, compare, isMissing } = window.lengthwisePage;
  const STEP = 50;
  const RANK = { running: 0, stopped: 1, damaged: 2, failed: 3, done: 4, waiting: 5 };

  const share = (value) => (value === undefined ? "" : percent(value));
  const number = (value) => (value === undefined ? "" : value.toLocaleString("en", { maximumFractionDigits: 3 }));
  const stateOf = (row) => {
    if (row.state !== "running" || !row.step || !row.steps) return row.state;
    return `running, ${Math.min(100, Math.floor((100 * row.step) / row.steps))} %`;
  };

  // What a column is called, what it is sorted by, and what it says; `number` stands at the right.
  const COLUMNS = [
    { title: "run", value: (row) => row.task, isName: true },
    { title: "study", value: (row) => row.study },
    { title: "encoding", value: (row) => row.design },
    { title: "variant", value: (row) => row.variant },
    { title: "seed", value: (row) => row.seed, isNumber: true },
    { title: "trained to", value: (row) => row.train_size, isNumber: true },
    { title: "state", value: (row) => RANK[row.state], text: stateOf },
    { title: "loss", value: (row) => row.loss, isNumber: true },
    { title: "in range", value: (row) => row.in_range ?? row.share, text: (row) => share(row.in_range ?? row.share), isNumber: true },
    { title: "2×", value: (row) => row.twice, text: (row) => share(row.twice), isNumber: true },
    { title: "3×", value: (row) => row.thrice, text: (row) => share(row.thrice), isNumber: true },
    { title: "reach", value: (row) => row.reach, text: (row) => (row.censored ? "≥" : "") + number(row.reach), isNumber: true },
    { title: "seconds", value: (row) => row.seconds, text: (row) => (row.seconds === undefined ? "" : row.seconds.toFixed(0)), isNumber: true },
    { title: "note", value: (row) => row.doing ?? row.reason },
  ];
  const textOf = (column, row) => {
    if (column.text) return column.text(row);
    const value = column.value(row);
    return column.isNumber ? number(value) : String(value ?? "");
  };

  return class {
    // `rows` are all rows by id; `told` is called with what a reader does: choose(id, on), open(id).
    constructor(rows, told) {
      this.rows = rows;
      this.told = told;
      this.chosen = new Set();
      this.lines = new Map(); // id → its line in the table
      this.shown = STEP;
      this.sorted = { place: 6, down: false };
      this.head = document.querySelector("#run-table thead");
      this.body = document.querySelector("#run-table tbody");
      this.found = document.getElementById("found");
      this.more = document.getElementById("more");
      this.search = document.getElementById("search");
      this.filters = ["study", "task", "design", "state"].map((name) => ({ name, menu: document.getElementById(`filter-${name}`), texts: "" }));
      this.search.addEventListener("input", () => this.again());
      for (const { menu } of this.filters) menu.addEventListener("change", () => this.again());
      this.more.addEventListener("click", () => { this.shown += 4 * STEP; this.refresh(); });
      this.body.addEventListener("click", ({ target }) => {
        const id = Number(target.closest("tr")?.dataset.id);
        if (target.closest("button")) told.open(id);
      });
      this.body.addEventListener("change", ({ target }) => this.choose(Number(target.closest("tr").dataset.id), target.checked));
    }

    again() { this.shown = STEP; this.refresh(); }

    choose(id, on) {
      if (on) this.chosen.add(id);
      else this.chosen.delete(id);
      const line = this.lines.get(id);
      if (line) line.firstChild.firstChild.checked = on;
      this.told.choose();
    }

    only(name, value) {
      const menu = this.filters.find((one) => one.name === name).menu;
      menu.value = menu.value === value ? "" : value;
      this.again();
    }

    // Everything that depends on all rows: menus, which of them are found, their order. Then the lines.
    refresh() {
      const all = [...this.rows.values()].filter((row) => row.kind === "run");
      for (const filter of this.filters) this.fillMenu(filter, all);
      const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = this.filters.filter(({ menu }) => menu.value);
      const found = all.filter((row) =>
        wanted.every(({ name, menu }) => row[name] === menu.value) && (!words.length || this.says(row, words)));
      this.order(found);
      this.columns = COLUMNS.filter((column) => column.isName || found.some((row) => !isMissing(textOf(column, row))));
      this.writeHead();
      this.writeLines(found.slice(0, this.shown));
      const of = found.length < all.length ? `${found.length.toLocaleString("en")} found; ` : "";
      const shown = Math.min(this.shown, found.length);
      this.found.textContent = `${of}${shown.toLocaleString("en")} of ${all.length.toLocaleString("en")} shown`;
      this.more.hidden = shown >= found.length;
      this.more.textContent = `Show ${Math.min(4 * STEP, found.length - shown).toLocaleString("en")} more`;
    }

    says(row, words) {
      const text = `${row.task} ${row.design ?? ""} ${row.variant ?? ""} ${row.path} ${row.state} ${row.reason ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    }

    fillMenu(filter, all) {
      const names = [...new Set(all.map((row) => row[filter.name]).filter((value) => value !== undefined))].sort(compare);
      const texts = JSON.stringify(names);
      if (texts === filter.texts) return;
      filter.texts = texts;
      const before = filter.menu.value;
      const options = ["", ...names].map((name) => {
        const option = element("option", "", name || "all");
        option.value = name;
        return option;
      });
      filter.menu.replaceChildren(...options);
      filter.menu.value = names.includes(before) ? before : "";
      filter.menu.closest("label").hidden = names.length < 2;
    }

    order(found) {
      const { place, down } = this.sorted;
      const value = COLUMNS[place].value;
      found.sort((one, other) => {
        const [mine, yours] = [value(one) ?? null, value(other) ?? null];
        const lacks = isMissing(mine) - isMissing(yours);
        return lacks || (down ? -1 : 1) * (mine === null ? 0 : compare(mine, yours)) || one.id - other.id;
      });
    }

    writeHead() {
      const key = this.columns.map((column) => column.title).join() + JSON.stringify(this.sorted);
      if (key === this.headKey) return;
      this.headKey = key;
      this.lines.clear(); // their cells are those of other columns now
      const row = element("tr");
      row.append(element("th"));
      for (const column of this.columns) {
        const place = COLUMNS.indexOf(column);
        const heading = element("th", column.isNumber ? "number" : "");
        heading.scope = "col";
        heading.setAttribute("aria-sort", place !== this.sorted.place ? "none" : this.sorted.down ? "descending" : "ascending");
        const button = element("button", "", column.title);
        button.type = "button";
        button.addEventListener("click", () => {
          this.sorted = { place, down: place === this.sorted.place ? !this.sorted.down : column.isNumber ?? false };
          this.refresh();
        });
        heading.append(button);
        row.append(heading);
      }
      this.head.replaceChildren(row);
    }

    writeLines(rows) {
      const lines = rows.map((row) => this.line(row));
      const same = lines.length === this.body.children.length && lines.every((line, at) => this.body.children[at] === line);
      if (!same) this.body.replaceChildren(...lines);
      if (this.lines.size > 4 * lines.length + 1000) this.lines = new Map(rows.map((row) => [row.id, this.lines.get(row.id)]));
    }

    line(row) {
      const line = this.lines.get(row.id) ?? this.newLine(row);
      if (line.shows === row) return line;
      line.shows = row;
      this.columns.forEach((column, at) => {
        const place = line.children[at + 1];
        const cell = column.isName ? place.firstChild : place;
        const text = textOf(column, row);
        if (cell.textContent !== text) cell.textContent = text;
        if (column.title === "state") place.className = `state-${row.state}`;
      });
      return line;
    }

    newLine(row) {
      const line = element("tr");
      line.dataset.id = row.id;
      const tick = element("input");
      tick.type = "checkbox";
      tick.autocomplete = "off";
      tick.setAttribute("aria-label", `Compare ${row.path}`);
      tick.checked = this.chosen.has(row.id);
      const first = element("td");
      first.append(tick);
      line.append(first);
      for (const column of this.columns) {
        const cell = element("td", column.isNumber ? "number" : "");
        if (column.isName) {
          const button = element("button", "link");
          button.type = "button";
          cell.append(button);
        }
        line.append(cell);
      }
      this.lines.set(row.id, line);
      return line;
    }
  };
})();
