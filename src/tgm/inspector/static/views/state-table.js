// The states as a table: what each looks like, what it is worth, what to do in it.

import { h, panel } from "../dom.js";
import { count, short } from "../format.js";
import { bestActions, valueOf } from "../planner.js";
import { NO_MODEL } from "../states.js";

const MOST = 300; // rows
const MOST_FEATURES = 12; // columns

export class StateTable {
  constructor(ctx) {
    this.ctx = ctx;
    this.sort = { name: "state", isUp: true };
    this.table = h("table", { class: "runs" });
    this.note = h("p", { class: "muted" });
    this.element = panel({
      title: "States",
      id: "states",
      wide: true,
      help: "All states of this step: the mean of each feature, the points, the value and the best known action. "
        + "Click a heading to sort, a state to select it in all views.",
    }, h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "table of states" }, this.table),
    this.note);
  }

  update() {
    const { ctx } = this;
    const key = [ctx.id, ctx.selected, this.sort.name, this.sort.isUp].join();
    if (!this.element.clientWidth || (this.drawn === ctx.frame && this.key === key)) return;
    [this.drawn, this.key] = [ctx.frame, key];
    if (!ctx.frame) {
      this.table.replaceChildren();
      this.note.textContent = NO_MODEL;
      return;
    }
    const columns = [["state", (one) => one.id],
      ...ctx.featureOrder.slice(0, MOST_FEATURES).map((k) => [ctx.featureNames[k], (one) => one.mean[k]]),
      ["points", (one) => one.weight], ["value", (one) => valueOf(ctx.plan, one.id)],
      ["best action", (one) => bestActions(ctx.plan, one.id).map((action) => ctx.actionNames[action]).join(", ")]];
    const of = columns.find(([name]) => name === this.sort.name)?.[1] ?? columns[0][1];
    const sign = this.sort.isUp ? 1 : -1;
    const order = (a, b) => sign * (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
    const all = [...ctx.frame.components.values()].sort((one, other) => order(of(one), of(other)));
    this.table.replaceChildren(
      h("thead", {}, h("tr", {}, columns.map(([name]) => this.#head(name)))),
      h("tbody", {}, all.slice(0, MOST).map((one) => this.#row(one, columns))));
    const notes = [all.length > MOST && `the first ${MOST} of ${count(all.length)} states`,
      ctx.featureNames.length > MOST_FEATURES && `the first ${MOST_FEATURES} of ${ctx.featureNames.length} features`];
    this.note.textContent = notes.filter(Boolean).join("; ");
  }

  #head(name) {
    const isKey = name === this.sort.name;
    const isNumber = name !== "state" && name !== "best action";
    return h("th", { scope: "col", class: isNumber ? "num" : null, "aria-sort": isKey ? (this.sort.isUp ? "ascending" : "descending") : null },
      h("button", { type: "button", class: "sort", onclick: () => {
        this.sort = { name, isUp: isKey ? !this.sort.isUp : true };
        this.ctx.redraw("option");
      } }, name, h("span", { "aria-hidden": "true" }, isKey ? (this.sort.isUp ? " ▲" : " ▼") : "")));
  }

  #row(one, columns) {
    const { ctx } = this;
    return h("tr", { class: one.id === ctx.selected ? "best" : null }, columns.map(([name, of]) => {
      if (name === "state") {
        return h("td", {}, h("button", { type: "button", class: "link", onclick: () => ctx.select(one.id) },
          `state ${one.id}`));
      }
      const value = of(one);
      return h("td", { class: typeof value === "number" ? "num" : null,
        "data-value": typeof value === "number" ? value : null },
        typeof value === "number" ? short(value) : value || "–");
    }));
  }
}
