"use strict";
// The player: tokens on a sphere that can be turned, a slider of time, and cursors in the charts that follow it.
// Without this script the page shows still pictures instead.
(() => {
  const held = JSON.parse(document.getElementById("data").textContent);
  const find = (name) => document.getElementById(name);
  const canvas = find("sphere"), slider = find("moment"), button = find("play"), trails = find("trails");
  const pen = canvas.getContext("2d");
  const SVG = "http://www.w3.org/2000/svg";
  const moments = held.times.length, tokens = held.tokens, trailLength = Math.max(4, Math.round(moments / 12));
  const longestTrail = 0.8; // a token that goes further between two moments leaves no line, which would cut the sphere
  const playSeconds = Math.min(20, Math.max(6, moments / 10));

  const numbers = (text) => {
    const signs = atob(text), bytes = new Uint8Array(signs.length);
    for (let place = 0; place < signs.length; place++) bytes[place] = signs.charCodeAt(place);
    const read = new DataView(bytes.buffer), found = new Int16Array(bytes.length / 2);
    for (let place = 0; place < found.length; place++) found[place] = read.getInt16(2 * place, true);
    return found;
  };
  const places = numbers(held.places), groups = numbers(held.groups);
  let rotation = held.rotation, moment = 0, playing = null;

  // Geometry. A place is turned by the rotation; x is to the right, y up, z to the reader.

  const multiply = (a, b) => a.map((_, cell) => [0, 1, 2].reduce((sum, k) => sum + a[3 * Math.floor(cell / 3) + k] * b[3 * k + (cell % 3)], 0));
  const turned = (x, y, z) => [
    rotation[0] * x + rotation[1] * y + rotation[2] * z,
    rotation[3] * x + rotation[4] * y + rotation[5] * z,
    rotation[6] * x + rotation[7] * y + rotation[8] * z,
  ];
  const seen = (at, token) => {
    const start = 3 * (at * tokens + token);
    return turned(places[start] / held.steps, places[start + 1] / held.steps, places[start + 2] / held.steps);
  };
  const turn = (aboutY, aboutX) => {
    if (held.flat) return;
    const c = Math.cos(aboutY), s = Math.sin(aboutY), e = Math.cos(aboutX), f = Math.sin(aboutX);
    rotation = multiply([1, 0, 0, 0, e, -f, 0, f, e], multiply([c, 0, s, 0, 1, 0, -s, 0, c], rotation));
    draw();
  };
  const circles = [];
  if (!held.flat) {
    const angles = Array.from({ length: 49 }, (_, step) => (step * Math.PI) / 24);
    for (let step = 0; step < 6; step++) {
      const a = (step * Math.PI) / 6;
      circles.push(angles.map((p) => [Math.cos(a) * Math.cos(p), Math.sin(p), Math.sin(a) * Math.cos(p)]));
    }
    for (const degrees of [-60, -30, 0, 30, 60]) {
      const p = (degrees * Math.PI) / 180;
      circles.push(angles.map((a) => [Math.cos(p) * Math.cos(a), Math.sin(p), Math.cos(p) * Math.sin(a)]));
    }
  }

  // Drawing

  let ink = {};
  const readInk = () => {
    const style = getComputedStyle(document.documentElement);
    ink = { soft: style.getPropertyValue("--soft").trim(), line: style.getPropertyValue("--line").trim() };
  };
  const colourOf = (group) => (group < 0 ? ink.soft : held.colours[group % held.colours.length]);

  const draw = () => {
    const side = canvas.clientWidth, scale = window.devicePixelRatio || 1;
    if (!side) return;
    if (canvas.width !== Math.round(side * scale)) canvas.width = canvas.height = Math.round(side * scale);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, side, side);
    const middle = side / 2, radius = 0.45 * side;
    const x = (place) => middle + radius * place[0], y = (place) => middle - radius * place[1];
    drawSphere(middle, radius, x, y);
    const size = Math.max(3, Math.min(6, (side / 90) * Math.sqrt(64 / Math.max(64, tokens)) + 1.2));
    const now = Array.from({ length: tokens }, (_, token) => seen(moment, token));
    if (trails.checked) drawTrails(now, x, y);
    const order = now.map((_, token) => token).sort((a, b) => now[a][2] - now[b][2]);
    for (const token of order) drawToken(x(now[token]), y(now[token]), now[token][2], groups[moment * tokens + token], size);
    pen.globalAlpha = 1;
  };

  const drawSphere = (middle, radius, x, y) => {
    pen.lineWidth = 1;
    pen.strokeStyle = ink.soft;
    pen.globalAlpha = 0.9;
    pen.beginPath();
    pen.arc(middle, middle, radius, 0, 2 * Math.PI);
    pen.stroke();
    for (const circle of circles) {
      const line = circle.map((place) => turned(...place));
      for (const front of [false, true]) {
        pen.globalAlpha = front ? 0.35 : 0.12;
        pen.beginPath();
        for (let place = 1; place < line.length; place++) {
          if ((line[place][2] >= 0) !== front) continue;
          pen.moveTo(x(line[place - 1]), y(line[place - 1]));
          pen.lineTo(x(line[place]), y(line[place]));
        }
        pen.stroke();
      }
    }
  };

  const drawTrails = (now, x, y) => {
    pen.lineWidth = 1.3;
    for (let token = 0; token < tokens; token++) {
      pen.strokeStyle = colourOf(groups[moment * tokens + token]);
      let after = now[token];
      for (let back = 1; back <= Math.min(trailLength, moment); back++) {
        const before = seen(moment - back, token);
        if (Math.hypot(after[0] - before[0], after[1] - before[1], after[2] - before[2]) > longestTrail) break;
        pen.globalAlpha = (1 - back / (trailLength + 1)) * (after[2] >= 0 ? 0.6 : 0.2);
        pen.beginPath();
        pen.moveTo(x(after), y(after));
        pen.lineTo(x(before), y(before));
        pen.stroke();
        after = before;
      }
    }
  };

  const drawToken = (x, y, depth, group, size) => {
    pen.globalAlpha = depth >= 0 ? 1 : 0.35;
    pen.beginPath();
    if (group < 0) {
      pen.lineWidth = 1.5;
      pen.strokeStyle = ink.soft;
      pen.arc(x, y, 0.75 * size, 0, 2 * Math.PI);
      pen.stroke();
      return;
    }
    pen.fillStyle = colourOf(group);
    for (const [across, up] of held.shapes[group % held.shapes.length]) pen.lineTo(x + size * across, y - size * up);
    pen.closePath();
    pen.fill();
  };

  // Words and legend of the moment

  const symbol = (group) => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "-6 -6 12 12");
    svg.setAttribute("aria-hidden", "true");
    const mark = document.createElementNS(SVG, group < 0 ? "circle" : "polygon");
    if (group < 0) {
      mark.setAttribute("r", "3");
      mark.setAttribute("class", "alone");
    } else {
      mark.setAttribute("points", held.shapes[group % held.shapes.length].map(([across, up]) => `${4 * across},${-4 * up}`).join(" "));
      mark.setAttribute("fill", colourOf(group));
    }
    svg.append(mark);
    return svg;
  };
  const entry = (group, text) => {
    const made = document.createElement("li");
    made.append(symbol(group), text);
    return made;
  };
  const listed = 11;

  const describe = () => {
    const sizes = new Map();
    for (let token = 0; token < tokens; token++) {
      const group = groups[moment * tokens + token];
      sizes.set(group, (sizes.get(group) || 0) + 1);
    }
    const alone = sizes.get(-1) || 0;
    sizes.delete(-1);
    const largest = [...sizes].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const rows = largest.slice(0, listed).map(([group, size]) => entry(group, `${size} tokens`));
    if (largest.length > listed) {
      const more = document.createElement("li");
      more.textContent = `and ${largest.length - listed} more groups`;
      rows.push(more);
    }
    if (alone) rows.push(entry(-1, `${alone} alone`));
    find("legend").replaceChildren(...rows);
    const count = held.components[moment];
    const number = held.own ? `, cluster number N ${held.own[moment].toPrecision(3)}` : `, order r ${held.order[moment].toFixed(2)}`;
    const text = `t = ${Number(held.times[moment].toPrecision(4))}: ${count} group${count === 1 ? "" : "s"}${number}`;
    find("now").textContent = text;
    slider.setAttribute("aria-valuetext", text);
  };

  const cursors = [...document.querySelectorAll(".plot")].map((plot) => plot.querySelector(".cursor"));
  const span = held.times[moments - 1] - held.times[0] || 1;

  const show = (to) => {
    moment = Math.max(0, Math.min(moments - 1, to));
    slider.value = String(moment);
    cursors.forEach((cursor, place) => {
      const at = held.axes[place] + (held.axisWidth * (held.times[moment] - held.times[0])) / span;
      cursor.setAttribute("x1", at);
      cursor.setAttribute("x2", at);
    });
    describe();
    draw();
  };

  // Steering

  const stop = () => {
    if (playing !== null) cancelAnimationFrame(playing);
    playing = null;
    button.textContent = "Play";
  };
  const play = () => {
    if (moment === moments - 1) show(0);
    button.textContent = "Pause";
    const from = moment;
    let began = null;
    const step = (clock) => {
      began = began === null ? clock : began;
      const to = from + Math.floor(((clock - began) / 1000 / playSeconds) * moments);
      if (to !== moment) show(to);
      if (moment === moments - 1) stop();
      else playing = requestAnimationFrame(step);
    };
    playing = requestAnimationFrame(step);
  };
  button.addEventListener("click", () => (playing === null ? play() : stop()));
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  trails.addEventListener("change", draw);

  const angle = Math.PI / 24;
  const turns = { ArrowLeft: [-angle, 0], ArrowRight: [angle, 0], ArrowUp: [0, -angle], ArrowDown: [0, angle] };
  canvas.addEventListener("keydown", (event) => {
    if (held.flat || !turns[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    turn(...turns[event.key]);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    stop();
    show(moment + by);
  });

  let grip = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (held.flat) return;
    grip = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("turning");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (grip === null) return;
    const perPixel = 2.2 / canvas.clientWidth; // so that the front of the sphere follows the finger
    const [x, y] = grip;
    grip = [event.clientX, event.clientY];
    turn((event.clientX - x) * perPixel, (event.clientY - y) * perPixel);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => { grip = null; canvas.classList.remove("turning"); });
  }

  find("stills").hidden = true;
  find("player").hidden = false;
  document.documentElement.classList.add("scripted");
  canvas.classList.toggle("flat", held.flat);
  slider.max = String(moments - 1);
  readInk();
  show(0);
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readInk(); draw(); describe(); });
  document.documentElement.dataset.ready = "true";
})();
