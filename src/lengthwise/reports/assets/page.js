"use strict";
// The page's own script: it draws the figures when they come into sight, and builds the two long tables.
// Whatever a user named reaches the document through textContent, or as data of a figure, never as markup.
(() => {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const drawAllAtOnce = new URLSearchParams(location.search).has("all");
  const idleLimit = 40; // up to so many figures are drawn unasked, so that printing finds them ready
  const views = new Map();
  const hidden = new Set();
  const chosen = new Map(); // what the menus say: the name of a parameter of figures → its value

  // Figures

  const rowsOf = (columns) => {
    const names = Object.keys(columns);
    const read = names.map((name) => {
      const column = columns[name];
      return Array.isArray(column) ? (at) => column[at] : (at) => column.texts[column.places[at]];
    });
    const first = names.length ? columns[names[0]] : [];
    const length = Array.isArray(first) ? first.length : first.places.length;
    return Array.from({ length }, (_, at) => Object.fromEntries(names.map((name, place) => [name, read[place](at)])));
  };

  const filled = (figure) => {
    const spec = structuredClone(page.templates[figure.kind]);
    spec.datasets = Object.fromEntries(Object.entries(figure.data).map(([name, columns]) => [name, rowsOf(columns)]));
    for (const parameter of spec.params ?? []) {
      if (parameter.name === "hidden") parameter.value = [...hidden];
      else if (chosen.has(parameter.name)) parameter.value = chosen.get(parameter.name);
    }
    return spec;
  };

  const widthIn = (room) => Math.max(220, Math.floor(room) - 2);
  // As many columns as fit beside the vertical axis. Vega would count them in the width from before that axis has taken
  // its share, keep the height of a legend that wide, and cut its last line.
  const AXIS = 80;
  const legendIn = (spec, room) => {
    for (const { encoding } of spec.layer ?? [spec]) {
      for (const { legend } of Object.values(encoding ?? {})) {
        const rule = /min\((\d+), floor\(width \/ (\d+)\)/.exec(legend?.columns?.expr ?? "");
        if (rule) legend.columns = Math.max(1, Math.min(Number(rule[1]), Math.floor((room - AXIS) / Number(rule[2]))));
      }
    }
  };
  const MARGIN = 16;
  const WIDEST_CELL = 280;
  const letters = document.createElement("canvas").getContext("2d");
  const widthOf = (names) => {
    letters.font = `12px ${page.config.page.font}`;
    return Math.max(0, ...names.map((name) => letters.measureText(name).width));
  };
  // A grid of cells on a desk fills the page: the columns share what names of rows and a legend at the side leave.
  const filling = (spec, room) => {
    const { x, y } = spec.layer[0].encoding;
    const legend = spec.layer.map(({ encoding }) => encoding.color?.legend).find((one) => one && !one.orient);
    const side = legend ? 30 + widthOf([legend.title].flat()) : 0;
    const names = Math.min(y.axis.labelLimit ?? 300, widthOf(y.scale.domain)) + 8;
    const share = Math.floor((room - names - side - MARGIN) / x.scale.domain.length);
    spec.width.step = Math.max(spec.width.step, Math.min(WIDEST_CELL, share));
    if (widthOf(x.scale.domain) < spec.width.step) for (const { encoding } of spec.layer) encoding.x.axis.labelAngle = 0;
  };
  // Diagonals of a cell of another width keep their 45 degrees (CellGrid._hatch).
  const hatch = (spec) => {
    for (const { mark } of spec.layer) {
      if (!mark.fill?.gradient) continue;
      const steep = spec.height.step / spec.width.step;
      const far = (1 + steep) / (1 + steep * steep);
      Object.assign(mark.fill, { x2: far, y2: far * steep });
    }
  };

  const fitted = (spec, room) => {
    if (typeof spec.width === "number") {
      legendIn(spec, room);
      spec.width = widthIn(room);
      spec.autosize = { type: "fit-x", contains: "padding" };
    } else if (spec.width?.step) {
      (room < 640 ? narrowed : filling)(spec, room);
      hatch(spec);
    }
    return spec;
  };

  // A grid of cells on a phone: long names of rows are broken at commas, the legend stands below, columns share the rest.
  const narrowed = (spec, room) => {
    const { x, y } = spec.layer[0].encoding;
    const wide = (names) => 14 + 7 * Math.max(...names.map((name) => name.length));
    const names = y.scale.domain;
    const pieces = names.map((name) => name.split(", "));
    const broken = wide(names) > 0.45 * room;
    const labels = broken ? wide(pieces.flat()) : wide(names);
    spec.width.step = Math.max(44, Math.min(spec.width.step, Math.floor((room - labels - 10) / x.scale.domain.length)));
    if (broken) spec.height.step = Math.max(spec.height.step, 6 + 14 * Math.max(...pieces.map((own) => own.length)));
    const slanted = wide(x.scale.domain) > spec.width.step;
    for (const { encoding } of spec.layer) {
      if (slanted) encoding.x.axis.labelAngle = -50;
      if (broken) encoding.y.axis.labelExpr = "split(datum.label, ', ')";
      const legend = encoding.color?.legend;
      if (legend && !legend.orient) Object.assign(legend, { orient: "bottom", direction: "horizontal" });
    }
  };

  const embed = (place, spec, config) =>
    vegaEmbed(place, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, config,
      tooltip: { disableDefaultStyle: true },
    });

  // A window made wider, or a phone that is turned: drawn again once the size has settled.
  const rooms = new Map();
  const settling = new Map();
  const resizing = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const room = target.clientWidth;
      if (!room || Math.abs(room - (rooms.get(target) ?? room)) <= 1) continue;
      clearTimeout(settling.get(target));
      settling.set(target, setTimeout(() => { delete target.dataset.begun; draw(target); }, 100));
    }
  });

  const draw = async (plot) => {
    if (plot.dataset.begun) return;
    plot.dataset.begun = "true";
    const figure = page.figures[Number(plot.dataset.figure)];
    rooms.set(plot, plot.clientWidth);
    try {
      const made = await embed(plot, fitted(filled(figure), plot.clientWidth), page.config.page);
      // The figure as a whole has a name for those who cannot see it; its parts would only be read twice.
      plot.querySelector("svg")?.setAttribute("aria-hidden", "true");
      views.set(plot, made.view);
      if (page.templates[figure.kind].width !== undefined) resizing.observe(plot);
      plot.dataset.drawn = "true";
      plot.style.minHeight = "";
    } catch (error) {
      plot.textContent = `This figure could not be drawn: ${error.message}`;
      plot.dataset.broken = "true";
      console.error(error);
    }
  };

  const plots = page.live ? [] : [...document.querySelectorAll(".plot")]; // a page that lives draws its own
  // Room for a figure that is not drawn yet, so that the page does not jump when it is.
  for (const plot of plots) {
    const { height } = page.templates[page.figures[Number(plot.dataset.figure)].kind];
    if (typeof height === "number") plot.style.minHeight = `${height + 80}px`;
  }
  const drawAll = () => Promise.all(plots.map(draw));

  const drawWhenSeen = () => {
    // One figure at a time, and none that was only scrolled past: a hundred panels must not hold up the reader.
    const near = new Set();
    let drawing = false;
    const drawNext = async () => {
      if (drawing) return;
      drawing = true;
      for (let plot = near.values().next().value; plot; plot = near.values().next().value) {
        near.delete(plot);
        await draw(plot);
        await new Promise((resolve) => setTimeout(resolve));
      }
      drawing = false;
    };
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting && !target.dataset.begun) near.add(target);
        else near.delete(target);
      }
      setTimeout(drawNext, 60);
    }, { rootMargin: "400px" });
    for (const plot of plots) observer.observe(plot);
    if (plots.length > idleLimit) return;
    const whenIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
    const next = () => {
      const waiting = plots.find((plot) => !plot.dataset.begun);
      if (waiting) draw(waiting).then(() => whenIdle(next));
    };
    window.addEventListener("load", () => whenIdle(next));
  };

  const download = (address, name) => {
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
  };

  const save = async (figure, kind) => {
    const place = document.createElement("div");
    const spec = { ...filled(figure), background: "white", title: { text: figure.title, limit: 600 } };
    const made = await embed(place, spec, page.config.paper);
    const name = figure.name.replace(/[^A-Za-z0-9._+-]+/g, "-").slice(0, 100) || "figure";
    if (kind === "png") {
      download(await made.view.toImageURL("png", 2), `${name}.png`);
    } else {
      const address = URL.createObjectURL(new Blob([await made.view.toSVG()], { type: "image/svg+xml" }));
      download(address, `${name}.svg`);
      setTimeout(() => URL.revokeObjectURL(address), 1000);
    }
    made.finalize();
  };

  const tell = (name, value) => {
    for (const [plot, view] of views) {
      const kind = page.figures[Number(plot.dataset.figure)].kind;
      if ((page.templates[kind].params ?? []).some((parameter) => parameter.name === name)) {
        view.signal(name, value).runAsync();
      }
    }
  };

  const encodings = [...new Set([...document.querySelectorAll(".filter")].map((button) => button.textContent))];
  const toggle = (name) => {
    if (!hidden.delete(name)) hidden.add(name);
    for (const button of document.querySelectorAll(".filter")) {
      button.setAttribute("aria-pressed", String(!hidden.has(encodings[Number(button.dataset.encoding)])));
    }
    tell("hidden", [...hidden]);
  };

  // Menus: one kind sets a parameter of figures, the other shows one group of panels and hides the rest.
  document.addEventListener("change", ({ target }) => {
    if (target.dataset.sets) {
      chosen.set(target.dataset.sets, target.value);
      tell(target.dataset.sets, target.value);
    }
    const menu = target.closest("[data-shows]");
    if (menu) {
      for (const slot of document.getElementById(`${menu.dataset.shows}-panels`).children) {
        slot.hidden = slot.dataset.group !== target.value;
      }
    }
  });

  document.addEventListener("click", (event) => {
    const saving = event.target.closest("[data-save]");
    if (saving) {
      const plot = saving.closest("figure").querySelector(".plot");
      save(page.figures[Number(plot.dataset.figure)], saving.dataset.save);
    }
    const filter = event.target.closest(".filter");
    if (filter) toggle(encodings[Number(filter.dataset.encoding)]);
  });

  // Tables

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const percent = (share) => {
    const text = (100 * share).toFixed(1);
    return `${text === "100.0" && share < 1 ? "99.9" : text === "0.0" && share > 0 ? "<0.1" : text} %`;
  };

  const readers = {
    number: (column) => (at) => column.values[at],
    share: (column) => (at) => column.values[at],
    list: (column) => (at) => column.places[at].map((place) => column.texts[place]),
    text: (column) => (at) => column.texts[column.places[at]],
  };
  const read = (column) => (readers[column.look] ?? readers.text)(column);
  const isNumber = (column) => column.look === "number" || column.look === "share";

  const cellOf = (column, value, at) => {
    const cell = element("td", isNumber(column) ? "number" : "");
    if (value === null || value === "") return cell;
    if (column.look === "kind") cell.append(element("span", `kind kind-${value}`, value));
    else if (column.look === "state") cell.append(element("span", `state-${value}`, value));
    else if (column.look === "share") cell.textContent = percent(value);
    else if (column.look === "number") cell.textContent = (column.bounds?.[at] ? "≥" : "") + value.toLocaleString("en");
    else if (column.look === "list") {
      const list = element("ul");
      for (const text of value) list.append(element("li", /^(violated|caveat)\b/.exec(text)?.[0] ?? "", text));
      if (value.length) cell.append(list);
    } else cell.textContent = value;
    return cell;
  };

  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
  const isMissing = (value) => value === null || value === "" || (Array.isArray(value) && value.length === 0);

  class Table {
    constructor(box, columns) {
      this.columns = columns;
      this.readers = columns.map(read);
      const first = columns[0];
      this.length = first ? (first.values ?? first.places).length : 0;
      this.order = Array.from({ length: this.length }, (_, at) => at);
      this.found = this.order;
      this.step = box.dataset.table === "claims" ? 25 : 50;
      this.sorted = null;
      this.build(box);
      this.show(this.step);
    }

    build(box) {
      const tools = element("div", "tools");
      const label = element("label", "", "Search ");
      this.input = element("input");
      this.input.type = "search";
      this.input.placeholder = `in all ${this.length.toLocaleString("en")} ${box.dataset.name}`;
      label.append(this.input);
      this.count = element("p", "found");
      this.count.setAttribute("role", "status");
      tools.append(label, this.count);
      const scroll = element("div", "scroll");
      scroll.tabIndex = 0;
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", `Table of all ${box.dataset.name}`);
      const table = element("table");
      const head = element("tr");
      this.headings = this.columns.map((column, place) => {
        const heading = element("th", isNumber(column) ? "number" : "");
        heading.scope = "col";
        heading.setAttribute("aria-sort", "none");
        const button = element("button", "", column.title);
        button.type = "button";
        button.addEventListener("click", () => this.sort(place));
        heading.append(button);
        head.append(heading);
        return heading;
      });
      const thead = element("thead");
      thead.append(head);
      this.body = element("tbody");
      table.append(thead, this.body);
      scroll.append(table);
      this.more = element("button", "more");
      this.more.type = "button";
      this.more.addEventListener("click", () => this.show(this.shown + 4 * this.step));
      box.append(tools, scroll, this.more);
      let timer = 0;
      this.input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => this.search(), 120);
      });
    }

    textOf(at) {
      this.texts ??= new Array(this.length);
      return (this.texts[at] ??= this.readers.map((reader) => {
        const value = reader(at);
        return Array.isArray(value) ? value.join(" ") : value ?? "";
      }).join("\u0001").toLowerCase());
    }

    search() {
      const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
      this.found = words.length ? this.order.filter((at) => words.every((word) => this.textOf(at).includes(word))) : this.order;
      this.show(this.step);
    }

    sort(place) {
      const down = this.sorted?.place === place && !this.sorted.down;
      this.sorted = { place, down };
      const reader = this.readers[place];
      const values = Array.from({ length: this.length }, (_, at) => reader(at));
      this.order = Array.from({ length: this.length }, (_, at) => at).sort((one, other) => {
        const lacks = isMissing(values[one]) - isMissing(values[other]); // what is missing comes last either way
        return lacks || (down ? -1 : 1) * compare(values[one], values[other]) || one - other;
      });
      this.headings.forEach((heading, index) => {
        heading.setAttribute("aria-sort", index !== place ? "none" : down ? "descending" : "ascending");
      });
      this.search();
    }

    show(most) {
      this.shown = Math.min(most, this.found.length);
      const rows = document.createDocumentFragment();
      for (const at of this.found.slice(0, this.shown)) {
        const row = element("tr");
        this.columns.forEach((column, place) => row.append(cellOf(column, this.readers[place](at), at)));
        rows.append(row);
      }
      this.body.replaceChildren(rows);
      const of = this.found.length < this.length ? `${this.found.length.toLocaleString("en")} found; ` : "";
      this.count.textContent = `${of}${this.shown.toLocaleString("en")} of ${this.length.toLocaleString("en")} shown`;
      this.more.hidden = this.shown >= this.found.length;
      this.more.textContent = `Show ${Math.min(4 * this.step, this.found.length - this.shown).toLocaleString("en")} more`;
    }
  }

  const tables = [...document.querySelectorAll(".table")].map((box) => new Table(box, page.tables[box.dataset.table]));

  // Folds: a link to a section opens it, and one button opens or closes them all.
  const folds = [...document.querySelectorAll(".fold > details")];
  const reveal = (hash) => {
    const section = hash && document.getElementById(hash.slice(1));
    if (!section) return;
    for (let at = section.querySelector(":scope > details") ?? section; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    section.scrollIntoView();
  };
  const unfold = document.getElementById("unfold");
  const setAll = (open) => {
    for (const details of folds) details.open = open;
    unfold?.setAttribute("aria-pressed", String(open));
    if (unfold) unfold.textContent = open ? "Close all sections" : "Open all sections";
  };
  if (unfold && folds.length > 1 && folds.some((details) => !details.open)) {
    unfold.hidden = false;
    unfold.addEventListener("click", () => setAll(unfold.getAttribute("aria-pressed") === "false"));
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) reveal(link.hash);
  });
  reveal(location.hash);
  if (drawAllAtOnce) {
    for (const details of document.querySelectorAll("details")) details.open = true;
    setAll(true);
  }

  // Print: figures not yet seen are drawn, and tables show as much as one would still read on paper.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    for (const table of tables) table.show(Math.max(table.shown, 300));
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });

  // For a page that is written while it is open (`lengthwise view`): figures that come and go, and change.
  let added = 0;
  window.lengthwisePage = {
    element, percent, compare, isMissing, draw,
    // Take in what `figure_data` gives, for the places of figures in a box, whose numbers it counts from 0.
    add(box, { templates, figures }) {
      const first = page.figures.length;
      const mine = `added-${added++}-`;
      for (const [kind, template] of Object.entries(templates)) page.templates[mine + kind] = template;
      for (const figure of figures) page.figures.push({ ...figure, kind: mine + figure.kind });
      const places = [...box.querySelectorAll(".plot")];
      for (const plot of places) plot.dataset.figure = String(first + Number(plot.dataset.figure));
      return places;
    },
    // Other data for a figure: drawn at once where it is drawn already.
    change(plot, data) {
      page.figures[Number(plot.dataset.figure)].data = data;
      const view = views.get(plot);
      if (!view) return;
      for (const [name, columns] of Object.entries(data)) view.data(name, rowsOf(columns));
      view.runAsync();
    },
    forget(box) {
      for (const plot of box.querySelectorAll(".plot")) {
        views.get(plot)?.finalize();
        views.delete(plot);
        resizing.unobserve(plot);
        const place = Number(plot.dataset.figure);
        delete page.templates[page.figures[place].kind];
        page.figures[place] = null;
      }
    },
  };

  if (drawAllAtOnce) drawAll();
  else drawWhenSeen();
  document.documentElement.dataset.ready = "true";
})();
