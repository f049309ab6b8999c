// Transition graph: an edge per action. Width: probability. Opacity: belief in the outcome.

import { AxesControl } from "../axes-control.js";
import { Keyed, checkbox, h, legendItem, panel, s, set, swatch } from "../dom.js";
import { Figure } from "../figure.js";
import { actionColour, percent, short } from "../format.js";

const LEAST = 0.03; // probability; less likely edges are not drawn
const MOST_EDGES = 2000;
const MOST_NODES = 1200; // edges with an element each; of more, all are pixels

export class Graph {
  constructor(ctx) {
    this.ctx = ctx;
    this.figure = new Figure("Transition graph");
    this.figure.onSelect(ctx);
    this.edges = new Keyed(this.figure.edges, ({ key, action }) => s("g", { class: "edge",
      "data-edge": key, color: actionColour(ctx.actionNames, action) },
    s("path", { class: "shaft" }), s("path", { class: "tip" })));
    this.figure.edges.addEventListener("mouseover", (event) => this.#explain(event));
    this.axes = new AxesControl(ctx);
    this.hidden = new Set();
    this.showSelf = false;
    this.toggles = h("span", { class: "toggles" });
    this.note = h("span", { class: "muted" });
    this.element = panel({
      title: "Transition graph",
      id: "graph",
      help: "Where each action leads. Width: probability. Opacity: how sure the agent can be of it, by the "
        + "probability and the number of tries. "
        + "Arrows bend to the right of their direction. A selected state shows "
        + "only its own edges, in and out.",
      controls: [this.axes.element, this.toggles, checkbox("stays", this.showSelf, (on) => {
        this.showSelf = on;
        ctx.redraw("option");
      }, "also the actions that lead back to the same state, as loops")],
      legend: [
        legendItem(swatch({ class: "wide-key" }), "likely", "a wide edge has a probability near one"),
        legendItem(swatch({ class: "narrow-key" }), "unlikely", "a narrow edge has a low probability"),
        legendItem(swatch({ class: "faint-key" }), "little evidence", "a faint edge was tried about once, or is one outcome of many"),
        this.note,
      ],
    }, this.figure.element);
  }

  update() {
    const { ctx, figure } = this;
    this.#drawToggles();
    this.axes.update();
    if (!figure.layout(ctx)) return;
    const edges = this.#edges();
    const isMany = figure.isMany(ctx) || edges.length > MOST_NODES;
    this.edges.update(isMany ? [] : edges, (edge) => edge.key, (node, edge) => this.#draw(node, edge));
    figure.drawStates(ctx, (component) => ({ tip: `state ${component.id}, ${short(component.weight)} points`,
      class: " in-graph", fill: "var(--accent)", fillOpacity: 0.06 }));
    if (isMany) this.#drawMany(edges);
    set(figure.svg, { "data-step": ctx.step, "data-edges": edges.length });
    this.note.textContent = this.isCut ? `the ${MOST_EDGES} edges with the highest counts are drawn` : "";
  }

  #drawToggles() {
    const { ctx } = this;
    if (this.togglesOf === ctx.id) return;
    this.togglesOf = ctx.id;
    this.hidden.clear();
    this.toggles.replaceChildren(...ctx.actionNames.slice(0, 20).map((name, action) => {
      const button = h("button", { type: "button", class: "chip", "aria-pressed": "true",
        "data-tip": `show or hide the edges of '${name}'`,
        onclick: () => {
          if (!this.hidden.delete(action)) this.hidden.add(action);
          button.setAttribute("aria-pressed", String(!this.hidden.has(action)));
          ctx.redraw("option");
        } },
      h("span", { class: "dot", style: `background:${actionColour(ctx.actionNames, action)}` }), name);
      return button;
    }));
  }

  // The edges in sight; with very many, those with the highest counts.
  #edges() {
    const { ctx } = this;
    if (!ctx.frame) return [];
    const key = [ctx.id, ctx.selected, this.showSelf, ...this.hidden].join();
    if (this.allOf !== ctx.frame || this.allKey !== key) {
      [this.allOf, this.allKey] = [ctx.frame, key];
      this.all = this.#allEdges();
    }
    const seen = this.figure.seenStates(ctx);
    const found = this.all.filter(({ id, next }) => seen.has(id) || seen.has(next.id));
    this.isCut = found.length > MOST_EDGES;
    return this.isCut ? found.slice(0, MOST_EDGES) : found;
  }

  // All edges of this step; if they are too many, the highest counts come first.
  #allEdges() {
    const { ctx } = this;
    const { frame, selected } = ctx;
    const found = [];
    for (const [id, rows] of frame.rows) {
      if (!frame.components.has(id)) continue;
      rows.forEach((row, action) => {
        if (!row || this.hidden.has(action)) return;
        for (const next of row.next) {
          if (next.p < LEAST || !frame.components.has(next.id)) continue;
          if (next.id === id && !this.showSelf) continue;
          if (selected !== null && id !== selected && next.id !== selected) continue;
          found.push({ key: `${ctx.id}:${id}:${action}:${next.id}`, id, action, row, next });
        }
      });
    }
    if (found.length <= MOST_EDGES) return found;
    return found.sort((a, b) => b.row.visits * b.next.p - a.row.visits * a.next.p);
  }

  #drawMany(edges) {
    const { ctx, figure } = this;
    if (!figure.many.drawn) figure.beginMany();
    figure.many.edges(edges.map(({ id, action, row, next }) => {
      const width = Math.max(0.5, 0.4 + 1.4 * next.p);
      const from = figure.shape(ctx.frame.components.get(id));
      const [shaft, tip] = id === next.id ? loop(from, action)
        : arc(from, figure.shape(ctx.frame.components.get(next.id)), width);
      return { shaft, tip, width, opacity: opacityOf(row, next), colour: actionColour(ctx.actionNames, action) };
    }));
  }

  #draw(node, { id, action, row, next }) {
    const { ctx, figure } = this;
    const from = ctx.frame.components.get(id);
    const to = ctx.frame.components.get(next.id);
    const drawn = node.drawn ?? {};
    if (drawn.row === row && drawn.from === from && drawn.to === to && drawn.key === figure.key) return;
    node.drawn = { row, from, to, key: figure.key, id, action, next };
    const width = 0.5 + 2.7 * next.p;
    const [shaft, tip] = id === next.id ? loop(figure.shape(from), action)
      : arc(figure.shape(from), figure.shape(to), width);
    set(node.children[0], { d: shaft, "stroke-width": width.toFixed(2) });
    set(node.children[1], { d: tip });
    set(node, { opacity: opacityOf(row, next).toFixed(2) });
  }

  // The text of an edge is made when the mouse is over it.
  #explain(event) {
    const node = event.target.closest(".edge");
    if (!node?.drawn) return;
    const { id, action, row, next } = node.drawn;
    node.setAttribute("data-tip", `${this.ctx.actionNames[action]}: state ${id} → ${next.id}\n`
      + `probability ${percent(next.p)}, ${short(row.visits)} tries\nreward ${short(row.reward)}`
      + `${row.end > 0.01 ? `, ends with ${percent(row.end)}` : ""}`);
  }
}

// How sure the agent can be of an outcome: its probability, less with few tries.
function opacityOf(row, next) { return 0.12 + (0.88 * next.p * row.visits) / (row.visits + 1); }

// A bent arrow between the rims of two states, to the right of its direction: [shaft, head].
function arc(from, to, width) {
  const { x: ax, y: ay } = from;
  const { x: bx, y: by } = to;
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const ux = (bx - ax) / length;
  const uy = (by - ay) / length;
  const rim = ({ rx, ry }) => Math.min(0.86 * Math.min(rx, ry), 0.27 * length);
  const side = Math.min(6, 0.12 * length);
  const head = 4 + 1.6 * width;
  const [sx, sy] = [ax + ux * rim(from) - uy * side, ay + uy * rim(from) + ux * side];
  const [ex, ey] = [bx - ux * (rim(to) + 2) - uy * side, by - uy * (rim(to) + 2) + ux * side];
  const bend = side + 0.05 * length;
  const [cx, cy] = [(ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend];
  const angle = Math.atan2(ey - cy, ex - cx);
  const [wx, wy] = [Math.cos(angle), Math.sin(angle)];
  const [nx, ny] = [ex - wx * head, ey - wy * head];
  const half = 0.5 * head;
  return [
    `M${f(sx)} ${f(sy)}Q${f(cx)} ${f(cy)} ${f(nx)} ${f(ny)}`,
    `M${f(ex)} ${f(ey)}L${f(nx - wy * half)} ${f(ny + wx * half)}L${f(nx + wy * half)} ${f(ny - wx * half)}z`,
  ];
}

function loop({ x, y, rx: r }, action) {
  const angle = -Math.PI / 2 + (action * 2 * Math.PI) / 5;
  const rim = Math.min(r, 26);
  const [px, py] = [x + rim * Math.cos(angle), y + rim * Math.sin(angle)];
  const out = 16;
  const at = (turn) => `${f(px + out * Math.cos(angle + turn))} ${f(py + out * Math.sin(angle + turn))}`;
  return [`M${f(px)} ${f(py)}C${at(-0.7)} ${at(0.7)} ${f(px)} ${f(py)}`, ""];
}

function f(value) { return value.toFixed(1); }
