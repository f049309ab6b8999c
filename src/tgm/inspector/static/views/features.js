// Features: their names and ranges, and by how much each tells states apart.

import { h, panel } from "../dom.js";
import { percent, short } from "../format.js";

const MOST = 100; // features in the table

export class Features {
  constructor(ctx) {
    this.ctx = ctx;
    this.table = h("table", { class: "features" });
    this.element = panel({
      title: "Features",
      id: "features",
      help: "Share: how much of a feature's variance lies between the states and not within them, weighted by "
        + "their points. A feature with a share near 0 does not tell states apart. Left out: the agent itself "
        + "does not use the feature. Click a name to draw the feature across.",
    }, h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "table of features" }, this.table));
  }

  update() {
    const { ctx } = this;
    const isShown = ctx.summary.interface.n_features > 2 && Boolean(ctx.frame);
    this.element.hidden = !isShown;
    if (!isShown || this.drawn === ctx.frame) return;
    this.drawn = ctx.frame;
    const { left_out: leftOut } = ctx.summary.interface;
    const { low, high } = ctx.summary.plane;
    const rows = sharesOf(ctx.frame, ctx.featureNames.length).slice(0, MOST).map((share, k) => {
      const fill = h("span", {});
      fill.style.width = percent(share ?? 0).replace(" ", "");
      return h("tr", {},
        h("th", { scope: "row" }, h("button", { type: "button", class: "link", "data-tip": "draw this feature across",
          onclick: () => this.#across(k) }, ctx.featureNames[k])),
        h("td", { class: "num" }, `${short(low[k])} to ${short(high[k])}`),
        h("td", {}, h("span", { class: "share", "aria-hidden": "true" }, fill), share === null ? "–" : percent(share)),
        h("td", {}, leftOut.includes(k) ? "left out" : "used"));
    });
    this.table.replaceChildren(
      h("thead", {}, h("tr", {}, ["feature", "seen", "share between states", "agent"].map((words) => (
        h("th", { scope: "col", class: words === "seen" ? "num" : null }, words))))),
      h("tbody", {}, rows));
  }

  #across(k) {
    const [, up] = (this.ctx.axes ?? "").split(",");
    this.ctx.setAxes(`f${k},${up && up !== `f${k}` ? up : k === 0 ? "f1" : "f0"}`);
  }
}

// For each feature the variance between states as a share of all; null without any.
export function sharesOf({ components }, d) {
  const all = [...components.values()].filter(({ weight }) => weight > 0);
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  return Array.from({ length: d }, (_, k) => {
    const mean = all.reduce((sum, one) => sum + one.weight * one.mean[k], 0) / total;
    const between = all.reduce((sum, one) => sum + one.weight * (one.mean[k] - mean) ** 2, 0);
    const within = all.reduce((sum, one) => sum + one.weight * one.cov[k * d + k], 0);
    return between + within > 0 ? between / (between + within) : null;
  });
}
