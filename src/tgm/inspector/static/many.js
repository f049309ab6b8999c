// Very many states, edges and arrows, drawn as pixels: elements of the page would be too slow.

import { h } from "./dom.js";

export const MANY = 500; // states in sight; of more, no element each
const BINS = 6; // opacities of edges
const NEAR = 4; // pixels: a click so near to a state is on it

export class ManyLayer {
  constructor() {
    this.canvas = h("canvas", { class: "many", "aria-hidden": "true", width: 0, height: 0 });
    this.drawn = null; // [{ component, shape, tip }] of the last drawing
  }

  // An empty canvas of this size; `inside` is the rectangle that is drawn on.
  begin(width, height, inside) {
    const ratio = window.devicePixelRatio || 1;
    this.drawn = [];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const style = getComputedStyle(document.documentElement);
    this.colour = (words) => (words?.startsWith("var(")
      ? style.getPropertyValue(words.slice(4, -1)).trim() : words);
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.beginPath();
    this.context.rect(inside.x, inside.y, inside.width, inside.height);
    this.context.clip();
  }

  clear() {
    if (this.drawn) this.canvas.width = 0;
    this.drawn = null;
  }

  // items: [{ component, shape, look, kind }]; kind is "visited", "imagined", "plain" or "ellipse".
  states(items) {
    const { context, colour } = this;
    this.drawn = items;
    const accent = colour("var(--accent)");
    const line = { plain: colour("var(--ink-soft)"), ellipse: accent };
    const dot = { visited: [accent, 0.75], imagined: [colour("var(--point)"), 0.3] };
    for (const { shape, look, kind } of items) {
      context.beginPath();
      context.ellipse(shape.x, shape.y, shape.rx, shape.ry, (shape.angle * Math.PI) / 180, 0, 2 * Math.PI);
      const fill = dot[kind] && !look.isValue ? dot[kind][0] : colour(look.fill);
      if (fill && fill !== "none") {
        context.globalAlpha = dot[kind] && !look.isValue ? dot[kind][1] : look.fillOpacity ?? 1;
        context.fillStyle = fill;
        context.fill();
      }
      context.globalAlpha = look.fillOpacity ? 0.6 : 1;
      if (!line[kind]) continue;
      context.strokeStyle = line[kind];
      context.lineWidth = shape.rx < 6 ? 0.7 : 1.2;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // edges: [{ colour, opacity, width, shaft, tip }]; those that look the same are one path.
  edges(edges) {
    const groups = new Map();
    for (const edge of edges) {
      const key = `${edge.colour}|${Math.round(edge.opacity * BINS) / BINS}|${Math.round(2 * edge.width) / 2}`;
      const group = groups.get(key) ?? { shafts: [], tips: [] };
      group.shafts.push(edge.shaft);
      group.tips.push(edge.tip);
      groups.set(key, group);
    }
    const { context } = this;
    for (const [key, { shafts, tips }] of groups) {
      const [colour, opacity, width] = key.split("|");
      context.globalAlpha = Math.max(Number(opacity), 0.08);
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.lineWidth = Number(width);
      context.stroke(new Path2D(shafts.join("")));
      context.fill(new Path2D(tips.join("")));
    }
    context.globalAlpha = 1;
  }

  // arrows: Map of ink -> path.
  arrows(paths) {
    const { context } = this;
    context.lineWidth = 1.3;
    context.lineCap = "round";
    for (const [ink, path] of paths) {
      context.strokeStyle = ink;
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
