// A drawing of the observation space: walls or axes below, states on top.

import { Keyed, h, s, set } from "./dom.js";
import { short, ticks } from "./format.js";
import { MANY, ManyLayer } from "./many.js";
import { LAYOUT, planeOf, project, projectCovariance, usualAxes } from "./plane.js";
import { FAR, SHARP, bounded, cutWords, drawnStates, isVisited, sizeOf } from "./states.js";
import { Zoom } from "./zoom.js";

let figures = 0;

const MARGIN = { left: 30, right: 8, top: 8, bottom: 24 };
const MOST_NAMES = 90; // of states in sight
const SMALL = 4; // pixels: nothing is drawn on a smaller state
const LABELLED = { left: 44, right: 10, top: 24, bottom: 42 }; // space for longer labels

export class Figure {
  constructor(label) {
    this.svg = s("svg", { class: "space", role: "img", "aria-label": label });
    figures += 1;
    this.window = s("rect", { rx: 6 });
    this.inside = s("rect", {});
    this.clip = `url(#window-${figures})`;
    this.ground = s("g", { class: "ground" });
    this.points = s("path", { class: "points" });
    this.ownPoints = s("path", { class: "points own" });
    this.path = s("path", { class: "trail" });
    this.states = s("g", { class: "states" });
    this.edges = s("g", { class: "edges" });
    this.labels = s("g", { class: "labels" });
    this.top = s("g", { class: "top" });
    const drawn = s("g", { "clip-path": `url(#inside-${figures})` }, this.points, this.ownPoints, this.path,
      this.states, this.edges, this.labels, this.top);
    this.svg.append(s("clipPath", { id: `window-${figures}` }, this.window),
      s("clipPath", { id: `inside-${figures}` }, this.inside), this.ground, drawn);
    this.note = h("div", { class: "figure-note muted" });
    this.zoom = new Zoom(this);
    this.many = new ManyLayer();
    this.element = h("div", { class: "figure" }, this.many.canvas, this.svg, this.note, this.zoom.element);
    this.nodes = new Keyed(this.states, (component) => s("g",
      { class: "state", "data-id": component.id }, s("ellipse", {})));
    this.names = new Keyed(this.labels, () => s("text", { class: "id", dy: "0.35em" }));
  }

  // Set up the axes; false if the element has no size or there is nothing to draw.
  layout(ctx) {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    this.svg.style.display = ctx.summary.plane ? "" : "none";
    this.zoom.element.hidden = !ctx.summary.plane;
    if (!width || !height || !ctx.summary.plane) return false;
    const isLayout = (ctx.axes ?? usualAxes(ctx.summary)) === LAYOUT;
    const places = isLayout ? ctx.layout : null;
    const { zoom } = ctx;
    this.twins = places ? new Map() : ctx.twins;
    const key = [[...this.twins.keys()].join(" "), width, height, ctx.id, ctx.axes, ctx.lastStep, ctx.flows, places?.size, zoom?.low, zoom?.high].join();
    if (key === this.key && places === this.plane?.places) return true;
    this.key = key;
    this.flows = ctx.flows;
    this.shapes = new WeakMap();
    this.plane = planeOf(ctx.summary, ctx.axes, () => places);
    this.shown = zoom ?? this.plane;
    this.#fit(width, height);
    this.#drawGround(ctx, width, height);
    return true;
  }

  // Scale and place: the shown part of the plane fills the drawing.
  #fit(width, height) {
    const { low, high } = this.shown;
    const { isSquare, isEqual, places } = this.plane;
    const pad = isSquare || this.shown !== this.plane ? 0 : 0.1;
    const margin = isSquare || places ? MARGIN : LABELLED;
    const inner = [width - margin.left - margin.right, height - margin.top - margin.bottom];
    const span = [0, 1].map((k) => ((high[k] - low[k]) || 1) * (1 + 2 * pad));
    let scale = [inner[0] / span[0], inner[1] / span[1]];
    if (isEqual) scale = [Math.min(...scale), Math.min(...scale)];
    this.scale = scale;
    this.corner = [
      margin.left + (inner[0] - span[0] * scale[0]) / 2 + pad * span[0] * scale[0],
      margin.top + (inner[1] + span[1] * scale[1]) / 2 - pad * span[1] * scale[1],
    ];
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    const [left, bottom] = this.pixel(low);
    const [right, top] = this.pixel(high);
    set(this.window, { x: left, y: top, width: right - left, height: bottom - top });
    // Unless it is zoomed, what sticks out of the plane may be seen.
    const isWhole = this.shown === this.plane;
    set(this.inside, isWhole ? { x: 0, y: 0, width, height }
      : { x: margin.left, y: margin.top, width: Math.max(inner[0], 0), height: Math.max(inner[1], 0) });
    this.bounds = isWhole ? [0, 0, width, height]
      : [margin.left, margin.top, width - margin.right, height - margin.bottom];
    this.svg.style.touchAction = isWhole ? "pan-x pan-y" : "none";
    this.svg.style.cursor = isWhole ? "" : "grab";
  }

  pixel([x, y]) {
    const { low } = this.shown;
    return [bounded(this.corner[0] + (x - low[0]) * this.scale[0]),
      bounded(this.corner[1] - (y - low[1]) * this.scale[1])];
  }

  // The inverse of `pixel`.
  planeAt([x, y]) {
    const { low } = this.shown;
    return [low[0] + (x - this.corner[0]) / this.scale[0], low[1] - (y - this.corner[1]) / this.scale[1]];
  }

  at(point) { return this.pixel(project(this.plane, point)); }

  // Where an observation { point, state } is drawn: by its state, if states have places; else null.
  where({ point, state }) {
    const { places } = this.plane;
    if (!places) return this.at(point);
    return places.has(state) ? this.pixel(places.get(state)) : null;
  }

  // Move a circle to an observation.
  mark(circle, row) {
    const at = row && this.where(row);
    circle.style.display = at ? "" : "none";
    if (at) set(circle, { cx: at[0], cy: at[1] });
  }

  // Position and shape of a component: { x, y, rx, ry, angle }; computed once for each.
  shape(component) {
    let shape = this.shapes.get(component);
    if (!shape) {
      const [x, y] = this.plane.places ? this.#placeOf(component) : this.at(component.mean);
      const size = this.plane.places ? this.#radius() : sizeOf(component, this.flows);
      const [dx, dy] = this.#aside(component);
      shape = { x: x + dx, y: y + dy, ...(size ? { rx: size, ry: size, angle: 0 } : this.ellipse(component.cov)) };
      this.shapes.set(component, shape);
    }
    return shape;
  }

  // States that look alike stand side by side around the place of their look.
  #aside({ id, cov }) {
    const twin = this.twins.get(id);
    if (!twin) return [0, 0];
    const reach = Math.min(Math.max(0.6 * this.ellipse(cov).ry, 1.3 * SHARP), 3 * SHARP) * Math.max(1, twin.of / 5);
    const angle = (2 * Math.PI * twin.place) / twin.of + Math.PI;
    return [reach * Math.cos(angle), reach * Math.sin(angle)];
  }

  // A state that the last model lacks has no place: it is not seen.
  #placeOf({ id }) {
    const place = this.plane.places.get(id);
    return place ? this.pixel(place) : [-FAR, -FAR];
  }

  #radius() { return Math.min(Math.max(0.3 * this.scale[0] * this.plane.places.spacing, 2.5), 17); }

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

  // The states of the frame; `style(component)` gives attributes, a label and a tip. What is out of
  // sight is not drawn, names only where there is space for them, and very many states as pixels.
  drawStates(ctx, style) {
    const seen = this.#seen(ctx);
    this.note.textContent = cutWords(ctx.frame?.components.size ?? 0);
    set(this.note, { "data-tip": "the states with the most points are drawn" });
    const isMany = this.isMany(ctx);
    if (isMany) this.#drawMany(seen, style);
    else this.many.clear();
    this.svg.drawnIds = isMany ? seen.map(({ id }) => id) : null;
    set(this.svg, { "data-states": seen.length });
    this.#drawNodes(ctx, isMany ? seen.filter(({ id }) => id === ctx.selected) : seen, style);
  }

  isMany(ctx) { return this.#seen(ctx).length > MANY; }

  // Clear the pixels; what is drawn on them next is clipped as everything else.
  beginMany() {
    const [left, top, right, bottom] = this.bounds;
    this.many.begin(this.element.clientWidth, this.element.clientHeight,
      { x: left, y: top, width: right - left, height: bottom - top });
  }

  #drawMany(seen, style) {
    this.beginMany();
    this.many.states(seen.map((component) => {
      const look = style(component);
      const isPlain = look.class?.includes("plain");
      const kind = this.flows ? (isVisited(component) ? "visited" : "imagined") : isPlain ? "plain" : "ellipse";
      return { component, look: { ...look, isValue: isPlain }, shape: this.shape(component), kind };
    }));
  }

  #drawNodes(ctx, components, style) {
    const named = [];
    const isCrowded = components.length > MOST_NAMES;
    this.nodes.update(components, (component) => component.id, (node, component) => {
      const { x, y, rx, ry, angle } = this.shape(component);
      const look = style(component);
      const isChosen = ctx.selected === component.id;
      set(node, { class: `state${component.fixed ? " fixed" : " flexible"}${isChosen ? " selected" : ""}`
        + `${look.class ?? ""}${!this.flows ? "" : isVisited(component) ? " visited" : " imagined"}`,
      "data-tip": look.tip });
      set(node.firstChild, { rx: rx.toFixed(1), ry: ry.toFixed(1), fill: look.fill ?? "none",
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle.toFixed(1)})` });
      const words = String(look.label ?? component.id);
      if (words && (isChosen || (!isCrowded && !this.flows))) named.push({ component, look, x, y, words, isChosen });
    });
    this.names.update(named, ({ component }) => component.id, (label, { look, x, y, words, isChosen }) => {
      set(label, { x: x.toFixed(1), y: y.toFixed(1),
        class: `id${isChosen ? " selected" : ""}${look.class?.includes("filled") ? " filled" : ""}` });
      if (label.textContent !== words) label.textContent = words;
    });
  }

  // The states in sight; found once for each drawing.
  #seen(ctx) {
    if (this.seenOf !== ctx.frame || this.seenKey !== `${this.key}|${ctx.selected}`) {
      this.seenOf = ctx.frame;
      this.seenKey = `${this.key}|${ctx.selected}`;
      this.inSight = drawnStates(ctx).filter((component) => this.#isSeen(this.shape(component)));
    }
    return this.inSight;
  }

  seenStates(ctx) { return new Set(this.#seen(ctx).map(({ id }) => id)); }

  #isSeen({ x, y, rx }) {
    if (this.shown === this.plane && !this.plane.places) return true;
    const reach = Math.min(rx, 2000) + 5;
    const [left, top, right, bottom] = this.bounds;
    return x > left - reach && x < right + reach && y > top - reach && y < bottom + reach;
  }

  // Whether something can be drawn on a state: it is in sight and not too small.
  hasSpace(component) {
    const shape = this.shape(component);
    return shape.rx > SMALL && this.#isSeen(shape);
  }

  drawPoints(points, isOwn) {
    const parts = ["", ""];
    for (const { point, state } of this.plane.places ? [] : points) {
      const [x, y] = this.at(point);
      parts[isOwn(state) ? 1 : 0] += `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
    }
    set(this.points, { d: parts[0] });
    set(this.ownPoints, { d: parts[1] });
  }

  drawTrail(rows) {
    const d = rows.map((row) => this.where(row)).filter(Boolean).map(([x, y], index) => (
      `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`));
    set(this.path, { d: d.join("") });
  }

  onSelect(ctx) {
    this.zoom.listen(ctx);
    this.svg.addEventListener("mousemove", (event) => {
      if (this.many.drawn) set(this.svg, { "data-tip": this.many.at(this.#pixelOf(event))?.look.tip ?? null });
      else if (this.svg.hasAttribute("data-tip")) this.svg.removeAttribute("data-tip");
    });
    this.svg.addEventListener("click", (event) => {
      if (this.zoom.wasDragged) return;
      const node = event.target.closest("[data-id]");
      const item = node ? null : this.many.at(this.#pixelOf(event));
      if (node) ctx.select(Number(node.getAttribute("data-id")));
      else if (item) ctx.select(item.component.id);
      else if (ctx.selected !== null) ctx.select(ctx.selected);
    });
  }

  #pixelOf(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #drawGround(ctx, width, height) {
    const { summary } = ctx;
    this.ground.replaceChildren();
    if (summary.maze && this.plane.isSquare) this.#drawMaze(summary.maze);
    if (!this.plane.places) this.#drawAxes(width, height);
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
    const { low, high } = this.shown;
    return x > low[0] - 0.5 && x < high[0] + 0.5 && y > low[1] - 0.5 && y < high[1] + 0.5;
  }

  #drawAxes(width, height) {
    const { labels, isSquare } = this.plane;
    const { low, high } = this.shown;
    const bottom = height - (isSquare ? 8 : 24);
    const most = Math.min(7, Math.max(2, Math.floor(width / 60)));
    for (const value of ticks(low[0], high[0], most)) {
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
