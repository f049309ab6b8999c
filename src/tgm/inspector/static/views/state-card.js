// One state: its values, its origin, and the outcome of each action.

import { h, panel } from "../dom.js";
import { actionColour, amount, percent, short } from "../format.js";
import { bestOf, isKnown, qOf, valueOf } from "../planner.js";
import { NO_MODEL } from "../states.js";

const MOST_FEATURES = 8; // by name
const MOST_BEFORE = 4; // ways to a state
const MOST_OUTCOMES = 3; // of an action
const LIKELY = 0.05; // probability of an outcome that is named

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
        : NO_MODEL));
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
      ...this.#features(component.mean, spread),
      ...(ctx.isOnSupport ? [["kind", component.weight > 0 ? "visited" : "imagined",
        "visited: the agent was near it; imagined: laws lead there"]] : [
        ["born", born + parent, "step at which it became part of the model"],
        ["shape", component.fixed ? "fixed" : "flexible", "fixed: later fits keep the state"]]),
    ];
    const alike = ctx.twins.get(component.id)?.ids.filter((id) => id !== component.id);
    if (alike) {
      facts.push(["looks like", alike.map((id) => `state ${id}`).join(", "), "what happens next tells them apart"],
        ["comes after", this.#before(component.id), "states and actions that lead here: what came before tells them apart"]);
    }
    return h("dl", { class: "facts" }, facts.map(([name, value, tip]) => [
      h("dt", { "data-tip": tip }, name), h("dd", { "data-fact": name }, value)]));
  }

  // Mean and spread: of many features each by its name, those that the agent uses first.
  #features(mean, spread) {
    const { featureNames, featureOrder } = this.ctx;
    if (mean.length <= 2) {
      return [["mean", `(${shown(mean)})`, "mean of its observations"],
        ["spread", `(${shown(spread)})`, "standard deviation of each feature"]];
    }
    const rows = featureOrder.slice(0, MOST_FEATURES).map((k) => [featureNames[k],
      `${short(mean[k])}${spread[k] > 0 ? ` ± ${short(spread[k])}` : ""}`, "mean and standard deviation of this feature"]);
    const more = mean.length - rows.length;
    return more > 0 ? [...rows, ["others", amount(more, "feature"), "the table of states has them"]] : rows;
  }

  // "12 by right, 3 by up": which states most often led to this one, and by which actions.
  #before(id) {
    const { ctx } = this;
    const found = [...ctx.frame.rows].flatMap(([from, rows]) => rows.flatMap((row, action) => (
      from === id ? [] : (row?.next ?? []).filter((next) => next.id === id)
        .map((next) => ({ words: `${from} by ${ctx.actionNames[action]}`, n: next.count })))));
    const often = found.sort((a, b) => b.n - a.n).slice(0, MOST_BEFORE).map(({ words }) => words);
    return often.join(", ") || "no other state";
  }

  #actions(component) {
    const { ctx } = this;
    const rows = ctx.frame.rows.get(component.id) ?? [];
    const q = qOf(ctx.plan, component.id);
    const best = bestOf(ctx.plan, component.id);
    return h("table", { class: "actions" },
      h("thead", {}, h("tr", {},
        h("th", { scope: "col" }, "action"),
        h("th", { scope: "col", "data-tip": "the most likely next states, and how often the episode ends" }, "leads to"),
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

  // The likely outcomes of an action, the most likely first.
  #leadsTo(id, row) {
    if (row.end > 0.5) return `the end, ${percent(row.end)}`;
    const order = row.next.toSorted((a, b) => b.p - a.p);
    const likely = order.filter(({ p }, index) => index === 0 || p >= LIKELY).slice(0, MOST_OUTCOMES);
    const lines = likely.map((next) => h("div", {},
      h("button", { type: "button", class: "link", "data-tip": "select this state",
        onclick: () => this.ctx.select(next.id) }, next.id === id ? "itself" : String(next.id)), `, ${percent(next.p)}`));
    return row.end >= LIKELY ? [...lines, h("div", {}, `ends with ${percent(row.end)}`)] : lines;
  }
}

function shown(values) { return values.map((value) => short(value)).join(", "); }
