// The map of the atlas: menus hide rows, and the cell that is pointed at, focused or tapped shows its curves.
(() => {
  "use strict";
  const { cells } = JSON.parse(document.getElementById("page-data").textContent);
  const figure = document.getElementById("curves");
  const [caption, svg] = [figure.querySelector("figcaption"), figure.querySelector("svg")];
  const table = document.querySelector(".map");
  const box = { left: 34, right: 344, top: 8, bottom: 166 };
  const made = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return svg.appendChild(element);
  };
  const draw = (cell) => {
    svg.replaceChildren();
    const sizes = cell.seeds.flatMap((one) => one.sizes);
    const [first, last] = [Math.log(Math.min(...sizes)), Math.log(Math.max(...sizes))];
    const x = (size) => box.left + ((Math.log(size) - first) / Math.max(1e-9, last - first)) * (box.right - box.left);
    const y = (share) => box.bottom - share * (box.bottom - box.top);
    const [trained, wide] = [Math.min(x(cell.trained), box.right), box.right - box.left];
    made("rect", { class: "trained", x: box.left, y: box.top, width: Math.max(0, trained - box.left), height: box.bottom - box.top });
    for (const share of [0, 0.5, 1]) {
      made("line", { class: "axis", x1: box.left, x2: box.right, y1: y(share), y2: y(share) });
      made("text", { x: box.left - 4, y: y(share) + 3, "text-anchor": "end" }, `${100 * share} %`);
    }
    made("line", { class: "limit", x1: box.left, x2: box.right, y1: y(0.95), y2: y(0.95) });
    for (const multiple of [1, 2, 4, 8]) {
      const size = multiple * cell.trained;
      if (Math.log(size) < first || Math.log(size) > last + 1e-9) continue;
      made("text", { x: x(size), y: box.bottom + 13, "text-anchor": "middle" }, size);
    }
    made("text", { x: box.left + wide / 2, y: box.bottom + 23, "text-anchor": "middle" }, "size (grey: trained on)");
    const line = (one, kind) => made("polyline", { class: kind, points: one.sizes.map((size, i) => `${x(size)},${y(one.exact[i])}`).join(" ") });
    const others = cells.filter((other) => other.task === cell.task && other !== cell);
    others.forEach((other) => other.seeds.forEach((one) => line(one, "other")));
    cell.seeds.forEach((one) => line(one, "own"));
    const reaches = cell.seeds.map((one) => (one.learned ? `${one.reach}` : `${one.reach} (not learned)`)).join(", ");
    caption.textContent = `${cell.task}, ${cell.design}: reach ${reaches}; trained to ${cell.trained}; theory: ${cell.verdict}. Pale: the other encodings and models.`;
    figure.hidden = false;
  };
  const show = (event) => {
    const place = event.target.closest?.("td[data-cell]");
    if (!place) return;
    table.querySelector(".shown")?.classList.remove("shown");
    place.classList.add("shown");
    draw(cells[Number(place.dataset.cell)]);
  };
  for (const kind of ["mouseover", "focusin", "click"]) table.addEventListener(kind, show);
  table.querySelectorAll("td[data-cell]").forEach((cell) => cell.setAttribute("tabindex", "-1"));
  table.querySelector("td[data-cell]")?.setAttribute("tabindex", "0");
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  table.addEventListener("keydown", (event) => {
    const place = event.target.closest?.("td[data-cell]");
    if (!place || !(event.key in moves)) return;
    event.preventDefault();
    const [down, right] = moves[event.key];
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    let [i, j] = [rows.indexOf(place.parentElement) + down, place.cellIndex + right];
    while (rows[i]?.cells[j] && !rows[i].cells[j].dataset.cell) [i, j] = [i + down, j + right];
    rows[i]?.cells[j]?.focus();
  });
  const menus = [...document.querySelectorAll("[data-filter]")];
  const filter = () => {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = menus.some((menu) => menu.value && row.dataset[menu.dataset.filter] !== menu.value);
    const left = rows.filter((row) => !row.hidden).length;
    document.getElementById("count").textContent = `${left} of ${rows.length} tasks`;
  };
  menus.forEach((menu) => menu.addEventListener("change", filter));
  document.getElementById("choices").hidden = false;
  filter();
  // On a phone the figure would cover the map, so it waits there until a cell is chosen.
  if (window.matchMedia("(min-width: 75rem)").matches) show({ target: table.querySelector("td[data-cell]") });
  document.documentElement.dataset.ready = "true";
})();
