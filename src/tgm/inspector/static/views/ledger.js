// Data ledger: the points in memory, and those that only the states' statistics hold.

import { choice, panel } from "../dom.js";
import { Chart } from "../charts.js";
import { curveColour, PALETTE } from "../format.js";
import { drawnStates } from "../states.js";

export class Ledger {
  constructor(ctx) {
    this.ctx = ctx;
    this.mode = "time";
    this.chart = new Chart({ label: "Data ledger", height: 230, onStep: (step) => {
      if (this.mode === "time") ctx.goTo(step);
      else ctx.select(Number(step));
    } });
    this.element = panel({
      title: "Data ledger",
      id: "ledger",
      help: "Over time: points that are kept in memory, and points that were deleted because the "
        + "statistics of a state hold them. By state: points in memory, and points that are only in "
        + "the statistics (absorbed).",
      controls: [choice("show", [["time", "over time"], ["states", "by state"]], this.mode, (mode) => {
        this.mode = mode;
        ctx.redraw("option");
      }, "what the chart shows")],
    }, this.chart.element);
  }

  update() {
    if (this.mode === "time") this.#time();
    else this.#states();
  }

  #time() {
    const { ctx } = this;
    const { series } = ctx.summary.log;
    const line = (name, y, color, dash) => ({ x: series.step, y, name, mode: "lines",
      line: { color, width: 2, dash }, hovertemplate: `%{y:,} ${name}<extra></extra>` });
    const hasData = series.n_kept.some((value) => value !== null);
    this.chart.draw(`time|${ctx.id}|${ctx.lastStep}`, hasData ? [
      line("kept", series.n_kept, curveColour(), "solid"),
      line("forgotten", series.n_forgotten_total, PALETTE[1], "dash")] : [],
    { xaxis: { title: "step" }, yaxis: { title: "points" }, hovermode: "x unified" },
    "This agent records no points in memory.");
    this.chart.moveCursor(ctx.step);
  }

  #states() {
    const { ctx } = this;
    const components = drawnStates(ctx).sort((a, b) => a.id - b.id);
    const kept = new Map();
    for (const { state } of ctx.frame?.full?.kept ?? []) kept.set(state, (kept.get(state) ?? 0) + 1);
    const ids = components.map((component) => `${component.id}`);
    const still = components.map((component) => Math.min(kept.get(component.id) ?? 0, component.weight));
    const folded = components.map((component, index) => component.weight - still[index]);
    const bar = (name, y, color) => ({ x: ids, y, name, type: "bar", marker: { color,
      opacity: ids.map((id) => (ctx.selected === null || Number(id) === ctx.selected ? 1 : 0.35)) },
    hovertemplate: `state %{x}: %{y:.4~g} ${name}<extra></extra>` });
    this.chart.draw(`states|${ctx.id}|${ctx.frame?.step}|${ctx.selected}`,
      [bar("kept", still, curveColour()), bar("absorbed", folded, PALETTE[1])],
      { barmode: "stack", xaxis: { title: "state", type: "category" }, yaxis: { title: "points" } });
    this.chart.cursor.hidden = true;
  }
}
