// The choice of the two coordinates that all drawings share.

import { Choices, choice } from "./dom.js";
import { LAYOUT, axisOptions, usualAxes } from "./plane.js";

export class AxesControl {
  constructor(ctx) {
    this.ctx = ctx;
    this.choices = new Choices("axes-control");
    this.element = this.choices.element;
  }

  update() {
    const { ctx } = this;
    const axes = ctx.axes ?? usualAxes(ctx.summary);
    const key = `${axes}|${ctx.featureNames.join("\n")}`;
    this.choices.update(ctx.id, key, () => this.#selects(axes));
  }

  #selects(axes) {
    const { ctx } = this;
    const options = axisOptions(ctx.summary);
    const isLayout = axes === LAYOUT;
    const usual = usualAxes(ctx.summary) === LAYOUT ? "f0" : usualAxes(ctx.summary);
    const [x, y] = (isLayout ? usual : axes).split(",");
    const across = choice("across", [[LAYOUT, "transitions"], ...options], isLayout ? LAYOUT : x,
      (name) => ctx.setAxes(name === LAYOUT ? LAYOUT : [name, y].filter(Boolean).join()),
      "the horizontal coordinate; or places by the transitions: states that lead to each other are near");
    const up = !isLayout && y && choice("up", options, y, (name) => ctx.setAxes(`${x},${name}`),
      "the vertical coordinate");
    return [across, up];
  }
}
