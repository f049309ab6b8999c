// Draws a slice of a field: value as colour, greedy action as marks and borders, support points as dots.

import { h, s, set } from "./dom.js";
import { inkOn, short, ticks, uniform } from "./format.js";
import { isVisited } from "./states.js";

const MARGIN = { left: 44, right: 12, top: 24, bottom: 42 };
const MARK_EVERY = 19; // pixels between two marks of an action, at least
const SHAPES = 5; // actions with a shape of their own; others are numbers

export class FieldDrawing {
  constructor(label) {
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.window = h("div", { class: "field-window" }, this.canvas);
    this.layers = Object.fromEntries(["ground", "imagined", "visited", "bounds", "marks", "laws"]
      .map((name) => [name, s("g", { class: `field-${name}-layer` })]));
    this.here = s("circle", { class: "here", r: 5, "data-tip": "the newest observation" });
    this.cover = s("rect", { class: "field-hover" });
    this.clip = s("rect");
    // Arrows are above the cover, so that their tooltips are found.
    const { ground, laws, ...inside } = this.layers;
    const clipped = (...nodes) => s("g", { "clip-path": "url(#field-clip)" }, nodes);
    this.svg = s("svg", { role: "img", "aria-label": label },
      s("clipPath", { id: "field-clip" }, this.clip), ground,
      clipped(Object.values(inside)), this.cover, clipped(laws), this.here);
    this.element = h("div", { class: "figure" }, this.window, this.svg);
  }

  // --- places ---------------------------------------------------------------------------------------

  // Fit a slice into the element; false if it has no size.
  layout(slice) {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width || !height) return false;
    this.slice = slice;
    this.size = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    const [wide, high] = this.size;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    for (const box of [this.clip, this.cover]) {
      set(box, { x: MARGIN.left, y: MARGIN.top, width: wide, height: high });
    }
    const place = { left: MARGIN.left, top: MARGIN.top, width: wide, height: high };
    for (const [name, pixels] of Object.entries(place)) this.window.style[name] = `${pixels}px`;
    this.scale = [0, 1].map((k) => this.size[k] / (slice.high(k) - slice.low(k)));
    return wide > 0 && high > 0;
  }

  pixel([x, y]) {
    return [MARGIN.left + (x - this.slice.low(0)) * this.scale[0],
      MARGIN.top + this.size[1] - (y - this.slice.low(1)) * this.scale[1]];
  }

  #gridPixel(column, row) {
    const last = this.slice.field.grid - 1;
    return [MARGIN.left + (column / last) * this.size[0], MARGIN.top + (1 - row / last) * this.size[1]];
  }

  // Column and row of the grid point nearest to a place on the screen.
  gridAt({ clientX, clientY }) {
    const box = this.svg.getBoundingClientRect();
    return [(clientX - box.left - MARGIN.left) / this.size[0], 1 - (clientY - box.top - MARGIN.top) / this.size[1]]
      .map((part) => Math.round(Math.min(Math.max(part, 0), 1) * (this.slice.field.grid - 1)));
  }

  // --- drawing --------------------------------------------------------------------------------------

  // `frame` is the model of the step, or null for no support points. Gives { visited, imagined }: how
  // many of them are drawn.
  draw(frame, row) {
    this.#drawAxes();
    this.#drawValue();
    this.#drawPolicy();
    this.here.style.display = row ? "" : "none";
    if (row) {
      const [cx, cy] = this.pixel(this.slice.coordinates(row.point));
      set(this.here, { cx, cy });
    }
    return this.#drawPoints(frame?.components.values() ?? []);
  }

  #drawAxes() {
    const { slice } = this;
    const [wide, high] = this.size;
    const bottom = MARGIN.top + high;
    const marks = [];
    for (const value of ticks(slice.low(0), slice.high(0), Math.min(7, wide / 60))) {
      marks.push(s("text", { class: "tick", x: this.pixel([value, 0])[0], y: bottom + 16,
        "text-anchor": "middle" }, short(value)));
    }
    for (const value of ticks(slice.low(1), slice.high(1))) {
      marks.push(s("text", { class: "tick", x: MARGIN.left - 6, y: this.pixel([0, value])[1],
        dy: "0.35em", "text-anchor": "end" }, short(value)));
    }
    const [horizontal, vertical] = slice.axes.map((k) => slice.labels[k]);
    marks.push(s("text", { class: "axis", x: MARGIN.left + wide, y: bottom + 34, "text-anchor": "end" },
      horizontal), s("text", { class: "axis", x: 6, y: 14 }, vertical));
    this.layers.ground.replaceChildren(...marks);
  }

  #drawValue() {
    const n = this.slice.field.grid;
    [this.low, this.high] = this.slice.range;
    this.canvas.width = n;
    this.canvas.height = n;
    const image = new ImageData(n, n);
    for (let row = 0; row < n; row += 1) {
      for (let column = 0; column < n; column += 1) {
        const rgb = this.#colour(this.slice.value(column, row));
        image.data.set([...rgb.map(Math.round), 255], 4 * ((n - 1 - row) * n + column));
      }
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    // A pixel stands for a grid point: half of the outer ones is outside.
    this.size.forEach((length, k) => {
      const step = length / (n - 1);
      this.canvas.style[k ? "height" : "width"] = `${length + step}px`;
      this.canvas.style[k ? "top" : "left"] = `${-step / 2}px`;
    });
  }

  #colour(value) {
    if (value === null) return [128, 128, 128];
    return uniform(this.high > this.low ? (value - this.low) / (this.high - this.low) : 0.5);
  }

  // The support points whose held features are nearest to the levels of this slice.
  #drawPoints(components) {
    const parts = { visited: "", imagined: "" };
    const drawn = { visited: 0, imagined: 0 };
    for (const component of components) {
      if (!this.slice.holds(component.mean)) continue;
      const [x, y] = this.pixel(this.slice.coordinates(component.mean));
      const kind = isVisited(component) ? "visited" : "imagined";
      parts[kind] += `M${f(x)} ${f(y)}h0`;
      drawn[kind] += 1;
    }
    for (const kind of ["visited", "imagined"]) {
      this.layers[kind].replaceChildren(s("path", { class: `field-${kind}`, d: parts[kind] }));
    }
    return drawn;
  }

  #drawPolicy() {
    const { slice } = this;
    const n = slice.field.grid;
    const step = [this.size[0] / (n - 1), this.size[1] / (n - 1)];
    this.layers.bounds.replaceChildren(s("path", { class: "field-bound", d: this.#bounds(n, step) }));
    const every = step.map((pixels) => Math.max(1, Math.ceil(MARK_EVERY / pixels)));
    const marks = [];
    for (let row = Math.floor(every[1] / 2); row < n; row += every[1]) {
      for (let column = Math.floor(every[0] / 2); column < n; column += every[0]) {
        const action = slice.action(column, row);
        if (action < 0) continue;
        marks.push(mark(action, ...this.#gridPixel(column, row), inkOn(this.#colour(slice.value(column, row)))));
      }
    }
    this.layers.marks.replaceChildren(...marks);
  }

  // The lines between grid points of different actions.
  #bounds(n, step) {
    let bounds = "";
    for (let row = 0; row < n; row += 1) {
      for (let column = 0; column < n; column += 1) {
        const [x, y] = this.#gridPixel(column, row);
        const own = this.slice.action(column, row);
        const [right, top] = [x + step[0] / 2, y - step[1] / 2];
        if (column < n - 1 && this.slice.action(column + 1, row) !== own) {
          bounds += `M${f(right)} ${f(top)}v${f(step[1])}`;
        }
        if (row < n - 1 && this.slice.action(column, row + 1) !== own) {
          bounds += `M${f(right)} ${f(top)}h${f(-step[0])}`;
        }
      }
    }
    return bounds;
  }
}

function f(value) { return value.toFixed(1); }

// The mark of an action; also used in the legend.
export function mark(action, x, y, ink) {
  const at = { class: "field-mark", transform: `translate(${f(x)} ${f(y)})`, fill: ink };
  if (action >= SHAPES) return s("text", { ...at, "font-size": 9, "text-anchor": "middle", dy: "0.35em" }, action);
  const outline = { ...at, fill: "none", style: `stroke:${ink};stroke-width:1.1` };
  if (action === 0) return s("circle", { ...outline, r: 2.3 });
  if (action === 1) return s("circle", { ...at, r: 2.3 });
  if (action === 2) return s("path", { ...at, d: "M-2.8 2.2L0 -2.8L2.8 2.2z" });
  if (action === 3) return s("path", { ...outline, d: "M-2.1 -2.1h4.2v4.2h-4.2z" });
  return s("path", { ...outline, d: "M-2.4 -2.4L2.4 2.4M-2.4 2.4L2.4 -2.4" });
}
