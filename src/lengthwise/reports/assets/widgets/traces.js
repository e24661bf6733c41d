"use strict";
// The trace explorer: menus, the search tree as SVG, the trace event by event, and where the model left it.
// Whatever a trace holds reaches the document through textContent.
(() => {
  const box = document.querySelector("[data-widget=traces]");
  const held = JSON.parse(box.querySelector("script").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const rowHeight = 52, nodeHeight = 24, letter = 7.4, gap = 10;

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const drawn = (parent, name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };

  // Menus. Each offers what those before it leave; a choice that is still possible stays.

  const menus = new Map();
  const bar = element("div", "choices");
  const addMenu = (name, title) => {
    const label = element("label", "choice", `${title} `);
    const select = element("select");
    select.dataset.menu = name;
    select.autocomplete = "off";
    label.append(select);
    bar.append(label);
    select.addEventListener("change", () => refill(name));
    menus.set(name, select);
  };
  addMenu("task", "Problem");
  addMenu("model", "Model");
  addMenu("level", "Level");
  addMenu("item", "Item");

  const labelOf = (name, attempt, place) =>
    name === "item" ? `${place + 1}: ${attempt.at === null ? "right" : attempt.solved ? "astray, yet solved" : "wrong"}` : attempt[name];

  const refill = (changed) => {
    let left = held.attempts;
    const names = [...menus.keys()];
    for (const name of names) {
      const select = menus.get(name);
      const labels = name === "item" ? left.map((attempt, place) => labelOf(name, attempt, place)) : [...new Set(left.map((attempt) => attempt[name]))];
      if (changed === undefined || names.indexOf(name) > names.indexOf(changed)) {
        const before = select.value;
        select.replaceChildren(...labels.map((label, place) => {
          const option = element("option", "", label);
          option.value = name === "item" ? String(place) : label;
          return option;
        }));
        if ([...select.options].some((option) => option.value === before)) select.value = before;
      }
      left = name === "item" ? [left[Number(select.value)]] : left.filter((attempt) => attempt[name] === select.value);
    }
    show(left[0]);
  };

  // The tree

  const widthOf = (tree) => Math.max(44, letter * Math.max(...tree.labels.map((label) => label.length)) + 14);

  const drawTree = (tree, wrong) => {
    const width = widthOf(tree), column = width + gap;
    const total = (Math.max(...tree.across) + 1) * column + gap;
    const height = (Math.max(...tree.down) + 1) * rowHeight + 8;
    const svg = document.createElementNS(SVG, "svg");
    for (const [key, value] of Object.entries({ width: total, height, viewBox: `0 0 ${total} ${height}`, role: "img" })) {
      svg.setAttribute(key, value);
    }
    const x = (node) => gap + tree.across[node] * column + width / 2;
    const y = (node) => 16 + tree.down[node] * rowHeight;
    const edges = [];
    tree.parents.forEach((parent, node) => {
      if (parent < 0) return;
      const attributes = {
        class: `edge${tree.path[node] ? " path" : ""}`,
        d: `M${x(parent)},${y(parent) + nodeHeight}C${x(parent)},${y(node) - 8} ${x(node)},${y(parent) + nodeHeight + 8} ${x(node)},${y(node)}`,
      };
      edges[node] = drawn(svg, "path", attributes);
    });
    const nodes = tree.labels.map((label, node) => {
      const group = drawn(svg, "g", { class: `node${tree.path[node] ? " path" : ""}${node === wrong ? " wrong" : ""}` });
      drawn(group, "rect", { x: x(node) - width / 2, y: y(node), width, height: nodeHeight, rx: 5 });
      drawn(group, "text", { x: x(node), y: y(node) + 16 }, label);
      if (node) drawn(group, "text", { class: "order", x: x(node) - width / 2 + 1, y: y(node) - 3 }, String(node));
      if (node === wrong) drawn(group, "text", { class: "cross", x: x(node) + width / 2 - 9, y: y(node) - 3 }, "✗");
      return group;
    });
    return { svg, nodes, edges };
  };

  // The text

  const tokens = (words, wrong) => words.flatMap((word, place) => {
    const span = element("span", place === wrong ? "wrong" : "", word);
    return place ? [" ", span] : [span];
  });

  const traceOf = (problem, at) => {
    const cell = element("dd");
    const events = (problem.tree?.steps ?? []).map(([push, , start, end]) => {
      const event = element("span", `event ${push ? "push" : "pop"}`);
      event.append(...tokens(problem.truth.slice(start, end), at === null ? -1 : at - start));
      cell.append(event, " ");
      return event;
    });
    if (!problem.tree) cell.append(...tokens(problem.truth, at ?? -1));
    if (at !== null && at >= problem.truth.length) cell.append(" ", element("span", "wrong", held.end));
    return { cell, events };
  };

  const writtenOf = (problem, attempt) => {
    const cell = element("dd");
    if (attempt.at === null) {
      cell.append(element("span", "same", attempt.why ? problem.truth.join(" ") : "the same"));
      return cell;
    }
    const before = problem.truth.slice(0, attempt.at);
    if (before.length) cell.append(element("span", "same", before.join(" ")), " ");
    cell.append(...tokens(attempt.rest.length ? attempt.rest : [held.end], 0));
    return cell;
  };

  const verdictOf = (problem, attempt) => {
    if (attempt.at === null && !attempt.why) return "The model writes the whole answer rightly, token for token.";
    if (attempt.at === null) return `As far as it goes the model writes no wrong token. The verifier says: ${attempt.why}.`;
    const right = problem.truth[attempt.at] ?? held.end, wrong = attempt.rest[0] ?? held.end;
    const where = `At token ${attempt.at + 1} of ${problem.truth.length} the model first goes wrong: it writes “${wrong}” where the right trace has “${right}”.`;
    const verifier = attempt.why ? ` The verifier says: ${attempt.why}.` : "";
    return `${where}${verifier} ${attempt.solved ? "Its trace still ends at the goal by moves that the rules allow." : "Its trace does not reach the goal."}`;
  };

  const stage = element("div");
  stage.setAttribute("aria-live", "polite");

  const show = (attempt) => {
    const problem = held.problems[attempt.problem], tree = problem.tree, at = attempt.at;
    const steps = tree?.steps ?? [];
    let wrongStep = at === null ? -1 : steps.findIndex(([, , start, end]) => start <= at && at < end);
    if (at !== null && wrongStep < 0) wrongStep = steps.length - 1; // it did not stop at the goal
    const said = element("p", "said", verdictOf(problem, attempt));
    const list = element("dl");
    const { cell, events } = traceOf(problem, at);
    const prompt = element("dd", "", problem.prompt);
    const pairs = [["prompt", prompt], ["right trace", cell], ["the model wrote", writtenOf(problem, attempt)]];
    for (const [title, content] of pairs) list.append(element("dt", "", title), content);
    if (!tree) {
      stage.replaceChildren(said, list);
      return;
    }
    const picture = drawTree(tree, wrongStep < 0 ? -1 : steps[wrongStep][1]);
    const frame = element("div", "drawing");
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Search tree");
    frame.append(picture.svg);
    const slider = element("input");
    Object.assign(slider, { type: "range", min: 1, max: steps.length, value: wrongStep < 0 ? steps.length : wrongStep + 1, autocomplete: "off" });
    const output = element("output");
    const label = element("label", "stepping", "Step through the search ");
    label.append(slider, output);
    const step = () => {
      const now = Number(slider.value) - 1, [push, current] = steps[now];
      const seen = new Set([0, ...steps.slice(0, now + 1).filter(([pushed]) => pushed).map(([, node]) => node)]);
      picture.nodes.forEach((node, place) => {
        node.classList.toggle("later", !seen.has(place));
        node.classList.toggle("now", place === current);
        picture.edges[place]?.classList.toggle("later", !seen.has(place));
      });
      events.forEach((event, place) => event.classList.toggle("now", place === now));
      const note = now === wrongStep ? ", where the model goes wrong" : "";
      output.textContent = `${now + 1} of ${steps.length}: ${push ? "try" : "take back"} “${tree.labels[current]}”${note}`;
    };
    slider.addEventListener("input", step);
    picture.svg.setAttribute("aria-label", `Search tree with ${tree.labels.length - 1} nodes visited, ${tree.path.reduce((sum, on) => sum + on, 0) - 1} on the way to the goal.`);
    stage.replaceChildren(said, label, frame, list);
    step();
  };

  box.append(bar, stage);
  refill();
  // The first thing to see is a mistake, if there is one: the one that came latest, as its search is worth looking at.
  const wrongs = held.attempts.filter((attempt) => attempt.at !== null);
  const wrong = wrongs.reduce((best, one) => (best && best.at >= one.at ? best : one), null);
  if (wrong) {
    const choose = (name, value) => { menus.get(name).value = value; refill(name); };
    for (const name of ["task", "model", "level"]) choose(name, wrong[name]);
    const alike = held.attempts.filter((one) => ["task", "model", "level"].every((name) => one[name] === wrong[name]));
    choose("item", String(alike.indexOf(wrong)));
  }
  box.dataset.ready = "true";
})();
