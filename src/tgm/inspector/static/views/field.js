// The field of a world that flows: value, greedy action and laws over two features, others held.

import { checkbox, choice, h, legendItem, panel, s, set, swatch } from "../dom.js";
import { FieldDrawing, mark } from "../field-drawing.js";
import { drawLaws, lawColour } from "../field-laws.js";
import { FieldSlice, featureLabel } from "../field-slice.js";
import { css, short, uniform } from "../format.js";

const MOST_REST = 8; // features at their medians that are named

export class Field {
  constructor(ctx) {
    this.ctx = ctx;
    this.options = { laws: "best", points: true, follows: true };
    this.slice = null;
    this.drawing = new FieldDrawing("Value, policy and laws");
    this.drawing.cover.addEventListener("mousemove", (event) => this.#point(event));
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
    }, this.drawing.element, this.held, this.note);
    this.element.hidden = true;
  }

  update() {
    const { ctx, options, drawing } = this;
    const { field } = ctx;
    this.element.hidden = !field && !ctx.isFieldComing;
    for (const part of [drawing.svg, drawing.window, this.held, this.controls, this.legend]) {
      part.style.display = field ? "" : "none";
    }
    if (!field) {
      this.note.hidden = false;
      this.note.textContent = "The field is being computed from the saved model; this takes some seconds.";
      return;
    }
    if (this.slice?.field !== field) this.#begin(field);
    const { slice } = this;
    if (options.follows && ctx.row) slice.follow(ctx.row.point);
    if (!drawing.layout(slice)) return;
    const drawn = drawing.draw(options.points ? ctx.frame : null, ctx.row);
    this.longer = drawLaws(drawing, options.laws, ctx.actionNames);
    this.#drawHeld();
    this.#drawLegend();
    set(this.element, { "data-pair": slice.axes.join(), "data-slice": slice.number,
      "data-visited": drawn.visited, "data-imagined": drawn.imagined });
  }

  #begin(field) {
    this.slice = new FieldSlice(field, this.slice);
    this.#drawControls();
  }

  #drawControls() {
    const { ctx, slice } = this;
    const redraw = () => ctx.redraw("option");
    const features = slice.labels.map((label, k) => [String(k), label]);
    const axis = (k, words) => choice(words, features, String(slice.axes[k]), (value) => {
      slice.setAxis(k, Number(value));
      this.#drawControls();
      redraw();
    }, `the feature along the ${k ? "vertical" : "horizontal"} axis`);
    const laws = [["best", "of best action"], ["all", "of all actions"],
      ...ctx.actionNames.slice(0, slice.field.n_actions).map((name, action) => [String(action), `of ${name}`]),
      ["none", "none"]];
    this.controls.replaceChildren(...(features.length > 2 ? [axis(0, "across"), axis(1, "up")] : []),
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
    const { slice } = this;
    const { levels, rest } = slice.field;
    this.sliders = slice.heldFeatures.map((k) => {
      const output = h("output", { class: "num" });
      const input = h("input", { type: "range", min: 0, max: levels[k].length - 1, step: 1,
        "aria-label": `held ${slice.labels[k]}`, oninput: (event) => {
          this.options.follows = false;
          this.box.querySelector("input").checked = false;
          slice.level[k] = Number(event.target.value);
          redraw();
        } });
      return { k, input, output, label: h("label", { "data-tip": "the level at which this feature is held: "
        + "exceeded by 95, 75, 50, 25 or 5 % of the observations" }, slice.labels[k], input, output) };
    });
    this.box = checkbox("as observed", this.options.follows, (on) => {
      this.options.follows = on;
      redraw();
    }, "hold at the levels that are nearest to the observation of this step");
    const words = rest.slice(0, MOST_REST).map(({ name, feature, value }) => (
      `${featureLabel(name, feature)} ${short(value)}`));
    this.held.replaceChildren(...(this.sliders.length
      ? [h("span", {}, "held:"), ...this.sliders.map(({ label }) => label), this.box] : []),
    words.length && h("span", { "data-tip": "features that matter less, at their medians" },
      `at medians: ${words.join(", ")}${rest.length > words.length ? ", …" : ""}`) || "");
    this.held.hidden = !this.sliders.length && !words.length;
  }

  #drawHeld() {
    const { level, field: { levels, step } } = this.slice;
    for (const { k, input, output } of this.sliders) {
      input.value = level[k];
      output.textContent = short(levels[k][level[k]]);
    }
    this.note.textContent = step === this.ctx.step ? ""
      : `The field is that of the model at step ${step}; states and observation are those of step ${this.ctx.step}.`;
    this.note.hidden = step === this.ctx.step;
  }

  #drawLegend() {
    const { drawing: { low, high }, longer } = this;
    const stops = [...Array(10).keys()].map((k) => css(uniform(k / 9)));
    const ramp = h("span", { class: "ramp" });
    ramp.style.background = `linear-gradient(to right, ${stops.join(",")})`;
    this.legend.replaceChildren(
      legendItem(h("span", { class: "scale" }, short(low), ramp, short(high)), "value",
        "expected discounted reward; the scale covers what is drawn"),
      ...this.#actionItems(),
      longer ? legendItem("", `arrow: ${longer === 1 ? "" : `${short(longer)} times `}one step`,
        "ellipse at the tip: two standard deviations, in the same units; a sure law has a small one") : "",
      ...(this.options.points ? ["visited", "imagined"].map((kind) => legendItem(
        s("svg", { width: 14, height: 12, viewBox: "0 0 14 12", "aria-hidden": "true" },
          s("rect", { width: 14, height: 12, rx: 3, fill: css(uniform(0.3)) }),
          s("path", { class: `field-${kind}`, d: "M7 6h0" })), `${kind} state`,
        "a support point whose held features are nearest to these levels")) : []),
    );
  }

  #actionItems() {
    const icon = (action) => s("svg", { width: 12, height: 12, viewBox: "-6 -6 12 12", "aria-hidden": "true" },
      mark(action, 0, 0, "currentcolor"));
    return this.ctx.actionNames.slice(0, this.slice.field.n_actions).map((name, action) => legendItem(
      h("span", { class: "scale" }, icon(action), this.longer
        ? swatch({ stroke: lawColour(action), "stroke-width": 2.4 }) : ""), name,
      "mark: it is the greedy action there; line: the colour of its law"));
  }

  #point(event) {
    const { slice } = this;
    const at = this.drawing.gridAt(event);
    const last = slice.field.grid - 1;
    const words = at.map((index, k) => `${slice.labels[slice.axes[k]]} `
      + `${short(slice.low(k) + (index / last) * (slice.high(k) - slice.low(k)))}`);
    set(this.drawing.cover, { "data-tip": `${words.join(", ")}\nvalue ${short(slice.value(...at))}\n`
      + `greedy action: ${this.ctx.actionNames[slice.action(...at)] ?? "any, all are worth the same"}` });
  }
}
