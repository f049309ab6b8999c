// The field of a world that flows: value, greedy action and laws over two features, others held.

import { checkbox, choice, h, legendItem, panel, s, set, swatch } from "../dom.js";
import { isVisited } from "../states.js";
import { PALETTE, css, inkOn, percent, short, ticks, uniform } from "../format.js";

const MARGIN = { left: 44, right: 12, top: 24, bottom: 42 };
const MARK_EVERY = 19; // pixels between two marks of an action, at least
const LAW_EVERY = 30; // the same of arrows
const SHAPES = 5; // actions with a shape of their own; others are numbers
const LONGEST = 0.85; // of the distance between two arrows

export class Field {
  constructor(ctx) {
    this.ctx = ctx;
    this.options = { laws: "best", points: true, follows: true };
    this.canvas = h("canvas");
    this.window = h("div", { class: "field-window" }, this.canvas);
    this.layers = Object.fromEntries(["ground", "imagined", "visited", "bounds", "marks", "laws"]
      .map((name) => [name, s("g", { class: `field-${name}-layer` })]));
    this.here = s("circle", { class: "here", r: 5, "data-tip": "the newest observation" });
    this.cover = s("rect", { class: "field-hover" });
    this.clip = s("rect");
    // Arrows are above the cover, so that their tooltips are found.
    const { ground, laws, ...inside } = this.layers;
    const clipped = (...nodes) => s("g", { "clip-path": "url(#field-clip)" }, nodes);
    this.svg = s("svg", { role: "img", "aria-label": "Value, policy and laws" },
      s("clipPath", { id: "field-clip" }, this.clip), ground,
      clipped(Object.values(inside)), this.cover, clipped(laws), this.here);
    this.cover.addEventListener("mousemove", (event) => this.#point(event));
    this.figure = h("div", { class: "figure" }, this.window, this.svg);
    this.controls = h("span", { class: "toggles" });
    this.held = h("div", { class: "held" });
    this.legend = h("span", { class: "legend" });
    this.note = h("p", { class: "muted" });
    this.element = panel({
      title: "Value, policy and laws",
      id: "field",
      help: "Two features, the others held. Colour: the value of an observation. Marks: the greedy "
        + "action; white lines part the actions. Arrows: where the law of an action leads in one step, "
        + "drawn longer; ellipses: two standard deviations of where it may lead, noise and doubt.",
      controls: this.controls,
      legend: this.legend,
    }, this.figure, this.held, this.note);
    this.element.hidden = true;
  }

  update() {
    const { ctx } = this;
    const { field } = ctx;
    this.element.hidden = !field;
    if (!field) return;
    if (this.shown !== field) this.#begin(field);
    if (this.options.follows) this.#follow();
    if (!this.#layout()) return;
    this.#drawAxes();
    this.#drawValue();
    this.#drawPoints();
    this.#drawPolicy();
    this.#drawLaws();
    this.#drawHeld();
    this.#drawLegend();
    set(this.element, { "data-pair": this.axes.join(), "data-slice": this.slice });
  }

  // --- what is drawn ------------------------------------------------------------------------------

  #begin(field) {
    const isOther = this.shown?.names.join() !== field.names.join();
    this.shown = field;
    this.labels = field.names.map((name, k) => label(name, field.features[k]));
    if (isOther) {
      this.axes = [...field.first];
      this.level = field.levels.map((levels) => Math.floor(levels.length / 2));
    }
    this.#drawControls();
  }

  // The pair as it was computed; its x is the feature of the lower number.
  get pair() {
    const [low, high] = [...this.axes].sort((a, b) => a - b);
    return this.shown.pairs.find(({ x, y }) => x === low && y === high);
  }

  get isTurned() { return this.axes[0] > this.axes[1]; }

  get heldFeatures() {
    return this.shown.names.map((_, k) => k).filter((k) => !this.axes.includes(k));
  }

  // The number of the slice: that of the last held feature changes first.
  get slice() {
    return this.heldFeatures.reduce((sum, k) => sum * this.shown.levels[k].length + this.level[k], 0);
  }

  // The index of a point of a slice: column along the horizontal axis, row along the vertical one.
  #index(n, column, row) {
    const [x, y] = this.isTurned ? [row, column] : [column, row];
    return (this.slice * n + y) * n + x;
  }

  #value(column, row) { return this.pair.value[this.#index(this.shown.grid, column, row)]; }

  #action(column, row) { return this.pair.action[this.#index(this.shown.grid, column, row)]; }

  // The law of an action at an arrow's start: { move, spread: [xx, xy, yy], end } in units of features.
  #law(column, row, action) {
    const { arrows: n, n_actions: nActions } = this.shown;
    const at = this.#index(n, column, row) * nActions + action;
    const [dx, dy] = this.pair.move.slice(2 * at, 2 * at + 2);
    const [xx, xy, yy] = this.pair.spread.slice(3 * at, 3 * at + 3);
    const turned = this.isTurned;
    return { move: turned ? [dy, dx] : [dx, dy], spread: turned ? [yy, xy, xx] : [xx, xy, yy],
      end: this.pair.end[at] };
  }

  #nearest(k, value) {
    const { levels } = this.shown;
    return levels[k].reduce((best, level, index) => (
      Math.abs(level - value) < Math.abs(levels[k][best] - value) ? index : best), 0);
  }

  #follow() {
    const { row } = this.ctx;
    if (!row) return;
    this.shown.features.forEach((feature, k) => { this.level[k] = this.#nearest(k, row.point[feature]); });
  }

  // --- places ---------------------------------------------------------------------------------------

  #layout() {
    const width = this.figure.clientWidth;
    const height = this.figure.clientHeight;
    if (!width || !height) return false;
    this.size = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    const [wide, high] = this.size;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    for (const box of [this.clip, this.cover]) {
      set(box, { x: MARGIN.left, y: MARGIN.top, width: wide, height: high });
    }
    const place = { left: MARGIN.left, top: MARGIN.top, width: wide, height: high };
    for (const [name, pixels] of Object.entries(place)) this.window.style[name] = `${pixels}px`;
    this.scale = [0, 1].map((k) => this.size[k] / (this.#high(k) - this.#low(k)));
    return wide > 0 && high > 0;
  }

  #low(k) { return this.shown.low[this.axes[k]]; }

  #high(k) { return this.shown.high[this.axes[k]]; }

  #pixel([x, y]) {
    return [MARGIN.left + (x - this.#low(0)) * this.scale[0],
      MARGIN.top + this.size[1] - (y - this.#low(1)) * this.scale[1]];
  }

  #gridPixel(column, row) {
    const last = this.shown.grid - 1;
    return [MARGIN.left + (column / last) * this.size[0], MARGIN.top + (1 - row / last) * this.size[1]];
  }

  // --- drawing --------------------------------------------------------------------------------------

  #drawAxes() {
    const [wide, high] = this.size;
    const bottom = MARGIN.top + high;
    const marks = [];
    for (const value of ticks(this.#low(0), this.#high(0), Math.min(7, wide / 60))) {
      marks.push(s("text", { class: "tick", x: this.#pixel([value, 0])[0], y: bottom + 16,
        "text-anchor": "middle" }, short(value)));
    }
    for (const value of ticks(this.#low(1), this.#high(1))) {
      marks.push(s("text", { class: "tick", x: MARGIN.left - 6, y: this.#pixel([0, value])[1],
        dy: "0.35em", "text-anchor": "end" }, short(value)));
    }
    const [horizontal, vertical] = this.axes.map((k) => this.labels[k]);
    marks.push(s("text", { class: "axis", x: MARGIN.left + wide, y: bottom + 34, "text-anchor": "end" },
      horizontal), s("text", { class: "axis", x: 6, y: 14 }, vertical));
    this.layers.ground.replaceChildren(...marks);
  }

  #drawValue() {
    const n = this.shown.grid;
    const known = this.pair.value.slice(this.slice * n * n, (this.slice + 1) * n * n)
      .filter((value) => value !== null);
    this.low = known.reduce((a, b) => Math.min(a, b), Infinity);
    this.high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    this.canvas.width = n;
    this.canvas.height = n;
    const image = new ImageData(n, n);
    for (let row = 0; row < n; row += 1) {
      for (let column = 0; column < n; column += 1) {
        const rgb = this.#colour(this.#value(column, row));
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

  #share(value) { return this.high > this.low ? (value - this.low) / (this.high - this.low) : 0.5; }

  #colour(value) { return value === null ? [128, 128, 128] : uniform(this.#share(value)); }

  // The support points whose held features are nearest to the levels of this slice.
  #drawPoints() {
    const { features } = this.shown;
    const parts = { visited: "", imagined: "" };
    const all = this.options.points && this.ctx.frame ? this.ctx.frame.components.values() : [];
    const drawn = { visited: 0, imagined: 0 };
    for (const component of all) {
      const isHere = this.heldFeatures.every((k) => (
        this.#nearest(k, component.mean[features[k]]) === this.level[k]));
      if (!isHere) continue;
      const [x, y] = this.#pixel(this.axes.map((k) => component.mean[features[k]]));
      const kind = isVisited(component) ? "visited" : "imagined";
      parts[kind] += `M${f(x)} ${f(y)}h0`;
      drawn[kind] += 1;
    }
    for (const kind of ["visited", "imagined"]) {
      this.layers[kind].replaceChildren(s("path", { class: `field-${kind}`, d: parts[kind] }));
      set(this.element, { [`data-${kind}`]: drawn[kind] });
    }
    const { row } = this.ctx;
    this.here.style.display = row ? "" : "none";
    if (!row) return;
    const [cx, cy] = this.#pixel(this.axes.map((k) => row.point[features[k]]));
    set(this.here, { cx, cy });
  }

  #drawPolicy() {
    const n = this.shown.grid;
    const step = [this.size[0] / (n - 1), this.size[1] / (n - 1)];
    let bounds = "";
    for (let row = 0; row < n; row += 1) {
      for (let column = 0; column < n; column += 1) {
        const [x, y] = this.#gridPixel(column, row);
        const own = this.#action(column, row);
        const [right, top] = [x + step[0] / 2, y - step[1] / 2];
        if (column < n - 1 && this.#action(column + 1, row) !== own) {
          bounds += `M${f(right)} ${f(top)}v${f(step[1])}`;
        }
        if (row < n - 1 && this.#action(column, row + 1) !== own) {
          bounds += `M${f(right)} ${f(top)}h${f(-step[0])}`;
        }
      }
    }
    this.layers.bounds.replaceChildren(s("path", { class: "field-bound", d: bounds }));
    const every = step.map((pixels) => Math.max(1, Math.ceil(MARK_EVERY / pixels)));
    const marks = [];
    for (let row = Math.floor(every[1] / 2); row < n; row += every[1]) {
      for (let column = Math.floor(every[0] / 2); column < n; column += every[0]) {
        const value = this.#value(column, row);
        const action = this.#action(column, row);
        if (action < 0) continue;
        marks.push(mark(action, ...this.#gridPixel(column, row), inkOn(this.#colour(value))));
      }
    }
    this.layers.marks.replaceChildren(...marks);
  }

  #drawLaws() {
    const { arrows: n, n_actions: nActions, grid } = this.shown;
    const { laws } = this.options;
    this.longer = 0;
    if (laws === "none") {
      this.layers.laws.replaceChildren();
      return;
    }
    const found = [];
    const every = Math.max(1, ...this.size.map((length) => Math.round(LAW_EVERY / (length / n))));
    for (let row = Math.floor(every / 2); row < n; row += every) {
      for (let column = Math.floor(every / 2); column < n; column += every) {
        const share = [(column + 0.5) / n, (row + 0.5) / n];
        const start = share.map((part, k) => this.#low(k) + part * (this.#high(k) - this.#low(k)));
        const best = this.#action(...share.map((part) => Math.round(part * (grid - 1))));
        if (laws === "best" && best < 0) continue;
        const actions = laws === "all" ? [...Array(nActions).keys()] : [laws === "best" ? best : Number(laws)];
        for (const action of actions) found.push({ start, action, ...this.#law(column, row, action) });
      }
    }
    const lengths = found.map(({ move }) => Math.hypot(move[0] * this.scale[0], move[1] * this.scale[1]))
      .filter((length) => length > 0).sort((a, b) => a - b);
    const usual = lengths[Math.floor(0.9 * (lengths.length - 1))] ?? 0;
    const room = (LONGEST * every * Math.min(...this.size)) / n;
    this.longer = usual > 0 ? nice(room / usual) : 1;
    this.layers.laws.replaceChildren(...found.map((law) => this.#arrow(law)));
  }

  #arrow({ start, action, move, spread, end }) {
    const [x, y] = this.#pixel(start);
    const dx = move[0] * this.scale[0] * this.longer;
    const dy = -move[1] * this.scale[1] * this.longer;
    const colour = css(PALETTE_DARK[action % PALETTE_DARK.length]);
    const { rx, ry, angle } = this.#ellipse(spread);
    const d = arrowPath(x, y, dx, dy);
    const sd = [0, 1].map((k) => (spread[2 * k] === null ? null : Math.sqrt(spread[2 * k])));
    const words = [0, 1].map((k) => `${this.labels[this.axes[k]]} ${signed(move[k])} ± ${short(sd[k], 2)}`);
    return s("g", { class: "law-mark", "data-action": action,
      "data-tip": `law of ${this.ctx.actionNames[action]} in one step:\n${words.join("\n")}`
        + `${end ? `\nends the episode: ${percent(end)}` : ""}` },
    s("ellipse", { class: "law-spread", rx: f(rx), ry: f(ry),
      transform: `translate(${f(x + dx)} ${f(y + dy)}) rotate(${f(angle)})` }),
    s("path", { class: "law-halo", d }), s("path", { class: "law", d, stroke: colour }));
  }

  // Two standard deviations of where a law leads, drawn longer as its arrow is.
  #ellipse([a, b, c]) {
    const [sx, sy] = this.scale.map((scale) => scale * this.longer);
    const [xx, xy, yy] = [a * sx * sx, -b * sx * sy, c * sy * sy];
    const middle = (xx + yy) / 2;
    const part = Math.hypot((xx - yy) / 2, xy);
    const radius = (square) => Math.min(2 * Math.sqrt(Math.max(square, 0)), 2000) || 0;
    return { rx: radius(middle + part), ry: radius(middle - part),
      angle: (Math.atan2(2 * xy, xx - yy) * 90) / Math.PI || 0 };
  }

  // --- controls and words ---------------------------------------------------------------------------

  #drawControls() {
    const { ctx, shown } = this;
    const redraw = () => ctx.redraw("option");
    const features = this.labels.map((label, k) => [String(k), label]);
    const axis = (k, words) => choice(words, features, String(this.axes[k]), (value) => {
      if (this.axes[1 - k] === Number(value)) this.axes[1 - k] = this.axes[k];
      this.axes[k] = Number(value);
      this.#drawControls();
      redraw();
    }, `the feature along the ${k ? "vertical" : "horizontal"} axis`);
    const laws = [["best", "of best action"], ["all", "of all actions"],
      ...ctx.actionNames.slice(0, shown.n_actions).map((name, action) => [String(action), `of ${name}`]),
      ["none", "none"]];
    this.controls.replaceChildren(...(shown.names.length > 2 ? [axis(0, "across"), axis(1, "up")] : []),
      choice("laws", laws, this.options.laws, (value) => {
        this.options.laws = value;
        redraw();
      }, "the actions whose laws are drawn as arrows"),
      checkbox("states", this.options.points, (on) => {
        this.options.points = on;
        redraw();
      }, "the support points of this slice"));
    this.#makeHeld(redraw);
  }

  #makeHeld(redraw) {
    const { shown } = this;
    this.sliders = this.heldFeatures.map((k) => {
      const output = h("output", { class: "num" });
      const input = h("input", { type: "range", min: 0, max: shown.levels[k].length - 1, step: 1,
        "aria-label": `held ${this.labels[k]}`, oninput: (event) => {
          this.options.follows = false;
          this.box.querySelector("input").checked = false;
          this.level[k] = Number(event.target.value);
          redraw();
        } });
      return { k, input, output, label: h("label", { "data-tip": "the level at which this feature is held: "
        + "exceeded by 95, 75, 50, 25 or 5 % of the observations" }, this.labels[k], input, output) };
    });
    this.box = checkbox("as observed", this.options.follows, (on) => {
      this.options.follows = on;
      redraw();
    }, "hold at the levels that are nearest to the observation of this step");
    const rest = shown.rest.slice(0, 8).map(({ name, feature, value }) => (
      `${label(name, feature)} ${short(value)}`));
    this.held.replaceChildren(...(this.sliders.length
      ? [h("span", {}, "held:"), ...this.sliders.map(({ label }) => label), this.box] : []),
    rest.length && h("span", { "data-tip": "features that matter less, at their medians" },
      `at medians: ${rest.join(", ")}${shown.rest.length > rest.length ? ", …" : ""}`) || "");
    this.held.hidden = !this.sliders.length && !rest.length;
  }

  #drawHeld() {
    for (const { k, input, output } of this.sliders) {
      input.value = this.level[k];
      output.textContent = short(this.shown.levels[k][this.level[k]]);
    }
    const { step } = this.shown;
    this.note.textContent = step === this.ctx.step ? ""
      : `The field is that of the model at step ${step}; states and observation are those of step ${this.ctx.step}.`;
    this.note.hidden = step === this.ctx.step;
  }

  #drawLegend() {
    const { ctx, shown } = this;
    const stops = [...Array(10).keys()].map((k) => css(uniform(k / 9)));
    const ramp = h("span", { class: "ramp" });
    ramp.style.background = `linear-gradient(to right, ${stops.join(",")})`;
    const icon = (action) => s("svg", { width: 12, height: 12, viewBox: "-6 -6 12 12", "aria-hidden": "true" },
      mark(action, 0, 0, "currentcolor"));
    const colour = (action) => css(PALETTE_DARK[action % PALETTE_DARK.length]);
    this.legend.replaceChildren(
      legendItem(h("span", { class: "scale" }, short(this.low), ramp, short(this.high)), "value",
        "expected discounted reward; the scale covers what is drawn"),
      ...ctx.actionNames.slice(0, shown.n_actions).map((name, action) => legendItem(
        h("span", { class: "scale" }, icon(action), this.longer
          ? swatch({ stroke: colour(action), "stroke-width": 2.4 }) : ""), name,
        "mark: it is the greedy action there; line: the colour of its law")),
      this.longer ? legendItem("", `arrow: ${this.longer === 1 ? "" : `${short(this.longer)} times `}one step`,
        "ellipse at the tip: two standard deviations, in the same units; a sure law has a small one") : "",
      ...(this.options.points ? ["visited", "imagined"].map((kind) => legendItem(
        s("svg", { width: 14, height: 12, viewBox: "0 0 14 12", "aria-hidden": "true" },
          s("rect", { width: 14, height: 12, rx: 3, fill: css(uniform(0.3)) }),
          s("path", { class: `field-${kind}`, d: "M7 6h0" })), `${kind} state`,
        "a support point whose held features are nearest to these levels")) : []),
    );
  }

  #point(event) {
    const box = this.svg.getBoundingClientRect();
    const share = [(event.clientX - box.left - MARGIN.left) / this.size[0],
      1 - (event.clientY - box.top - MARGIN.top) / this.size[1]].map((part) => Math.min(Math.max(part, 0), 1));
    const [column, row] = share.map((part) => Math.round(part * (this.shown.grid - 1)));
    const at = [column, row].map((index, k) => this.#low(k)
      + (index / (this.shown.grid - 1)) * (this.#high(k) - this.#low(k)));
    set(this.cover, { "data-tip": `${at.map((value, k) => `${this.labels[this.axes[k]]} ${short(value)}`)
      .join(", ")}\nvalue ${short(this.#value(column, row))}\n`
      + `greedy action: ${this.ctx.actionNames[this.#action(column, row)] ?? "any, all are worth the same"}` });
  }
}

// Darker than the palette: they are seen on a light halo.
const PALETTE_DARK = PALETTE.map((colour) => [1, 3, 5].map((at) => 0.8 * parseInt(colour.slice(at, at + 2), 16)));

// Features that the environment does not name have numbers, as in the other views.
function label(name, feature) { return /\[\d+\]$/.test(name) ? `x${feature + 1}` : name; }

function f(value) { return value.toFixed(1); }

function signed(value) { return value > 0 ? `+${short(value)}` : short(value); }

// 1, 2 or 5 times a power of ten, not above `value`.
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const [factor] = [5, 2, 1].filter((one) => one * power <= value);
  return (factor ?? 1) * power;
}

function mark(action, x, y, ink) {
  const at = { class: "field-mark", transform: `translate(${f(x)} ${f(y)})`, fill: ink };
  if (action >= SHAPES) return s("text", { ...at, "font-size": 9, "text-anchor": "middle", dy: "0.35em" }, action);
  const outline = { ...at, fill: "none", style: `stroke:${ink};stroke-width:1.1` };
  if (action === 0) return s("circle", { ...outline, r: 2.3 });
  if (action === 1) return s("circle", { ...at, r: 2.3 });
  if (action === 2) return s("path", { ...at, d: "M-2.8 2.2L0 -2.8L2.8 2.2z" });
  if (action === 3) return s("path", { ...outline, d: "M-2.1 -2.1h4.2v4.2h-4.2z" });
  return s("path", { ...outline, d: "M-2.4 -2.4L2.4 2.4M-2.4 2.4L2.4 -2.4" });
}

function arrowPath(x, y, dx, dy) {
  const length = Math.hypot(dx, dy);
  if (!(length > 0.3)) return `M${f(x)} ${f(y)}h0`;
  const head = Math.min(0.45 * length, 5);
  const [ux, uy] = [dx / length, dy / length];
  const [ex, ey] = [x + dx, y + dy];
  return `M${f(x)} ${f(y)}L${f(ex)} ${f(ey)}M${f(ex - head * (ux + 0.7 * uy))} ${f(ey - head * (uy - 0.7 * ux))}`
    + `L${f(ex)} ${f(ey)}L${f(ex - head * (ux - 0.7 * uy))} ${f(ey - head * (uy + 0.7 * ux))}`;
}
