// Compare: the runs of one environment, in groups by any setting.

import { Chart, plotText } from "../charts.js";
import { curvesOf } from "../curves.js";
import { Choices, checkbox, choice, h, panel } from "../dom.js";
import { amount } from "../format.js";
import { RunTable, filtered, settingNames, valueOf } from "../run-table.js";

const MOST_RUNS = 400; // whose curves are fetched
const AT_ONCE = 6; // requests
const MODES = [["median", "median, middle half"], ["mean", "mean, 95 % interval"], ["runs", "each run"]];

export class Compare {
  // `open` shows the run with an id.
  constructor(ctx, open) {
    this.ctx = ctx;
    this.outlines = new Map();
    [this.world, this.by, this.mode, this.words, this.all] = [null, "agent", "median", "", false];
    this.returns = new Chart({ label: "Returns", height: 260 });
    this.states = new Chart({ label: "States found", height: 260 });
    this.table = new RunTable(ctx);
    this.table.onChange = () => ctx.redraw("option");
    this.table.onOpen = open;
    this.choices = new Choices("controls");
    this.filter = h("input", { type: "search", class: "filter", "aria-label": "filter runs",
      placeholder: "filter: words, gamma=0.9, seed>3",
      "data-tip": "runs that match all words: a part of name, agent, state, tag or note; or a comparison, "
        + "such as gamma=0.9, seed>3, steps>=5000",
      oninput: () => {
        this.words = this.filter.value;
        ctx.redraw("option");
      } });
    this.note = h("p", { class: "muted chart-note", role: "status" });
    this.element = h("div", { class: "columns compare" },
      panel({ title: "Return of the episodes", id: "compare-returns", controls: this.choices.element,
        help: "Total reward of the episodes while learning, exploration included, averaged over "
          + "intervals of the run. Line: the middle of a group; band: its middle half, or the 95 % interval of "
          + "its mean. The line is dotted where runs of the group have ended already. Grey: the best possible "
          + "return." }, this.returns.element),
      panel({ title: "States found", id: "compare-states",
        help: "Number of states over time; lines and bands as on the left." }, this.states.element),
      panel({ title: "Runs", id: "compare-runs", wide: true,
        controls: [this.filter, checkbox("all settings", this.all, (on) => {
          this.all = on;
          ctx.redraw("option");
        }, "also the settings that are the same in all runs")],
        help: "Click a heading to sort. Settings are columns where they differ. Solved: whether greedy "
          + "episodes at the end all reached the goal, with a mean return within 0.5 of the best, as in tgm runs; "
          + "for trials of tgm compare, the step since when this holds. Tags and notes: tgm note." },
      h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "table of runs" },
        this.table.element), this.note));
  }

  async #load() {
    const { ctx } = this;
    if (this.isLoading) return;
    this.isLoading = true;
    const wanted = ctx.runs.filter((run) => !run.error).slice(-MOST_RUNS).filter((run) => (
      !this.outlines.has(run.id) || this.outlines.get(run.id).state === "live"));
    const next = async () => {
      for (let run = wanted.pop(); run; run = wanted.pop()) {
        try {
          this.outlines.set(run.id, { id: run.id, ...(await ctx.source.outline(run.id)) });
        } catch (error) {
          this.outlines.set(run.id, { ...run, error: error.message });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    this.isLoading = false;
    this.loadedAt = `${ctx.runs.length}|${ctx.lastStep}`;
    ctx.redraw("compare");
  }

  update(reasons) {
    const { ctx } = this;
    if (!this.element.clientWidth) return;
    if (this.loadedAt !== `${ctx.runs.length}|${ctx.lastStep}`) this.#load();
    const sound = ctx.runs.filter((run) => !run.error).map((run) => this.outlines.get(run.id) ?? run)
      .filter((run) => !run.error);
    if (!sound.length) return;
    const worlds = [...new Set(sound.map((run) => run.world))];
    const own = sound.find((run) => run.id === ctx.id);
    // Another run was opened: its world is shown.
    if (this.shownRun !== ctx.id || !worlds.includes(this.world)) this.world = own?.world ?? worlds[0];
    this.shownRun = ctx.id;
    const here = sound.filter((run) => run.world === this.world);
    const differing = settingNames(here);
    this.#drawControls(worlds, differing, here);
    const runs = filtered(here, this.words);
    const groups = this.#grouped(runs, own);
    const key = [this.world, this.loadedAt, this.by, this.mode, runs.map((run) => run.id).join()].join("|");
    this.#drawCharts(key, groups, runs);
    const tableKey = [key, ctx.id, this.all, this.table.sort.name, this.table.sort.isUp, this.outlines.size].join("|");
    if (tableKey !== this.tableKey || reasons.has("run")) {
      this.tableKey = tableKey;
      this.table.draw(groups, this.all ? settingNames(here, true) : differing);
      this.#drawNote(here, runs);
    }
  }

  #drawControls(worlds, differing, here) {
    const hasTags = here.some((run) => run.tags?.length);
    const groups = [["agent", "agent"], ["run", "run"], ["all", "no groups"], ...(hasTags ? [["tags", "tags"]] : []),
      ...differing.map((name) => [name, name])];
    if (!groups.some(([name]) => name === this.by)) this.by = "agent";
    const key = [worlds.join("\n"), this.world, differing.join(), hasTags, this.by, this.mode].join("|");
    const set = (name) => (value) => {
      this[name] = value;
      this.ctx.redraw("option");
    };
    this.choices.update(this.ctx.id, key, () => [
      worlds.length > 1 && choice("world", worlds.map((name) => [name, name]), this.world, set("world"),
        "runs of one world are comparable"),
      choice("group by", groups, this.by, set("by"), "an agent, a tag, or a setting in which the runs differ"),
      choice("curves", MODES, this.mode, set("mode"), "what is drawn of a group"),
    ]);
  }

  // Runs by what they are grouped by, the group of the shown run first.
  #grouped(runs, own) {
    const first = own && runs.includes(own) ? valueOf(own, this.by) : null;
    const groups = new Map(first === null ? [] : [[first, []]]);
    for (const run of runs) {
      const name = valueOf(run, this.by);
      groups.set(name, [...(groups.get(name) ?? []), run]);
    }
    return groups;
  }

  #drawCharts(key, groups, runs) {
    const loaded = new Map([...groups].map(([name, members]) => [name, members.filter((run) => run.episodes)]));
    const traces = curvesOf(loaded, (run) => [run.episodes.step, run.episodes.total_reward], this.mode);
    const last = Math.max(1, ...runs.map((run) => run.last_step ?? 0));
    // More than one, if runs in the same maze had episodes of different lengths.
    for (const best of new Set(runs.map((run) => run.optimal_return ?? null))) {
      if (best === null || !traces.length) continue;
      traces.push({ x: [0, last], y: [best, best], mode: "lines", name: plotText("best possible"),
        line: { color: "gray", dash: "dot", width: 1.5 }, hoverinfo: "skip" });
    }
    this.returns.draw(key, traces, { xaxis: { title: "step" }, yaxis: { title: "return" } },
      "No episode has ended yet.");
    const states = curvesOf(loaded, (run) => [run.states.step, run.states.n_states], this.mode);
    this.states.draw(key, states, { xaxis: { title: "step" }, yaxis: { title: "states", rangemode: "tozero" } },
      "These agents know no states.");
  }

  #drawNote(here, runs) {
    const lost = this.ctx.runs.filter((run) => run.error || this.outlines.get(run.id)?.error).length;
    const more = Math.max(0, this.ctx.runs.length - MOST_RUNS);
    const lengths = new Set(runs.map((run) => run.last_step).filter((steps) => steps !== undefined));
    this.note.textContent = [
      `${runs.length} of ${amount(here.length, "run")} of this world`,
      lengths.size > 1 && "they differ in length: curves are dotted where some have ended",
      lost && `${amount(lost, "run")} cannot be read`, more && `the curves of ${amount(more, "older run")} are left out`]
      .filter(Boolean).join("; ");
  }
}
