// The choice of the two coordinates that all drawings share.

import { choice, h } from "./dom.js";
import { LAYOUT, axisOptions, usualAxes } from "./plane.js";

export class AxesControl {
  constructor(ctx) {
    this.ctx = ctx;
    this.element = h("span", { class: "axes-control" });
  }

  update() {
    const { ctx } = this;
    const axes = ctx.axes ?? usualAxes(ctx.summary);
    const key = `${ctx.id}|${axes}|${ctx.featureNames.join("\n")}`;
    if (key === this.key || this.element.contains(document.activeElement)) return;
    this.key = key;
    const options = axisOptions(ctx.summary);
    const isLayout = axes === LAYOUT;
    const usual = usualAxes(ctx.summary) === LAYOUT ? "f0" : usualAxes(ctx.summary);
    const [x, y] = (isLayout ? usual : axes).split(",");
    const across = choice("across", [[LAYOUT, "transitions"], ...options], isLayout ? LAYOUT : x,
      (name) => this.#set(name === LAYOUT ? LAYOUT : [name, y].filter(Boolean).join()),
      "the horizontal coordinate; or places by the transitions: states that lead to each other are near");
    const up = !isLayout && y && choice("up", options, y, (name) => this.#set(`${x},${name}`),
      "the vertical coordinate");
    this.element.replaceChildren(...[across, up].filter(Boolean));
  }

  #set(axes) {
    document.activeElement?.blur();
    this.ctx.setAxes(axes);
  }
}
