// Compare: the runs of one environment, grouped by agent.

import { Chart, plotText } from "../charts.js";
import { choice, h, panel } from "../dom.js";
import { count, curveColour, short } from "../format.js";

const BINS = 40;
const MOST_RUNS = 60;

export class Compare {
  constructor(ctx) {
    this.ctx = ctx;
    this.outlines = new Map();
    this.world = null;
    this.returns = new Chart({ label: "Returns", height: 260 });
    this.states = new Chart({ label: "States found", height: 260 });
    this.table = h("table", { class: "runs" });
    this.worlds = h("span", {});
    this.note = h("p", { class: "muted chart-note" });
    this.element = h("div", { class: "columns compare" },
      panel({ title: "Return of the episodes", id: "compare-returns", controls: this.worlds,
        help: "Total reward of the episodes while learning, exploration included, averaged over "
          + "intervals of the run. Line: median of a group's runs. Band: its middle half. Dotted: "
          + "the best possible return." }, this.returns.element),
      panel({ title: "States found", id: "compare-states",
        help: "Number of states over time: median and middle half of each group." }, this.states.element),
      panel({ title: "Runs", id: "compare-runs", wide: true,
        help: "Solved: whether greedy episodes at the end all reached the goal, with a mean return "
          + "within 0.5 of the best, as in tgm runs; for trials of tgm compare, the step since when "
          + "this holds." },
      h("div", { class: "scroller" }, this.table), this.note));
  }

  async #load() {
    const { ctx } = this;
    if (this.isLoading) return;
    this.isLoading = true;
    const wanted = ctx.runs.filter((run) => !run.error).slice(-MOST_RUNS);
    for (const run of wanted) {
      if (this.outlines.has(run.id) && this.outlines.get(run.id).state !== "live") continue;
      try {
        this.outlines.set(run.id, { id: run.id, ...(await ctx.source.outline(run.id)) });
      } catch (error) {
        this.outlines.set(run.id, { ...run, error: error.message });
      }
    }
    this.isLoading = false;
    this.loadedAt = `${ctx.runs.length}|${ctx.lastStep}`;
    ctx.redraw("compare");
  }

  update() {
    const { ctx } = this;
    if (!this.element.clientWidth) return;
    if (this.loadedAt !== `${ctx.runs.length}|${ctx.lastStep}`) this.#load();
    const sound = [...this.outlines.values()].filter((run) => !run.error);
    if (!sound.length) return;
    const worlds = [...new Set(sound.map((run) => run.world))];
    const own = this.outlines.get(ctx.id)?.world;
    if (!worlds.includes(this.world)) this.world = worlds.includes(own) ? own : worlds[0];
    if (this.shownWorlds !== worlds.join("\n")) {
      this.shownWorlds = worlds.join("\n");
      const chooser = choice("world", worlds.map((name) => [name, name]), this.world, (name) => {
        this.world = name;
        ctx.redraw("option");
      }, "runs of one world are comparable");
      this.worlds.replaceChildren(...(worlds.length > 1 ? [chooser] : []));
    }
    const runs = sound.filter((run) => run.world === this.world);
    const groups = grouped(runs, this.outlines.get(ctx.id)?.agent);
    const key = `${this.world}|${this.loadedAt}|${runs.length}|${[...groups.keys()].join("|")}`;
    this.#drawReturns(key, groups, runs);
    this.#drawStates(key, groups);
    this.#drawTable(key, groups);
  }

  #drawReturns(key, groups, runs) {
    const traces = bands(groups, (run) => [run.episodes.step, run.episodes.total_reward]);
    const last = Math.max(...runs.map((run) => run.last_step));
    // More than one, if runs in the same maze had episodes of different lengths.
    for (const best of new Set(runs.map((run) => run.optimal_return))) {
      if (best === null || !traces.length) continue;
      traces.push({ x: [0, last], y: [best, best], mode: "lines", name: "best possible",
        line: { color: "gray", dash: "dot", width: 1.5 }, hoverinfo: "skip" });
    }
    this.returns.draw(key, traces, { xaxis: { title: "step" }, yaxis: { title: "return" } },
      "No episode has ended yet.");
  }

  #drawStates(key, groups) {
    const traces = bands(groups, (run) => [run.states.step, run.states.n_states]);
    this.states.draw(key, traces,
      { xaxis: { title: "step" }, yaxis: { title: "states", rangemode: "tozero" } },
      "These agents know no states.");
  }

  #drawTable(key, groups) {
    const rowsKey = `${key}|${this.ctx.id}`;
    if (this.tableKey === rowsKey) return;
    this.tableKey = rowsKey;
    const heads = [["run", ""], ["agent", ""], ["seed", ""], ["state", "finished, live, interrupted, failed"],
      ["steps", ""], ["states", "states at the end"],
      ["return", "mean return of the last 20 episodes while learning"], ["solved", "by greedy episodes; see the help"]];
    const rows = [...groups].flatMap(([agent, runs], index) => (
      runs.map((run) => this.#row(run, agent, index))));
    this.table.replaceChildren(
      h("thead", {}, h("tr", {}, heads.map(([words, tip]) => (
        h("th", { scope: "col", "data-tip": tip || null }, words))))),
      h("tbody", {}, rows));
    const lost = [...this.outlines.values()].filter((run) => run.error).length;
    const more = Math.max(0, this.ctx.runs.length - MOST_RUNS);
    this.note.textContent = [lost && `${lost} runs cannot be read`, more && `${more} older runs are left out`]
      .filter(Boolean).join("; ");
  }

  #row(run, agent, index) {
    const { ctx } = this;
    const recent = run.episodes.total_reward.slice(-20);
    const mean = recent.reduce((sum, value) => sum + value, 0) / recent.length;
    const name = ctx.source.hasSummary(run.id)
      ? h("button", { type: "button", class: "link", onclick: () => ctx.open(run.id) }, run.name)
      : run.name;
    const cells = [
      h("span", { class: "dot", style: `background:${curveColour(index)}` }), agent];
    return h("tr", { class: run.id === ctx.id ? "best" : null },
      h("td", {}, name), h("td", {}, cells), h("td", { class: "num" }, run.seed ?? "?"),
      h("td", {}, run.state), h("td", { class: "num" }, count(run.last_step)),
      h("td", { class: "num" }, run.states.n_states.at(-1) ?? "–"),
      h("td", { class: "num" }, recent.length ? short(mean) : "–"),
      h("td", { class: "num" }, solvedWords(run)));
  }
}

// Runs by agent, the agent of the shown run first.
function grouped(runs, first) {
  const groups = new Map(runs.some((run) => run.agent === first) ? [[first, []]] : []);
  for (const run of runs) groups.set(run.agent, [...(groups.get(run.agent) ?? []), run]);
  return groups;
}

function solvedWords({ solved, result }) {
  if (solved === null) return "–";
  if (!solved) return "no";
  return typeof result?.solved_at === "number" ? `from step ${count(result.solved_at)}` : "yes";
}

// The curve of one run on common bins; a bin without data takes the value of the bin before.
function binned([steps, values], last) {
  const sums = new Array(BINS).fill(0);
  const counts = new Array(BINS).fill(0);
  steps.forEach((step, index) => {
    if (values[index] === null) return;
    const bin = Math.min(BINS - 1, Math.floor((step / last) * BINS));
    sums[bin] += values[index];
    counts[bin] += 1;
  });
  let before = null;
  const end = Math.floor((Math.max(0, ...steps) / last) * BINS);
  return sums.map((sum, bin) => {
    if (counts[bin]) before = sum / counts[bin];
    return bin > end ? null : before;
  });
}

function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

function bands(groups, curve) {
  const all = [...groups.values()].flat();
  const last = Math.max(1, ...all.map((run) => run.last_step));
  const x = Array.from({ length: BINS }, (_, bin) => ((bin + 0.5) * last) / BINS);
  const traces = [];
  [...groups].forEach(([agent, runs], index) => {
    const colour = curveColour(index);
    const curves = runs.map(curve)
      .filter(([steps, values]) => steps.length && values.some((value) => value !== null))
      .map((one) => binned(one, last));
    if (!curves.length) return;
    const at = x.map((_, bin) => curves.map((one) => one[bin]).filter((value) => value !== null)
      .sort((a, b) => a - b));
    const line = (share) => at.map((values) => (values.length ? quantile(values, share) : null));
    const name = plotText(`${agent || "agent"} (${curves.length})`);
    if (curves.length > 1) {
      const kept = x.map((_, bin) => bin).filter((bin) => at[bin].length);
      const low = line(0.25);
      const high = line(0.75);
      traces.push({ x: [...kept.map((bin) => x[bin]), ...kept.toReversed().map((bin) => x[bin])],
        y: [...kept.map((bin) => high[bin]), ...kept.toReversed().map((bin) => low[bin])],
        fill: "toself", fillcolor: `${colour}33`, line: { width: 0 }, mode: "lines", hoverinfo: "skip",
        showlegend: false });
    }
    traces.push({ x, y: line(0.5), name, mode: "lines", line: { color: colour, width: 2.2,
      dash: ["solid", "dash", "dot", "dashdot"][index % 4] },
    hovertemplate: `${name}<br>step %{x:.0f}: %{y:.4~g}<extra></extra>` });
  });
  return traces;
}
