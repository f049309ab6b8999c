// A drawing of the observation space: walls or axes below, states on top.

import { Keyed, h, s, set } from "./dom.js";
import { drawGround } from "./ground.js";
import { MANY, ManyLayer } from "./many.js";
import { LAYOUT, planeOf, project, projectCovariance, usualAxes } from "./plane.js";
import { FAR, SHARP, bounded, cutWords, drawnStates, isVisited, sizeOf } from "./states.js";
import { Zoom } from "./zoom.js";

let figures = 0;

const MARGIN = { left: 30, right: 8, top: 4, bottom: 24 }; // below the buttons for zoom
const MOST_NAMES = 90; // of states in sight
const ARROW = 9; // pixels: half of an arrow on a small state
const LEAST_ARROW = 2.5; // pixels: half of an arrow that can be read
const LEAST_RADIUS = 4; // pixels: of a state, where there are few
const REACH = 12; // pixels: a click so near to the middle of a state is on it
const LONG_TRAIL = 60; // steps: the line of a longer path is thinner
const LABELLED = { left: 44, right: 10, top: 4, bottom: 42 }; // space for longer labels

export class Figure {
  constructor(label) {
    this.svg = s("svg", { class: "space", role: "img", "aria-label": label });
    figures += 1;
    this.window = s("rect", { rx: 6 });
    this.inside = s("rect", {});
    this.clip = `url(#window-${figures})`;
    this.floor = s("svg", { class: "floor-plan", "aria-hidden": "true" });
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
    this.note = h("p", { class: "figure-note muted" });
    this.zoom = new Zoom(this);
    this.many = new ManyLayer();
    // The floor is below the pixels, and the pixels are below what can be hovered.
    this.box = h("div", { class: "figure" }, this.floor, this.many.canvas, this.svg, this.zoom.element);
    this.element = h("div", {}, this.box, this.note);
    this.nodes = new Keyed(this.states, (component) => s("g",
      { class: "state", "data-id": component.id }, s("ellipse", {})));
    this.names = new Keyed(this.labels, () => s("text", { class: "id", dy: "0.35em" }));
  }

  // Set up the axes; false if the element has no size or there is nothing to draw.
  layout(ctx) {
    const width = this.box.clientWidth;
    const height = this.box.clientHeight;
    const hasPlane = Boolean(ctx.summary.plane);
    for (const part of [this.svg, this.floor, this.many.canvas]) part.style.display = hasPlane ? "" : "none";
    this.zoom.element.hidden = !hasPlane;
    if (!width || !height || !hasPlane) return false;
    const isLayout = (ctx.axes ?? usualAxes(ctx.summary)) === LAYOUT;
    const places = isLayout ? ctx.layout : null;
    const { zoom } = ctx;
    this.twins = places ? new Map() : ctx.twins;
    const least = (ctx.frame?.components.size ?? 0) > MANY ? 1 : LEAST_RADIUS;
    const planeKey = [ctx.id, ctx.axes, ctx.lastStep, ctx.flows, places?.size].join();
    const isOther = planeKey !== this.planeKey || places !== (this.plane?.places ?? null);
    const key = [[...this.twins.keys()].join(" "), width, height, planeKey, least, zoom?.low, zoom?.high].join();
    if (key === this.key && !isOther) return true;
    this.key = key;
    [this.flows, this.least] = [ctx.flows, least];
    this.shapes = new WeakMap();
    if (isOther) {
      this.planeKey = planeKey;
      this.plane = planeOf(ctx.summary, ctx.axes, () => places);
      this.projected = new WeakMap();
    }
    this.shown = zoom ?? this.plane;
    this.#fit(width, height);
    drawGround(this, ctx.summary.maze, width, height);
    return true;
  }

  // Scale and place: the shown part of the plane fills the drawing.
  #fit(width, height) {
    const { low, high } = this.shown;
    const { isSquare, isEqual, places } = this.plane;
    const pad = isSquare || this.shown !== this.plane ? 0 : 0.1;
    const usual = isSquare || places ? MARGIN : LABELLED;
    const margin = { ...usual, top: usual.top + this.zoom.element.offsetHeight };
    const inner = [width - margin.left - margin.right, height - margin.top - margin.bottom];
    const span = [0, 1].map((k) => ((high[k] - low[k]) || 1) * (1 + 2 * pad));
    let scale = [inner[0] / span[0], inner[1] / span[1]];
    if (isEqual) scale = [Math.min(...scale), Math.min(...scale)];
    this.scale = scale;
    this.corner = [
      margin.left + (inner[0] - span[0] * scale[0]) / 2 + pad * span[0] * scale[0],
      margin.top + (inner[1] + span[1] * scale[1]) / 2 - pad * span[1] * scale[1],
    ];
    for (const svg of [this.svg, this.floor]) set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
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
      const [x, y] = this.plane.places ? this.#placeOf(component) : this.pixel(this.#projection(component).at);
      const size = this.plane.places ? this.#radius() : sizeOf(component, this.flows);
      const [dx, dy] = this.#aside(component);
      shape = { x: x + dx, y: y + dy, ...(size ? { rx: size, ry: size, angle: 0 }
        : this.#ellipse(this.#projection(component).cov)) };
      this.shapes.set(component, shape);
    }
    return shape;
  }

  // Mean and covariance on the plane: they stay the same under zoom.
  #projection(component) {
    let found = this.projected.get(component);
    if (!found) {
      found = { at: project(this.plane, component.mean), cov: projectCovariance(this.plane, component.cov) };
      this.projected.set(component, found);
    }
    return found;
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
  ellipse(cov) { return this.#ellipse(projectCovariance(this.plane, cov)); }

  #ellipse([a, b, c]) {
    const [sx, sy] = this.scale;
    const xx = a * sx * sx;
    const xy = -b * sx * sy;
    const yy = c * sy * sy;
    const middle = (xx + yy) / 2;
    const spread = Math.hypot((xx - yy) / 2, xy);
    const radius = (square) => Math.min(2 * Math.sqrt(Math.max(square, 0)) || 0, 2000);
    return {
      rx: Math.max(radius(middle + spread), this.least),
      ry: Math.max(radius(middle - spread), this.least),
      angle: (Math.atan2(2 * xy, xx - yy) * 90) / Math.PI || 0,
    };
  }

  // The states of the frame; `style(component)` gives attributes, a label and a function for the tip.
  // What is out of sight is not drawn, names only where there is space for them, and very many states as
  // pixels. `points` are [{ point, state }], below the states; isOwn(state) marks some of them.
  drawStates(ctx, style, points = [], isOwn = () => false) {
    const seen = this.#seen(ctx);
    this.note.textContent = cutWords(ctx.frame?.components.size ?? 0);
    set(this.note, { "data-tip": "the states with the most points are drawn" });
    const isMany = this.isMany(ctx);
    if (isMany) this.beginMany();
    else this.many.clear();
    this.#drawPoints(points, isOwn, isMany);
    if (isMany) this.#drawMany(seen, style);
    this.svg.drawnIds = isMany ? seen.map(({ id }) => id) : null;
    set(this.svg, { "data-states": seen.length });
    this.#drawNodes(ctx, isMany ? seen.filter(({ id }) => id === ctx.selected) : seen, style);
  }

  isMany(ctx) { return this.#seen(ctx).length > MANY; }

  // Clear the pixels; what is drawn on them next is clipped as everything else.
  beginMany() {
    const [left, top, right, bottom] = this.bounds;
    this.many.begin(this.box.clientWidth, this.box.clientHeight,
      { x: left, y: top, width: right - left, height: bottom - top });
  }

  #drawMany(seen, style) {
    this.many.states(seen.map((component) => {
      const look = style(component);
      const isPlain = look.class?.includes("plain");
      const kind = this.flows ? (isVisited(component) ? "visited" : "imagined")
        : look.class?.includes("changed") ? "changed" : isPlain ? "plain" : "ellipse";
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
      "data-tip": look.tip() });
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

  // Half the length of an arrow on a state, in pixels; 0 if it is out of sight or there is no space. On a
  // small state the arrow is longer than the state, as far as the others leave space.
  arrowSize(ctx, component) {
    const shape = this.shape(component);
    if (!this.#isSeen(shape)) return 0;
    const [left, top, right, bottom] = this.bounds;
    const { places } = this.plane;
    const apart = places ? places.spacing * this.scale[0]
      : Math.sqrt(((right - left) * (bottom - top)) / Math.max(1, this.#seen(ctx).length));
    const size = Math.max(0.62 * Math.min(shape.ry, 34), Math.min(ARROW, 0.25 * apart));
    return size > LEAST_ARROW ? size : 0;
  }

  // Points of the states for which isOwn holds are in another colour.
  #drawPoints(points, isOwn, isMany) {
    const [left, top, right, bottom] = this.bounds;
    const parts = [[], []];
    for (const { point, state } of this.plane.places ? [] : points) {
      const [x, y] = this.at(point);
      if (x > left && x < right && y > top && y < bottom) parts[isOwn(state) ? 1 : 0].push([x, y]);
    }
    const paths = isMany ? ["", ""] : parts.map((part) => (
      part.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("")));
    if (isMany) this.many.points(...parts);
    set(this.points, { d: paths[0] });
    set(this.ownPoints, { d: paths[1] });
  }

  drawTrail(rows) {
    const d = rows.map((row) => this.where(row)).filter(Boolean).map(([x, y], index) => (
      `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`));
    set(this.path, { d: d.join(""), class: d.length > LONG_TRAIL ? "trail long" : "trail" });
  }

  onSelect(ctx) {
    this.zoom.listen(ctx);
    this.svg.addEventListener("mousemove", (event) => {
      if (this.many.drawn) set(this.svg, { "data-tip": this.many.at(this.#pixelOf(event))?.look.tip() ?? null });
      else if (this.svg.hasAttribute("data-tip")) this.svg.removeAttribute("data-tip");
    });
    this.svg.addEventListener("click", (event) => {
      if (this.zoom.wasDragged) return;
      const id = this.#idAt(event);
      if (id !== null) ctx.select(id);
      else if (ctx.selected !== null) ctx.select(ctx.selected);
    });
  }

  // The state at a place, or one beside it: small ones are hard to hit, with a finger above all.
  #idAt(event) {
    const node = event.target.closest("[data-id]");
    if (node) return Number(node.getAttribute("data-id"));
    const [x, y] = this.#pixelOf(event);
    const far = (component) => Math.hypot(this.shape(component).x - x, this.shape(component).y - y);
    const found = this.many.drawn ? this.many.at([x, y])?.component
      : (this.inSight ?? []).filter((one) => far(one) <= REACH).sort((a, b) => far(a) - far(b))[0];
    return found?.id ?? null;
  }

  #pixelOf(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
}
