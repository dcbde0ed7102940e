"use strict";
// Draws what is in #data. Text from the model only ever becomes textContent or an attribute.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#3f9c95", "#c2921a", "#9c755f"];
const OTHER = "#8b939d";
const colorOf = op => PALETTE[(data.operators || []).indexOf(op)] || OTHER;

function make(tag, attributes = {}, text = "", parent = null) {
  const svg = ["svg", "g", "rect", "text", "path", "line"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function count(number) {
  const units = ["", " k", " M", " G", " T"];
  let unit = 0;
  while (Math.abs(number) >= 999.5 && unit < 4) { number /= 1000; ++unit; }
  return (number ? Number(number.toPrecision(3)) : 0) + units[unit];
}
const bytes = number => { const text = count(number); return text + (text.includes(" ") ? "B" : " B"); };
const time = us => us >= 999.5 ? count(us / 1000) + " ms" : count(us) + " µs";
const percent = share => (share * 100).toFixed(share < 0.0995 ? 1 : 0) + " %";
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const clipped = (text, most) => text.length <= most ? text : most < 3 ? "" : text.slice(0, most - 1) + "…";

// ---- Tips: whatever has a tip, or an SVG <title>, tells it where the pointer is.
const tips = new WeakMap();
for (const title of document.querySelectorAll("svg title")) {
  tips.set(title.parentNode, () => title.dataset.text);
  title.dataset.text = title.textContent;
  title.textContent = "";
}
document.addEventListener("pointermove", event => {
  let element = event.target;
  while (element && !tips.has(element)) element = element.parentNode;
  const tip = $("tip");
  tip.hidden = !element;
  if (!element) return;
  tip.textContent = tips.get(element)();
  tip.style.left = clamp(event.clientX + 14, 0, innerWidth - tip.offsetWidth - 8) + "px";
  const below = event.clientY + 18;
  tip.style.top = (below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below) + "px";
});

function told(node) {
  const lines = [node.op, node.name, node.out.map(t => t.split("  ")[0]).join(", ")];
  if (node.us !== null) lines.push(`${time(node.us)}, ${percent(node.share)} of the run`);
  if (node.gflops) lines.push(`${count(node.gflops)} GFLOP/s`);
  if (node.view) lines.push("moves nothing");
  return lines.filter(Boolean).join("\n");
}

// ---- Picking a node picks it everywhere.
const pickers = [];
function pick(index, from) { for (const picker of pickers) picker(index, from); }

// ---- Timeline: drag a range to zoom in, double click to see all again.
function timeline() {
  const home = $("timeline"), run = data.run, end = Math.max(...run.map(e => e.at + e.us), 1e-9);
  const tools = make("div", {class: "tools"}, "drag to zoom ", home);
  const svg = make("svg", {height: 122}, "", home);
  const left = 66, rows = {run: 24, segment: 48, node: 72};
  let from = 0, to = end, picked = -1, grabbed = null;
  const reset = make("button", {}, "all", tools);
  const width = () => Math.max(home.clientWidth - 28, 200);
  const x = us => left + (us - from) / (to - from) * (width() - left);
  const us = px => clamp(from + (px - left) / (width() - left) * (to - from), 0, end);

  function show() {
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width()} 122`);
    const step = [1, 2, 5, 10].map(f => f * 10 ** Math.floor(Math.log10((to - from) / 8))).find(s => (to - from) / s <= 9);
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      make("line", {x1: x(t), x2: x(t), y1: 18, y2: 118}, "", svg);
      make("text", {x: x(t), y: 12, "text-anchor": t === 0 ? "start" : x(t) > width() - 24 ? "end" : "middle"}, t ? time(t) : "0", svg);
    }
    for (const [name, y] of Object.entries(rows)) make("text", {x: 0, y: y + 14}, name + (name === "run" ? "" : "s"), svg);
    for (const event of run) {
      const x0 = Math.max(x(event.at), left), x1 = Math.min(x(event.at + event.us), width());
      if (x1 <= left || x0 >= width()) continue;
      const node = event.node >= 0 ? data.nodes[event.node] : null;
      const row = rows[event.kind] || rows.node, tall = event.kind in rows && !node ? 20 : 46;
      const whole = !node && event.kind in rows;
      const box = make("rect", {
        class: "event" + (whole ? " whole" : "") + (node && event.node === picked ? " picked" : ""),
        x: x0, y: row, width: Math.max(x1 - x0, 0.4), height: tall, rx: x1 - x0 > 6 ? 2 : 0}, "", svg);
      if (!whole) box.style.fill = colorOf(node ? node.kind : event.kind);
      const label = node ? node.op : event.device || event.kind;
      const most = Math.floor((x1 - x0 - 8) / 6.4), shown = most < Math.min(9, label.length) ? "" : clipped(label, most);
      if (shown) make("text", {class: whole ? "name" : "in", x: x0 + 5, y: row + 14}, shown, svg);
      if (node && shown) make("text", {class: "in", x: x0 + 5, y: row + 31}, clipped(time(event.us), most), svg);
      tips.set(box, () => (node ? told(node) : label) + `\nhere ${time(event.us)}, ${time(event.at)} after the start`);
      if (node) box.addEventListener("click", () => pick(event.node, "timeline"));
    }
    reset.hidden = !(from > 0 || to < end);
  }
  const place = event => clamp((event.clientX - svg.getBoundingClientRect().left), left, width());
  svg.addEventListener("pointerdown", event => { grabbed = place(event); });
  addEventListener("pointermove", event => {
    svg.querySelector(".range")?.remove();
    if (grabbed === null || Math.abs(place(event) - grabbed) < 4) return;
    const [a, b] = [grabbed, place(event)].sort((p, q) => p - q);
    make("rect", {class: "range", x: a, y: 18, width: b - a, height: 102}, "", svg);
  });
  addEventListener("pointerup", event => {
    if (grabbed === null) return;
    const [a, b] = [grabbed, place(event)].sort((p, q) => p - q).map(us);
    if (Math.abs(place(event) - grabbed) > 5 && b - a > end * 1e-5) { [from, to] = [a, b]; show(); }
    grabbed = null;
  });
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = us(place(event)), factor = Math.exp(event.deltaY / 300);
    from = clamp(at - (at - from) * factor, 0, end);
    to = clamp(at + (to - at) * factor, from + end * 1e-5, end);
    show();
  }, {passive: false});
  const all = () => { [from, to] = [0, end]; show(); };
  svg.addEventListener("dblclick", all);
  reset.addEventListener("click", all);
  addEventListener("resize", show);
  pickers.push(index => { picked = index; show(); });
  show();
}

// ---- Bars
const measured = (data.nodes || []).map((node, index) => ({...node, index})).filter(n => n.us !== null).sort((a, b) => b.us - a.us);
const hottest = measured.length ? measured[0].us : 1;

function bars() {
  const home = $("bars"), rows = new Map();
  for (const node of measured) {
    const row = make("div", {class: "row"}, "", home);
    const what = make("div", {class: "what"}, node.op, row);
    make("span", {}, node.short, what);
    make("div", {class: "time"}, time(node.us), row);
    make("div", {class: "share"}, percent(node.share), row);
    const bar = make("i", {}, "", make("div", {class: "track"}, "", row));
    bar.style.width = node.us / hottest * 100 + "%";
    bar.style.background = colorOf(node.kind);
    tips.set(row, () => told(node));
    row.addEventListener("click", () => pick(node.index, "bars"));
    rows.set(node.index, row);
  }
  if (!measured.length) make("p", {class: "dim"}, "no device here records its nodes", home);
  let last = null;
  pickers.push((index, from) => {
    last?.classList.remove("picked");
    last = rows.get(index);
    last?.classList.add("picked");
    if (last && from !== "bars") home.scrollTop = last.offsetTop - home.offsetTop - home.clientHeight / 3;
  });
}

// ---- Graph
function graph() {
  const home = $("graph"), drawn = data.graph;
  if (!drawn) { make("p", {class: "dim"}, "this graph is too large to draw", home); return; }
  const cell = [194, 62], box = [178, 42], pad = 24;
  const across = drawn.width * cell[0] + box[0] + 2 * pad, down = drawn.layers * cell[1] + 2 * pad;
  const centre = ([x, y]) => [pad + box[0] / 2 + x * cell[0], pad + box[1] / 2 + y * cell[1]];
  const tools = make("div", {class: "tools"});
  home.parentNode.previousElementSibling.prepend(tools);
  const view = make("div", {class: "view"}, "", home);
  const svg = make("svg", {viewBox: `0 0 ${across} ${down}`}, "", view);
  const map = make("svg", {class: "map", viewBox: `0 0 ${across} ${down}`, preserveAspectRatio: "none"}, "", home);
  const lines = drawn.edges.map(path => {
    const points = path.map(centre);
    let d = `M${points[0]}`;
    for (let i = 1; i < points.length; ++i) {
      const [a, b] = [points[i - 1], points[i]], half = (a[1] + b[1]) / 2;
      d += `C${a[0]},${half} ${b[0]},${half} ${b}`;
    }
    return make("path", {d}, "", svg);
  });
  const boxes = data.nodes.map((node, index) => {
    const [x, y] = centre(drawn.at[index]), heat = node.us === null ? 0 : (node.us / hottest) ** 0.7;
    const g = make("g", {class: "node" + (node.view ? " view-only" : "") + (heat > 0.62 ? " hot" : "")}, "", svg);
    const fill = `color-mix(in oklab, var(--hot) ${(heat * 100).toFixed(1)}%, var(--node))`;
    const area = {x: x - box[0] / 2, y: y - box[1] / 2, width: box[0], height: box[1]};
    const rect = make("rect", {...area, rx: 7}, "", g);
    if (!node.view) rect.style.fill = fill;
    make("text", {x: area.x + 9, y: y - 3}, clipped(node.op, 24), g);
    const second = (node.us === null ? "" : time(node.us) + "   ") + (node.out[0] || "").split(/ [a-z]/)[0];
    make("text", {x: area.x + 9, y: y + 13}, clipped(second, 29), g);
    const dot = make("rect", area, "", map);
    dot.style.fill = node.view ? "none" : fill;
    tips.set(g, () => told(node));
    g.addEventListener("click", () => pick(index, "graph"));
    return g;
  });
  const frame = make("rect", {class: "frame"}, "", map);
  let scale = 1;
  const follow = () => {
    for (const [key, value] of Object.entries({x: view.scrollLeft / scale, y: view.scrollTop / scale,
      width: Math.min(view.clientWidth / scale, across), height: Math.min(view.clientHeight / scale, down)}))
      frame.setAttribute(key, value);
  };
  function zoom(wanted, at = [view.clientWidth / 2, view.clientHeight / 2]) {
    const old = [(view.scrollLeft + at[0]) / scale, (view.scrollTop + at[1]) / scale];
    scale = clamp(wanted, 0.04, 3);
    svg.setAttribute("width", across * scale);
    svg.setAttribute("height", down * scale);
    svg.style.margin = across * scale < view.clientWidth ? "0 auto" : "0";
    view.scrollLeft = old[0] * scale - at[0];
    view.scrollTop = old[1] * scale - at[1];
    follow();
  }
  const look = index => {
    const [x, y] = centre(drawn.at[index]);
    view.scrollLeft = x * scale - view.clientWidth / 2;
    view.scrollTop = y * scale - view.clientHeight / 2;
  };
  const buttons = {"−": () => zoom(scale / 1.3), "+": () => zoom(scale * 1.3), "1:1": () => zoom(1),
    "fit": () => zoom(Math.min(view.clientWidth / across, view.clientHeight / down))};
  for (const [name, act] of Object.entries(buttons)) make("button", {}, name, tools).addEventListener("click", act);
  view.addEventListener("scroll", follow);
  addEventListener("resize", follow);
  view.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const area = view.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), [event.clientX - area.left, event.clientY - area.top]);
  }, {passive: false});
  let held = null;
  view.addEventListener("pointerdown", event => { held = [event.clientX + view.scrollLeft, event.clientY + view.scrollTop]; });
  addEventListener("pointermove", event => {
    if (!held) return;
    view.classList.add("dragging");
    view.scrollLeft = held[0] - event.clientX;
    view.scrollTop = held[1] - event.clientY;
  });
  addEventListener("pointerup", () => { held = null; view.classList.remove("dragging"); });
  map.addEventListener("click", event => {
    const area = map.getBoundingClientRect();
    view.scrollLeft = (event.clientX - area.left) / area.width * across * scale - view.clientWidth / 2;
    view.scrollTop = (event.clientY - area.top) / area.height * down * scale - view.clientHeight / 2;
  });
  pickers.push((index, from) => {
    boxes.forEach((g, i) => g.classList.toggle("picked", i === index));
    drawn.ends.forEach((ends, i) => lines[i].classList.toggle("picked", ends.includes(index)));
    if (from !== "graph") look(index);
  });
  zoom(clamp(view.clientWidth / across, 0.85, 1));
}

function details() {
  const home = $("details");
  pickers.push(index => {
    const node = data.nodes[index];
    home.replaceChildren();
    make("h3", {}, node.op, home);
    const list = make("dl", {}, "", home);
    const row = (name, value) => { if (value) { make("dt", {}, name, list); make("dd", {}, value, list); } };
    row("name", node.name);
    if (node.us !== null) row("time", `${time(node.us)} median, ${time(node.min)} least, ${time(node.p95)} p95; ${percent(node.share)} of the run`);
    if (node.macs) row("work", `${count(node.macs)} multiply-adds: ${count(node.gflops)} GFLOP/s`);
    if (node.bytes) row("traffic", bytes(node.bytes) + (node.gbs ? `: ${count(node.gbs)} GB/s` : ""));
    row("out", node.out.join("\n"));
    row("in", node.in.join("\n"));
    row("runs on", node.view ? "nothing: it only renames memory" : node.device + (node.layout ? `, layout ${node.layout}` : ""));
    row("why", node.why);
  });
}

for (const element of document.querySelectorAll("[data-op]")) element.style.setProperty("--c", colorOf(element.dataset.op));
if (data.nodes) {
  timeline();
  bars();
  graph();
  details();
  if (measured.length) pick(measured[0].index, "");
}
