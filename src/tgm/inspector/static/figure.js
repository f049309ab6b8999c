// A drawing of the observation space: walls or axes below, states on top.

import { Keyed, h, s, set } from "./dom.js";
import { short, ticks } from "./format.js";
import { planeOf, project, projectCovariance } from "./plane.js";

let figures = 0;

const MARGIN = { left: 30, right: 8, top: 8, bottom: 24 };
const MOST_STATES = 2000; // drawn at most
const FAR = 1e5; // pixels: outside every screen
const LABELLED = { left: 44, right: 10, top: 24, bottom: 42 }; // space for longer labels

// A number of pixels that SVG can draw.
function bounded(pixels) {
  if (pixels >= -FAR && pixels <= FAR) return pixels;
  return pixels > 0 ? FAR : -FAR;
}

// The states to draw: those with the most points, and the selected one, if there are very many.
export function drawnStates({ frame, selected }) {
  const all = frame ? [...frame.components.values()] : [];
  if (all.length <= MOST_STATES) return all;
  const heaviest = all.sort((a, b) => b.weight - a.weight).slice(0, MOST_STATES);
  const chosen = frame.components.get(selected);
  return chosen && !heaviest.includes(chosen) ? [...heaviest, chosen] : heaviest;
}

// In a world that flows: whether the agent was near a support point, or laws lead there.
export function isVisited(component) { return component.weight > 0; }

export class Figure {
  constructor(label) {
    this.svg = s("svg", { class: "space", role: "img", "aria-label": label });
    figures += 1;
    this.window = s("rect", { rx: 6 });
    this.clip = `url(#window-${figures})`;
    this.ground = s("g", { class: "ground" });
    this.points = s("path", { class: "points" });
    this.ownPoints = s("path", { class: "points own" });
    this.path = s("path", { class: "trail" });
    this.edges = s("g", { class: "edges" });
    this.states = s("g", { class: "states" });
    this.top = s("g", { class: "top" });
    this.svg.append(s("clipPath", { id: `window-${figures}` }, this.window), this.ground, this.points,
      this.ownPoints, this.path, this.edges, this.states, this.top);
    this.note = h("div", { class: "figure-note muted" });
    this.element = h("div", { class: "figure" }, this.svg, this.note);
    this.nodes = new Keyed(this.states, (component) => s("g",
      { class: "state", "data-id": component.id },
      s("ellipse", {}), s("text", { class: "id", dy: "0.35em" })));
  }

  // Set up the axes; false if the element has no size or there is nothing to draw.
  layout(ctx) {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    this.svg.style.display = ctx.summary.plane ? "" : "none";
    if (!width || !height || !ctx.summary.plane) return false;
    const key = [width, height, ctx.id, ctx.pair, ctx.lastStep, ctx.flows].join();
    if (key === this.key) return true;
    this.key = key;
    this.flows = ctx.flows;
    this.shapes = new WeakMap();
    this.plane = planeOf(ctx.summary, ctx.pair);
    const { low, high, isSquare } = this.plane;
    const pad = isSquare ? 0 : 0.1;
    const margin = isSquare ? MARGIN : LABELLED;
    const inner = [width - margin.left - margin.right, height - margin.top - margin.bottom];
    const span = [0, 1].map((k) => ((high[k] - low[k]) || 1) * (1 + 2 * pad));
    let scale = [inner[0] / span[0], inner[1] / span[1]];
    if (isSquare) scale = [Math.min(...scale), Math.min(...scale)];
    this.scale = scale;
    this.corner = [
      margin.left + (inner[0] - span[0] * scale[0]) / 2 + pad * span[0] * scale[0],
      margin.top + (inner[1] + span[1] * scale[1]) / 2 - pad * span[1] * scale[1],
    ];
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    const [left, bottom] = this.pixel(low);
    const [right, top] = this.pixel(high);
    set(this.window, { x: left, y: top, width: right - left, height: bottom - top });
    this.#drawGround(ctx, width, height);
    return true;
  }

  pixel([x, y]) {
    const { low } = this.plane;
    return [bounded(this.corner[0] + (x - low[0]) * this.scale[0]),
      bounded(this.corner[1] - (y - low[1]) * this.scale[1])];
  }

  at(point) { return this.pixel(project(this.plane, point)); }

  // Position and shape of a component: { x, y, rx, ry, angle }; computed once for each.
  shape(component) {
    let shape = this.shapes.get(component);
    if (!shape) {
      const [x, y] = this.at(component.mean);
      const size = this.flows && (isVisited(component) ? 2.2 : 1.4);
      shape = { x, y, ...(size ? { rx: size, ry: size, angle: 0 } : this.ellipse(component.cov)) };
      this.shapes.set(component, shape);
    }
    return shape;
  }

  // The ellipse of two standard deviations, in pixels and degrees.
  ellipse(cov) {
    const [a, b, c] = projectCovariance(this.plane, cov);
    const [sx, sy] = this.scale;
    const xx = a * sx * sx;
    const xy = -b * sx * sy;
    const yy = c * sy * sy;
    const middle = (xx + yy) / 2;
    const spread = Math.hypot((xx - yy) / 2, xy);
    const radius = (square) => (square > 0.25 ? Math.min(2 * Math.sqrt(square), 2000) : 1);
    return {
      rx: radius(middle + spread),
      ry: radius(middle - spread),
      angle: (Math.atan2(2 * xy, xx - yy) * 90) / Math.PI || 0,
    };
  }

  // The states of the frame; `style(component)` gives attributes, a label and a tip.
  drawStates(ctx, style) {
    const components = drawnStates(ctx);
    const size = ctx.frame?.components.size ?? 0;
    this.note.textContent = size > MOST_STATES
      ? `${MOST_STATES} of ${size} states drawn` : "";
    set(this.note, { "data-tip": "the states with the most points are drawn" });
    const isCrowded = components.length > 90;
    this.nodes.update(components, (component) => component.id, (node, component) => {
      const { x, y, rx, ry, angle } = this.shape(component);
      const look = style(component);
      const [ellipse, label] = node.children;
      set(node, { class: `state${component.fixed ? " fixed" : " flexible"}`
        + `${ctx.selected === component.id ? " selected" : ""}${look.class ?? ""}`
        + `${!this.flows ? "" : isVisited(component) ? " visited" : " imagined"}`,
      "data-tip": look.tip });
      set(ellipse, { rx: rx.toFixed(1), ry: ry.toFixed(1), fill: look.fill ?? "none",
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle.toFixed(1)})` });
      set(label, { x: x.toFixed(1), y: (y + (look.labelDown ?? 0)).toFixed(1) });
      const words = isCrowded && ctx.selected !== component.id ? "" : look.label ?? component.id;
      if (label.textContent !== String(words)) label.textContent = words;
      if (look.ink) label.style.fill = look.ink;
    });
  }

  drawPoints(points, isOwn) {
    const parts = ["", ""];
    for (const { point, state } of points) {
      const [x, y] = this.at(point);
      parts[isOwn(state) ? 1 : 0] += `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
    }
    set(this.points, { d: parts[0] });
    set(this.ownPoints, { d: parts[1] });
  }

  drawTrail(rows) {
    const d = rows.map(({ point }, index) => {
      const [x, y] = this.at(point);
      return `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    });
    set(this.path, { d: d.join("") });
  }

  onSelect(ctx) {
    this.svg.addEventListener("click", (event) => {
      const node = event.target.closest("[data-id]");
      if (node) ctx.select(Number(node.getAttribute("data-id")));
      else if (ctx.selected !== null) ctx.select(ctx.selected);
    });
  }

  #drawGround(ctx, width, height) {
    const { summary } = ctx;
    this.ground.replaceChildren();
    if (summary.maze && this.plane.isSquare) this.#drawMaze(summary.maze);
    this.#drawAxes(width, height);
  }

  #drawMaze({ grid, start, goal }) {
    const [sx, sy] = this.scale;
    let walls = "";
    let floor = "";
    grid.forEach((row, line) => {
      [...row].forEach((glyph, column) => {
        const [x, y] = this.pixel([column - 0.5, grid.length - 1 - line + 0.5]);
        const [wide, high] = [sx.toFixed(1), sy.toFixed(1)];
        const cell = `M${x.toFixed(1)} ${y.toFixed(1)}h${wide}v${high}h-${wide}z`;
        if (!this.#isInside(column, grid.length - 1 - line)) return;
        if (glyph === "#") walls += cell;
        else if (glyph !== " ") floor += cell;
      });
    });
    const [gx, gy] = this.pixel(goal);
    const [ax, ay] = this.pixel(start);
    const r = 0.4 * sx;
    this.ground.append(
      s("path", { class: "floor", d: floor, "clip-path": this.clip }),
      s("path", { class: "walls", d: walls, "clip-path": this.clip }),
      s("circle", { class: "start", cx: ax, cy: ay, r, "data-tip": "start of each episode" }),
      s("path", { class: "goal", "data-tip": "the goal: the action eat ends the episode here",
        d: `M${gx - r} ${gy}L${gx} ${gy - r}L${gx + r} ${gy}L${gx} ${gy + r}z` }),
    );
  }

  #isInside(x, y) {
    const { low, high } = this.plane;
    return x > low[0] - 0.5 && x < high[0] + 0.5 && y > low[1] - 0.5 && y < high[1] + 0.5;
  }

  #drawAxes(width, height) {
    const { low, high, labels, isSquare } = this.plane;
    const bottom = height - (isSquare ? 8 : 24);
    for (const value of ticks(low[0], high[0])) {
      const [x] = this.pixel([value, low[1]]);
      this.ground.append(s("text", { class: "tick", x, y: bottom, "text-anchor": "middle",
        "data-tip": `horizontal: ${labels[0]}` }, short(value)));
    }
    if (!this.plane.isLine) {
      for (const value of ticks(low[1], high[1])) {
        const [, y] = this.pixel([low[0], value]);
        this.ground.append(s("text", { class: "tick", x: isSquare ? 22 : 38, y, dy: "0.35em",
          "text-anchor": "end", "data-tip": `vertical: ${labels[1]}` }, short(value)));
      }
    }
    const end = this.pixel([high[0], high[1]]);
    this.ground.append(
      s("text", { class: "axis", x: width - 6, y: height - 6, "text-anchor": "end" }, labels[0]),
      s("text", { class: "axis", x: 6, y: isSquare ? Math.max(end[1] + 4, 14) : 14 }, labels[1]),
    );
  }
}
