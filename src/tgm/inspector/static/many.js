// Very many states, edges and arrows, drawn as pixels: elements of the page would be too slow.

import { h } from "./dom.js";

export const MANY = 250; // states in sight: of more, no element each
const TINY = 2; // pixels: the radius of a state of which the shape cannot be seen
const NEAR = 4; // pixels: a click so near to a state is on it

export class ManyLayer {
  constructor() {
    this.canvas = h("canvas", { class: "many", "aria-hidden": "true", width: 0, height: 0 });
    this.drawn = null; // [{ component, shape, tip }] of the last drawing
  }

  // An empty canvas of this size; `inside` is the rectangle that is drawn on.
  begin(width, height, inside) {
    const ratio = window.devicePixelRatio || 1;
    const size = [width, height].map((length) => Math.round(length * ratio));
    const { canvas } = this;
    this.drawn = [];
    this.context ??= canvas.getContext("2d");
    this.context.restore();
    if (canvas.width !== size[0]) [canvas.width] = size;
    if (canvas.height !== size[1]) [, canvas.height] = size;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.context.save();
    this.context.beginPath();
    this.context.rect(inside.x, inside.y, inside.width, inside.height);
    this.context.clip();
    const style = getComputedStyle(document.documentElement);
    const known = new Map();
    this.colour = (words) => {
      if (!words?.startsWith("var(")) return words;
      if (!known.has(words)) known.set(words, style.getPropertyValue(words.slice(4, -1)).trim());
      return known.get(words);
    };
  }

  clear() {
    if (this.drawn) [this.canvas.width, this.canvas.height] = [0, 0];
    this.drawn = null;
  }

  // [[x, y]] of observations, and of those of the selected state.
  points(others, own) {
    const { context, colour } = this;
    for (const [places, ink, alpha, size] of [[others, "var(--point)", 0.4, 2], [own, "var(--select)", 0.8, 3]]) {
      context.fillStyle = colour(ink);
      context.globalAlpha = alpha;
      for (const [x, y] of places) context.fillRect(x - size / 2, y - size / 2, size, size);
    }
    context.globalAlpha = 1;
  }

  // items: [{ component, shape, look, kind }]; kind: "visited", "imagined", "plain", "changed", "ellipse".
  // Those that look the same are one path.
  states(items) {
    const { context, colour } = this;
    this.drawn = items;
    const accent = colour("var(--accent)");
    const line = { plain: colour("var(--ink-soft)"), changed: colour("var(--select)"), ellipse: accent };
    const dot = { visited: [accent, 0.75], imagined: [colour("var(--point)"), 0.3] };
    const groups = grouped(items, ({ shape, look, kind }) => {
      const isDot = dot[kind] && !look.isValue;
      return { fill: isDot ? dot[kind][0] : colour(look.fill) ?? "none", alpha: isDot ? dot[kind][1] : look.fillOpacity ?? 1,
        line: line[kind], lineAlpha: look.fillOpacity ? 0.6 : 1, width: kind === "changed" ? 2 : shape.rx < 6 ? 0.7 : 1.2 };
    });
    for (const [look, members] of groups) {
      context.beginPath();
      for (const { shape } of members) outline(context, shape);
      if (look.fill !== "none") {
        context.globalAlpha = look.alpha;
        context.fillStyle = look.fill;
        context.fill();
      }
      if (!look.line) continue;
      context.globalAlpha = look.lineAlpha;
      context.strokeStyle = look.line;
      context.lineWidth = look.width;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // edges: [{ look: { colour, alpha, width } }]; those with the same look are one path, to which
  // trace(context, edge) adds the lines of one.
  edges(edges, trace) {
    const { context } = this;
    for (const [{ colour, alpha, width }, members] of Map.groupBy(edges, ({ look }) => look)) {
      context.globalAlpha = alpha;
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      for (const edge of members) trace(context, edge);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // arrows: Map of ink -> path.
  arrows(paths) {
    const { context } = this;
    context.lineWidth = 1.3;
    context.lineCap = "round";
    for (const [ink, path] of paths) {
      context.strokeStyle = this.colour(ink);
      context.stroke(new Path2D(path));
    }
  }

  // The drawn state at a place, the nearest one, or null.
  at([x, y]) {
    let best = null;
    let least = Infinity;
    for (const item of this.drawn ?? []) {
      const far = Math.hypot(item.shape.x - x, item.shape.y - y);
      if (far < least && far <= Math.max(item.shape.rx, NEAR)) {
        best = item;
        least = far;
      }
    }
    return best;
  }
}

// [[look, items]]: items of which lookOf gives the same values.
function grouped(items, lookOf) {
  const groups = new Map();
  for (const item of items) {
    const look = lookOf(item);
    const key = Object.values(look).join();
    const group = groups.get(key);
    if (group) group[1].push(item);
    else groups.set(key, [look, [item]]);
  }
  return [...groups.values()];
}

// Adds a state to the path; one of a few pixels is a square.
function outline(context, { x, y, rx, ry, angle }) {
  if (rx < TINY) {
    context.rect(x - rx, y - ry, 2 * rx, 2 * ry);
    return;
  }
  const turn = (angle * Math.PI) / 180;
  context.moveTo(x + rx * Math.cos(turn), y + rx * Math.sin(turn));
  context.ellipse(x, y, rx, ry, turn, 0, 2 * Math.PI);
}
