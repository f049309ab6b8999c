// Surprise: the negative log density of each observation before it was added.

import { h, panel } from "../dom.js";
import { Chart } from "../charts.js";
import { curveColour, fixed } from "../format.js";

const MOST_POINTS = 2400;

export class Surprise {
  constructor(ctx) {
    this.ctx = ctx;
    this.chart = new Chart({ label: "Surprise", height: 230, onStep: (step) => ctx.goTo(step) });
    this.words = h("p", { class: "muted chart-note" });
    this.element = panel({
      title: "Surprise",
      id: "surprise",
      help: "The negative log density, in nats, that the model gave to each observation before it "
        + "was added. Peaks show a new place or a changed wall. Click a point to go to that step.",
    }, this.chart.element, this.words);
  }

  update() {
    const { ctx } = this;
    if (!this.chart.element.clientWidth) return;
    const loaded = ctx.history.chunks.size;
    const { steps, values } = this.#data(loaded);
    const trace = { x: steps, y: values, mode: "markers", type: "scatter",
      marker: { size: 4, color: curveColour(), opacity: 0.55 },
      hovertemplate: "step %{x}<br>surprise %{y:.3f} nats<extra></extra>" };
    this.chart.draw(`${ctx.id}|${ctx.lastStep}|${loaded}`, [trace],
      { xaxis: { title: "step", range: [0, ctx.lastStep] }, yaxis: { title: "nats" } },
      "This agent gives no densities.");
    this.chart.moveCursor(ctx.step);
    const row = ctx.row;
    this.words.textContent = row && row.logDensity !== null
      ? `step ${row.step}: surprise ${fixed(-row.logDensity)} nats` : "";
    const unread = ctx.history.steps.length - loaded;
    if (unread > 0) this.words.textContent += ` (${unread} chunks of the history are not loaded yet)`;
  }

  // Of a long history, each group of neighbouring points shows its largest surprise.
  #data(loaded) {
    const key = `${this.ctx.id}|${loaded}|${this.ctx.lastStep}`;
    if (this.key === key) return this.kept;
    this.key = key;
    const all = this.ctx.history.surprises();
    const size = Math.ceil(all.steps.length / MOST_POINTS);
    const steps = [];
    const values = [];
    for (let at = 0; at < all.steps.length; at += size) {
      let top = at;
      for (let k = at; k < Math.min(at + size, all.steps.length); k += 1) {
        if (all.values[k] > all.values[top]) top = k;
      }
      steps.push(all.steps[top]);
      values.push(all.values[top]);
    }
    this.kept = { steps, values };
    return this.kept;
  }
}
