// Policy and value: the greedy action and the value of each state.

import { h, legendItem, panel, set } from "../dom.js";
import { Figure } from "../figure.js";
import { css, sequential, short } from "../format.js";
import { PolicyLayer } from "../policy-layer.js";

export class Policy {
  constructor(ctx) {
    this.ctx = ctx;
    this.figure = new Figure("Policy and value");
    this.figure.onSelect(ctx);
    this.layer = new PolicyLayer(this.figure);
    this.scale = new ValueScale();
    this.element = panel({
      title: "Policy and value",
      id: "policy",
      help: "Shade: the value of a state, the discounted reward expected from it under the best "
        + "known plan. Arrows: the actions of that plan, several if they have the same value; 'any' "
        + "if all have, as before a goal is known. '?': nothing was tried there yet.",
      legend: [
        this.scale.element,
        legendItem("→ ", "best known action", "the greedy action; its name if it does not move the agent"),
      ],
    }, this.figure.element);
  }

  zoomed() { this.update(); }

  update() {
    const { ctx, figure } = this;
    this.element.hidden = ctx.field !== null || ctx.isFieldComing; // the field shows more
    this.scale.element.hidden = !ctx.plan;
    if (this.element.hidden || !figure.layout(ctx)) return;
    this.scale.draw(this.layer.draw(ctx, ctx.plan));
    set(figure.svg, { "data-step": ctx.step });
  }
}

// The shades of values, with the lowest and the highest one.
export class ValueScale {
  constructor() {
    [this.low, this.high, this.ramp] = [h("span", {}), h("span", {}), h("span", { class: "ramp" })];
    this.element = legendItem(h("span", { class: "scale" }, this.low, this.ramp, this.high), "value",
      "expected discounted reward; the scale covers the states of this step");
  }

  draw([low, high]) {
    this.low.textContent = short(low);
    this.high.textContent = short(high);
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => css(sequential(share)));
    this.ramp.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  }
}
