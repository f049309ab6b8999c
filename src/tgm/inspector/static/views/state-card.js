// One state: its values, its origin, and the outcome of each action.

import { h, panel } from "../dom.js";
import { actionColour, percent, short } from "../format.js";
import { bestOf, isKnown, qOf, valueOf } from "../planner.js";

export class StateCard {
  constructor(ctx) {
    this.ctx = ctx;
    this.body = h("div", { class: "card-body" });
    this.element = panel({
      title: "State",
      id: "state-card",
      help: "The selected state, or else the recorded state of this step. Select one by a click in any "
        + "view, or with the keys [ and ].",
    }, this.body);
    this.heading = this.element.querySelector("h2");
  }

  update() {
    const { ctx } = this;
    const id = ctx.focus;
    const component = ctx.frame?.components.get(id);
    if (!component) {
      this.heading.textContent = id === null ? "State" : `State ${id}`;
      this.body.replaceChildren(h("p", { class: "empty" }, ctx.frame
        ? (id === null ? "Click a state to see its details." : this.#absence(id))
        : "No model is recorded at this step."));
      return;
    }
    this.heading.textContent = `State ${id}`;
    this.body.replaceChildren(
      h("p", { class: "muted" }, ctx.selected === null ? "recorded state of this step" : "selected"),
      this.#facts(component), this.#actions(component));
  }

  #absence(id) {
    const lane = this.ctx.summary.lanes.find((one) => one.id === id);
    if (!lane) return "This state is not part of the model at this step.";
    if (lane.birth !== null && this.ctx.step < lane.birth) return `This state is born at step ${lane.birth}.`;
    if (lane.end !== null && this.ctx.step >= lane.end) {
      return lane.into === null ? `This state was removed at step ${lane.end}.`
        : `This state was merged into state ${lane.into} at step ${lane.end}.`;
    }
    return "This state is not part of the model at this step.";
  }

  #facts(component) {
    const { ctx } = this;
    const d = component.mean.length;
    const spread = component.mean.map((_, k) => Math.sqrt(component.cov[k * d + k]));
    const lane = ctx.summary.lanes.find((one) => one.id === component.id);
    const born = lane?.birth === null || !lane ? "not recorded" : `step ${lane.birth}`;
    const parent = lane?.parent === null || !lane ? "" : `, split from ${lane.parent}`;
    const facts = [
      ["value", short(valueOf(ctx.plan, component.id)), "expected discounted reward from this state"],
      ["points", short(component.weight), "observations of the state, including those deleted from memory"],
      ["mean", `(${shown(component.mean)})`, "mean of its observations"],
      ["spread", `(${shown(spread)})`, "standard deviation of each feature"],
      ...(ctx.isOnSupport ? [["kind", component.weight > 0 ? "visited" : "imagined",
        "visited: the agent was near it; imagined: laws lead there"]] : [
        ["born", born + parent, "step at which it became part of the model"],
        ["shape", component.fixed ? "fixed" : "flexible", "fixed: later fits keep the state"]]),
    ];
    const alike = ctx.twins.get(component.id)?.ids.filter((id) => id !== component.id);
    if (alike) facts.push(["looks like", alike.map((id) => `state ${id}`).join(", "), "what happens next tells them apart"]);
    return h("dl", { class: "facts" }, facts.map(([name, value, tip]) => [
      h("dt", { "data-tip": tip }, name), h("dd", { "data-fact": name }, value)]));
  }

  #actions(component) {
    const { ctx } = this;
    const rows = ctx.frame.rows.get(component.id) ?? [];
    const q = qOf(ctx.plan, component.id);
    const best = bestOf(ctx.plan, component.id);
    return h("table", { class: "actions" },
      h("thead", {}, h("tr", {},
        h("th", { scope: "col" }, "action"),
        h("th", { scope: "col", "data-tip": "the most likely next state" }, "leads to"),
        h("th", { scope: "col", "data-tip": "how often the action was tried in this state" }, "tries"),
        h("th", { scope: "col", "data-tip": "value of the action in this state" }, "value"))),
      h("tbody", {}, ctx.actionNames.map((name, action) => {
        const row = rows[action];
        return h("tr", { class: action === best ? "best" : null },
          h("th", { scope: "row" },
            h("span", { class: "dot", style: `background:${actionColour(ctx.actionNames, action)}` }),
            name),
          h("td", {}, row ? this.#leadsTo(component.id, row) : "unknown"),
          h("td", { class: "num" }, row ? short(row.visits) : "0"),
          h("td", { class: "num" }, isKnown(ctx.plan, component.id, action) ? short(q[action]) : "–"));
      })));
  }

  #leadsTo(id, row) {
    if (row.end > 0.5) return `the end, ${percent(row.end)}`;
    const likely = row.next.reduce((best, next) => (next.p > best.p ? next : best));
    const where = likely.id === id ? "itself" : String(likely.id);
    return [h("button", { type: "button", class: "link", "data-tip": "select this state",
      onclick: () => this.ctx.select(likely.id) }, where), `, ${percent(likely.p)}`];
  }
}

function shown(values) {
  const words = values.slice(0, 4).map((value) => short(value));
  return values.length > 4 ? `${words.join(", ")}, …` : words.join(", ");
}
