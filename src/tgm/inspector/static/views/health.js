// Health: findings about the run, and where the states are.

import { h, panel } from "../dom.js";
import { Figure } from "../figure.js";

const SIGNS = { problem: "✕", warning: "!", note: "i", good: "✓" };

export class Health {
  constructor(ctx, { most = Infinity, title = "Health" } = {}) {
    this.ctx = ctx;
    this.most = most;
    this.list = h("ul", { class: "findings" });
    this.element = panel({
      title,
      id: most === Infinity ? "health" : "health-brief",
      help: "Findings about the end of the run. ✕ problem, ! warning, i note, ✓ sound.",
    }, this.list);
  }

  update(reasons) {
    if (!reasons.has("run")) return;
    const { ctx } = this;
    const all = ctx.summary.health;
    const items = all.slice(0, this.most).map((finding) => h("li", { class: `finding ${finding.level}` },
      h("span", { class: "sign", "aria-label": finding.level }, SIGNS[finding.level]),
      h("div", {},
        h("strong", {}, finding.title),
        h("p", {}, finding.text),
        finding.ids.slice(0, 8).map((id) => h("button", { type: "button", class: "link",
          "data-tip": "select this state",
          onclick: () => { if (ctx.selected !== id) ctx.select(id); } }, `state ${id}`)),
        finding.step !== null && h("button", { type: "button", class: "link",
          onclick: () => ctx.goTo(finding.step) }, `go to step ${finding.step}`))));
    const more = all.length - items.length;
    if (more > 0) items.push(h("li", { class: "muted" }, `and ${more} more under Health`));
    this.list.replaceChildren(...items);
  }
}

// A map of the states.
export class Where {
  constructor(ctx) {
    this.ctx = ctx;
    this.figure = new Figure("The states");
    this.figure.onSelect(ctx);
    this.element = panel({ title: "Map of the states", id: "where",
      help: "The states at the step of the timeline; the selected one is marked." }, this.figure.element);
  }

  zoomed() { this.update(); }

  update() {
    const { ctx, figure } = this;
    if (!figure.layout(ctx)) return;
    figure.drawStates(ctx, (component) => ({ tip: () => `state ${component.id}` }));
  }
}
