// Free energy: over the run, by term, by state, and within a fit where that was recorded.

import { choice, h, panel } from "../dom.js";
import { Chart, plotText } from "../charts.js";
import { curveColour, PALETTE } from "../format.js";

const MODES = [
  ["run", "over the run"], ["terms", "by term"], ["states", "by state"], ["fit", "within a fit"],
];

export class Energy {
  constructor(ctx) {
    this.ctx = ctx;
    this.mode = "run";
    this.chart = new Chart({ label: "Free energy", height: 230, onStep: (step) => {
      if (this.mode === "run" || this.mode === "terms") ctx.goTo(step);
    } });
    this.words = h("p", { class: "muted chart-note" });
    this.element = panel({
      title: "Free energy",
      id: "energy",
      help: "How badly the model explains the observations, in nats; less is better. For the default "
        + "agent it is the negative log evidence of all observations so far, each predicted before "
        + "it was added: its slope is the surprise. Click a point to go to that step.",
      controls: [choice("show", MODES, this.mode, (mode) => {
        this.mode = mode;
        ctx.redraw("option");
      }, "which part is drawn")],
    }, this.chart.element, this.words);
  }

  update() {
    const { ctx } = this;
    const draw = { run: () => this.#run(), terms: () => this.#terms(), states: () => this.#states(),
      fit: () => this.#fit() }[this.mode];
    this.words.textContent = draw() ?? "";
    if (this.mode === "run" || this.mode === "terms") this.chart.moveCursor(ctx.step);
    else this.chart.cursor.hidden = true;
  }

  #run() {
    const { ctx } = this;
    const { series } = ctx.summary.log;
    const trace = { x: series.step, y: series.free_energy, mode: "lines", name: "free energy",
      line: { color: curveColour(), width: 2 }, hovertemplate: "step %{x}<br>%{y:.4s} nats<extra></extra>" };
    this.chart.draw(`run|${ctx.id}|${ctx.lastStep}`, [trace],
      { xaxis: { title: "step" }, yaxis: { title: "nats" } }, "This agent records no free energy.");
  }

  #terms() {
    const { ctx } = this;
    const { series, terms } = ctx.summary.log;
    const traces = Object.entries(terms).map(([name, values], index) => ({
      x: series.step, y: values, name: plotText(name), mode: "lines", connectgaps: true,
      line: { color: PALETTE[index % PALETTE.length], width: 1.6,
        dash: index >= PALETTE.length ? "dot" : "solid" },
      hovertemplate: "%{fullData.name}<br>step %{x}: %{y:.4s} nats<extra></extra>" }));
    this.chart.draw(`terms|${ctx.id}|${ctx.lastStep}`, traces,
      { xaxis: { title: "step" }, yaxis: { title: "nats" }, hovermode: "closest" },
      "This agent's free energy has no terms: it is a sum over observations (see Surprise).");
  }

  #states() {
    const { ctx } = this;
    const full = ctx.frame?.full;
    const ids = full ? [...full.evidence.keys()].sort((a, b) => a - b) : [];
    const trace = { x: ids.map((id) => `${id}`), y: ids.map((id) => -full.evidence.get(id)), type: "bar",
      marker: { color: ids.map((id) => (id === ctx.selected ? PALETTE[5] : curveColour())) },
      hovertemplate: "state %{x}<br>%{y:.4s} nats<extra></extra>" };
    this.chart.draw(`states|${ctx.id}|${full?.step}|${ctx.selected}`, [trace],
      { xaxis: { title: "state", type: "category" }, yaxis: { title: "nats" } });
    return full ? `negative log evidence of each state's observations, recorded at step ${full.step}` : "";
  }

  #fit() {
    const { ctx } = this;
    const at = ctx.summary.log.paths.findLast(([step]) => step <= ctx.step);
    const trace = at && { x: at[1].map((_, index) => index + 1), y: at[1], mode: "lines+markers",
      line: { color: curveColour() }, hovertemplate: "sweep %{x}<br>%{y:.6s} nats<extra></extra>" };
    this.chart.draw(`fit|${ctx.id}|${at?.[0]}`, at ? [trace] : [],
      { xaxis: { title: "sweep" }, yaxis: { title: "nats" } },
      ctx.plansWithModel ? "This agent learns at every step, without fits in sweeps."
        : "No fit was recorded before this step.");
    return at ? `the fit at step ${at[0]}: each sweep lowers the free energy` : "";
  }
}
