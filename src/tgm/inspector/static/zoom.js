// Zoom and pan of a drawing: buttons, keys, wheel with ctrl, drag, two fingers.

import { h } from "./dom.js";

const MOST = 200; // times nearer than the whole
const STEP = 1.5; // of a press of a button

export class Zoom {
  constructor(figure) {
    this.figure = figure;
    this.pointers = new Map();
    const button = (words, label, act) => h("button", { type: "button", "aria-label": label,
      "data-tip": `${label}; arrow keys move the view while the focus is here`, onclick: act }, words);
    this.element = h("div", { class: "zoom", role: "group", "aria-label": "zoom" },
      button("+", "nearer", () => this.by(STEP)),
      button("−", "further", () => this.by(1 / STEP)),
      button("⤢", "show everything", () => this.#set(null)));
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.wasDragged = false;
  }

  // Listen to the drawing; `ctx` holds the zoom that all drawings share.
  listen(ctx) {
    this.ctx = ctx;
    const { svg } = this.figure;
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      this.by(Math.exp(-event.deltaY / 300), this.#at(event));
    }, { passive: false });
    svg.addEventListener("dblclick", (event) => this.by(STEP * STEP, this.#at(event)));
    svg.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, this.#at(event));
      this.wasDragged = false;
    });
    svg.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
  }

  #at(event) {
    const box = this.figure.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.figure.plane) return;
    const now = this.#at(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    if (others.length === 1) {
      const [other] = others;
      const apart = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
      this.wasDragged = true;
      this.by(apart(now) / apart(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    } else if (!others.length && this.ctx.zoom) {
      const way = [now[0] - before[0], now[1] - before[1]];
      if (!this.wasDragged && Math.hypot(...way) < 4) return; // still a click
      this.wasDragged = true;
      this.pan(way);
    } else return;
    this.pointers.set(event.pointerId, now);
  }

  // What will be shown: of two fingers both move before the next drawing.
  get #window() { return this.ctx.zoom ?? this.figure.plane; }

  // Nearer by a factor; the plane's point at `pixel` stays where it is.
  by(factor, pixel = null) {
    const { figure } = this;
    if (!figure.plane) return;
    const { low, high } = this.#window;
    const whole = figure.plane;
    const middle = [0, 1].map((k) => (low[k] + high[k]) / 2);
    const at = pixel ? figure.planeAt(pixel) : middle;
    const now = (whole.high[0] - whole.low[0]) / (high[0] - low[0]);
    const by = Math.min(factor, MOST / now);
    if (now * by <= 1.001) {
      this.#set(null);
      return;
    }
    this.#set({ low: low.map((value, k) => at[k] + (value - at[k]) / by),
      high: high.map((value, k) => at[k] + (value - at[k]) / by) });
  }

  pan([dx, dy]) {
    const { low, high } = this.#window;
    const [sx, sy] = this.figure.scale;
    // The middle of what is shown stays within the whole.
    const way = [-dx / sx, dy / sy].map((value, k) => {
      const middle = (low[k] + high[k]) / 2;
      return Math.min(Math.max(value, this.figure.plane.low[k] - middle), this.figure.plane.high[k] - middle);
    });
    this.#set({ low: low.map((value, k) => value + way[k]), high: high.map((value, k) => value + way[k]) });
  }

  #set(zoom) { this.ctx.setZoom(zoom); }

  #key(event) {
    const ways = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    const way = ways[event.key];
    if (!way || !this.ctx.zoom) return;
    event.preventDefault();
    event.stopPropagation();
    this.pan(way);
  }
}
