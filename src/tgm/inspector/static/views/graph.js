// Transition graph: an edge per action. Width: probability. Opacity: belief in the outcome.

import { AxesControl } from "../axes-control.js";
import { Keyed, checkbox, h, legendItem, panel, s, set, swatch } from "../dom.js";
import { Figure } from "../figure.js";
import { actionColour, count, percent, short } from "../format.js";
import { arc, arcPaths, loop, loopPath, traceArc, traceLoop } from "../arrows.js";

const LEAST = 0.03; // probability; less likely edges are not drawn
const MOST_EDGES = 8000;
const MOST_NODES = 600; // edges with an element each; of more, all are pixels
const MOST_MOVING = 2000; // edges that are drawn while the view moves
const CALM = 150; // milliseconds without a move, after which all edges are drawn
const INK = 0.5; // pixels of edges for each pixel of the drawing, at most
const OPACITIES = 6; // that edges as pixels can have

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

  // While the view moves, the edges with the highest counts are drawn.
  zoomed() {
    clearTimeout(this.timer);
    this.#render(MOST_MOVING);
    this.timer = setTimeout(() => this.update(), CALM);
  }

  update() { this.#render(MOST_EDGES); }

  // `most`: how many edges are drawn as pixels.
  #render(most) {
    const { ctx, figure } = this;
    if (!this.element.clientWidth) return;
    this.#drawToggles();
    this.axes.update();
    if (!figure.layout(ctx)) return;
    const edges = this.#edges();
    const isMany = figure.isMany(ctx) || edges.length > MOST_NODES;
    this.edges.update(isMany ? [] : edges, (edge) => edge.key, (node, edge) => this.#draw(node, edge));
    figure.drawStates(ctx, (component) => ({ tip: () => `state ${component.id}, ${short(component.weight)} points`,
      class: " in-graph", fill: "var(--accent)", fillOpacity: 0.06 }));
    if (isMany) this.#drawMany(edges.length > most ? edges.slice(0, most) : edges);
    set(figure.svg, { "data-step": ctx.step, "data-edges": edges.length });
    this.note.textContent = this.isCut ? `the ${count(edges.length)} edges with the highest counts are drawn` : "";
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
      this.looks = new Map();
      this.all = this.#allEdges();
    }
    const seen = this.figure.seenStates(ctx);
    const found = this.all.filter(({ id, next }) => seen.has(id) || seen.has(next.id));
    const most = found.length > MOST_NODES ? this.#mostEdges(found) : found.length;
    this.isCut = found.length > most;
    return this.isCut ? found.slice(0, most) : found;
  }

  // How many of these edges can be told apart: the longer they are, the fewer.
  #mostEdges(edges) {
    const { ctx, figure } = this;
    const shape = (id) => figure.shape(ctx.frame.components.get(id));
    const [left, top, right, bottom] = figure.bounds;
    let space = INK * (right - left) * (bottom - top);
    const isFull = ({ id, next }) => {
      const [from, to] = [shape(id), shape(next.id)];
      space -= Math.hypot(to.x - from.x, to.y - from.y);
      return space < 0;
    };
    const most = edges.slice(0, MOST_EDGES).findIndex(isFull);
    return most < 0 ? MOST_EDGES : Math.max(most, MOST_NODES);
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
          found.push({ id, action, row, next, look: this.#look(action, row, next),
            get key() { return `${ctx.id}:${id}:${action}:${next.id}`; } });
        }
      });
    }
    if (found.length <= MOST_NODES) return found;
    return found.sort((a, b) => b.row.visits * b.next.p - a.row.visits * a.next.p);
  }

  // The look of an edge as pixels: one object for all edges that look the same.
  #look(action, row, next) {
    const look = { colour: actionColour(this.ctx.actionNames, action),
      alpha: Math.max(Math.round(opacityOf(row, next) * OPACITIES) / OPACITIES, 0.08),
      width: Math.round(2 * (0.4 + 1.4 * next.p)) / 2 };
    const key = Object.values(look).join();
    if (!this.looks.has(key)) this.looks.set(key, look);
    return this.looks.get(key);
  }

  #drawMany(edges) {
    const { ctx, figure } = this;
    if (!figure.many.drawn) figure.beginMany();
    const shape = (id) => figure.shape(ctx.frame.components.get(id));
    figure.many.edges(edges, (context, { id, action, next, look }) => {
      if (id === next.id) traceLoop(context, loop(shape(id), action));
      else traceArc(context, shape(id), shape(next.id), look.width);
    });
  }

  #draw(node, { id, action, row, next }) {
    const { ctx, figure } = this;
    const from = ctx.frame.components.get(id);
    const to = ctx.frame.components.get(next.id);
    const drawn = node.drawn ?? {};
    if (drawn.row === row && drawn.from === from && drawn.to === to && drawn.key === figure.key) return;
    node.drawn = { row, from, to, key: figure.key, id, action, next };
    const width = 0.5 + 2.7 * next.p;
    const [shaft, tip] = id === next.id ? [loopPath(loop(figure.shape(from), action)), ""]
      : arcPaths(arc(figure.shape(from), figure.shape(to), width));
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


