// What if: the plan of the same model with another discount and other rewards.

import { h, panel } from "../dom.js";
import { Figure } from "../figure.js";
import { short } from "../format.js";
import { PolicyLayer } from "../policy-layer.js";
import { samePlan, valueOf } from "../planner.js";
import { NO_MODEL } from "../states.js";
import { ValueScale } from "./policy.js";

export class WhatIf {
  constructor(ctx) {
    this.ctx = ctx;
    this.bonus = new Map();
    this.gamma = null;
    this.before = new Figure("Recorded plan");
    this.after = new Figure("Changed plan");
    this.layers = [this.before, this.after].map((figure) => new PolicyLayer(figure));
    this.scales = [new ValueScale(), new ValueScale()];
    this.before.onSelect(ctx);
    this.after.onSelect(ctx);
    this.slider = h("input", { type: "range", min: 0, max: 0.999, step: 0.001, id: "gamma",
      "aria-label": "gamma", oninput: (event) => this.#setGamma(Number(event.target.value)) });
    this.number = h("output", { class: "num" });
    this.reward = h("input", { type: "number", step: 1, class: "number", id: "reward",
      "aria-label": "extra reward", onchange: (event) => this.#setBonus(Number(event.target.value)) });
    this.target = h("span", {});
    this.list = h("ul", { class: "bonuses" });
    this.words = h("div", { class: "why" });
    this.element = h("div", { class: "columns what-if" },
      panel({ title: "Recorded plan", id: "plan-before",
        help: "The greedy plan of the model at this step, with the agent's own gamma.",
        legend: [this.scales[0].element] }, this.before.element),
      panel({ title: "Changed plan", id: "plan-after",
        help: "The same model with the changed gamma and rewards, by value iteration in this page. "
          + "States whose action changes have a ring.", legend: [this.scales[1].element] }, this.after.element),
      panel({ title: "What if", id: "what-if",
        help: "Nothing here changes the run: the page computes a new plan from the recorded model." },
      h("div", { class: "form" },
        h("label", { class: "row", "data-tip": "discount: the weight of a reward one step later. Low values "
          + "count only the next steps" }, h("span", {}, "gamma"), this.slider, this.number),
        h("div", { class: "row", "data-tip": "added to the reward of every step that arrives in the state" },
          h("span", {}, "extra reward in"), this.target, this.reward),
        this.list,
        h("button", { type: "button", onclick: () => this.reset() }, "reset")),
      this.words));
  }

  reset() {
    this.bonus.clear();
    this.gamma = null;
    this.ctx.redraw("option");
  }

  #setGamma(gamma) {
    this.gamma = gamma;
    this.ctx.redraw("option");
  }

  #setBonus(value) {
    const id = this.ctx.focus;
    if (id === null || !Number.isFinite(value)) return;
    if (value === 0) this.bonus.delete(id);
    else this.bonus.set(id, value);
    this.ctx.redraw("option");
  }

  update(reasons) {
    const { ctx } = this;
    if (reasons.has("run") && this.shown !== ctx.id) {
      this.shown = ctx.id;
      this.bonus.clear();
      this.gamma = null;
    }
    const hasSize = [this.before, this.after].map((figure) => figure.layout(ctx)).every(Boolean);
    if (!ctx.frame) this.#clear(hasSize);
    if (!hasSize || !ctx.frame) return;
    const gamma = this.gamma ?? ctx.gamma;
    const bonus = this.bonus.size ? this.bonus : null;
    const changed = this.gamma === null && !bonus ? ctx.plan : ctx.planWith(gamma, bonus);
    this.changed = changed;
    this.#drawPlans();
    this.#drawForm(gamma);
    this.#drawWords(changed);
  }

  zoomed() {
    if (this.changed && this.before.layout(this.ctx) && this.after.layout(this.ctx)) this.#drawPlans();
  }

  // Without a model there is no plan.
  #clear(hasSize) {
    this.changed = null;
    if (hasSize) for (const layer of this.layers) layer.draw(this.ctx, null);
    for (const { element } of this.scales) element.hidden = true;
    this.target.textContent = "(select a state)";
    this.reward.disabled = true;
    this.list.replaceChildren();
    this.words.replaceChildren(h("p", { class: "empty" }, NO_MODEL));
  }

  #drawPlans() {
    const { ctx, changed } = this;
    for (const { element } of this.scales) element.hidden = false;
    this.scales[0].draw(this.layers[0].draw(ctx, ctx.plan));
    this.scales[1].draw(this.layers[1].draw(ctx, changed, ctx.plan));
  }

  #drawForm(gamma) {
    const { ctx } = this;
    if (document.activeElement !== this.slider) this.slider.value = gamma;
    this.number.textContent = gamma.toFixed(3);
    this.target.textContent = ctx.focus === null ? "(select a state)" : `state ${ctx.focus}`;
    if (document.activeElement !== this.reward) this.reward.value = this.bonus.get(ctx.focus) ?? 0;
    this.reward.disabled = ctx.focus === null;
    this.list.replaceChildren(...[...this.bonus].map(([id, value]) => h("li", {},
      `${value > 0 ? "+" : "−"}${short(Math.abs(value))} for arriving in state ${id} `,
      h("button", { type: "button", class: "link", onclick: () => {
        this.bonus.delete(id);
        ctx.redraw("option");
      } }, "remove"))));
  }

  #drawWords(changed) {
    const { ctx } = this;
    const moved = ctx.plan.ids.filter((id) => !samePlan(changed, ctx.plan, id));
    const lines = [];
    if (this.gamma === null && !this.bonus.size) {
      lines.push("Move gamma, or give a state an extra reward (negative to avoid it), "
        + "and see how the plan changes.");
    } else if (!moved.length) lines.push("The plan stays the same in every state.");
    else {
      const change = moved.length === 1 ? "changes its" : "change their";
      lines.push(`${moved.length} of ${ctx.plan.ids.length} states ${change} plan`
        + `${moved.length <= 12 ? `: ${moved.join(", ")}` : ""}.`);
    }
    const id = ctx.focus;
    if (id !== null && valueOf(ctx.plan, id) !== null) {
      lines.push(`State ${id} has value ${short(valueOf(ctx.plan, id))} in the recorded plan and `
        + `${short(valueOf(changed, id))} in the changed one.`);
    }
    if (ctx.isOnSupport) {
      lines.push("In this world an action is held for some steps. The changed plan is computed as if it "
        + "were chosen at each, so it can differ even where nothing was changed.");
    }
    if (!ctx.plansWithModel) {
      lines.push("This agent learns its values by Q-learning. The changed plan is computed from its "
        + "transition model, so it can differ even where nothing was changed.");
    }
    this.words.replaceChildren(...lines.map((line) => h("p", {}, line)));
    this.element.setAttribute("data-changed", moved.length);
  }
}
