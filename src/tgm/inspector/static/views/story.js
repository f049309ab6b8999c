// A summary of the current step in sentences.

import { h, panel } from "../dom.js";
import { NO_MODEL, isVisited } from "../states.js";
import { amount, count, fixed, percent, short } from "../format.js";
import { isKnown } from "../planner.js";

const RECENT = 10; // episodes

export class Story {
  constructor(ctx) {
    this.ctx = ctx;
    this.words = h("p", { class: "story" });
    this.element = panel({
      title: "In words",
      id: "story",
      help: "A summary of the step on the timeline, from the recorded model and log.",
    }, this.words);
  }

  update() {
    const { ctx } = this;
    const words = ctx.frame ? this.#sentences().join(" ") : NO_MODEL;
    if (this.words.textContent !== words) this.words.textContent = words;
  }

  #sentences() {
    const { ctx } = this;
    const { frame, plan } = ctx;
    const ids = [...frame.components.keys()];
    const pairs = ids.length * ctx.nActions;
    let tried = 0;
    for (const id of ids) {
      const rows = frame.rows.get(id);
      for (let action = 0; action < ctx.nActions; action += 1) if (rows?.[action]) tried += 1;
    }
    const episode = ctx.row ? `, in episode ${count(ctx.row.episode)},` : "";
    const began = `After ${amount(ctx.step, "step")}${episode} the agent`;
    const lines = [];
    if (ctx.isOnSupport) {
      const visited = [...frame.components.values()].filter(isVisited).length;
      lines.push(`${began} knows laws of what its actions do, and values at ${count(ids.length)} states, `
        + `of which it has visited ${count(visited)}; laws lead to the others.`);
    } else {
      lines.push(`${began} knows ${amount(ids.length, "state")}`
        + `${pairs ? ` and has tried ${percent(tried / pairs)} of all pairs of state and action` : ""}.`);
      lines.push(this.#structure());
    }
    lines.push(...this.#episodes());
    if (plan && plan.ids.length > 1 && isIndifferent(plan)) {
      lines.push("All known actions have the same value, so the plan prefers none of them.");
    }
    if (ctx.row?.logDensity !== null && ctx.row) {
      lines.push(`The last observation had a surprise of ${fixed(-ctx.row.logDensity)} nats.`);
    }
    return lines.filter(Boolean);
  }

  #structure() {
    const { ctx } = this;
    const past = ctx.summary.log.moves.filter((move) => move.accepted && move.step <= ctx.step);
    const of = (kind) => past.filter((move) => move.kind === kind).length;
    // A merge and a split list the state that stays first, then those that go or come.
    const others = (kind) => past.filter((move) => move.kind === kind)
      .reduce((sum, move) => sum + Math.max(1, move.ids.length - 1), 0);
    const [born, split, merged, removed] = [of("birth"), others("split"), others("merge"), of("removal")];
    const parts = [[born, "born"], [split, "split off"], [merged, "merged into others"], [removed, "removed"]]
      .filter(([n]) => n > 0).map(([n, words]) => `${n} ${words}`);
    const changed = of("change");
    if (changed) parts.push(`${changed} found to do something else than before`);
    if (!parts.length) return "";
    // When the agent learns again with another kind or scale of states, no moves are recorded.
    const gap = born + split - merged - removed - ctx.frame.components.size;
    const isFlow = [...ctx.frame.components.values()].some(({ weight }) => weight === 0);
    if (isFlow) return "";
    if (gap > 0) parts.push(`${gap} given up when the agent started again with other states`);
    if (gap < 0) parts.push(`${-gap} found again from kept steps`);
    const since = ctx.step - past.at(-1).step;
    const calm = since > 0 ? `; the last change was ${count(since)} steps ago` : "";
    return `States so far: ${parts.join(", ")}${calm}.`;
  }

  #episodes() {
    const { ctx } = this;
    const { episodes } = ctx.summary.log;
    let n = 0;
    while (n < episodes.step.length && episodes.step[n] <= ctx.step) n += 1;
    if (!n) return ["No episode has ended yet."];
    const returns = episodes.total_reward.slice(Math.max(0, n - RECENT), n);
    const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
    const best = ctx.summary.maze?.optimal_return ?? null;
    const goal = best === null ? "" : `, the best is ${short(best)}`;
    const lines = [];
    if (ctx.summary.maze?.unsolvable) {
      lines.push(`No episode can end at the goal: ${ctx.summary.maze.unsolvable}.`);
    } else if (ctx.summary.maze) {
      const first = episodes.terminated.indexOf(1);
      lines.push(first < 0 || first >= n ? "The goal was not reached yet."
        : `The goal was first reached at step ${count(episodes.step[first])}.`);
    }
    lines.push(`The mean return of the last ${amount(returns.length, "episode")} is ${short(mean)}${goal}.`);
    return lines;
  }
}

// Whether all known actions have the same value.
function isIndifferent(plan) {
  let low = Infinity;
  let high = -Infinity;
  plan.ids.forEach((id, state) => {
    for (let action = 0; action < plan.nActions; action += 1) {
      if (!isKnown(plan, id, action)) continue;
      const value = plan.q[state * plan.nActions + action];
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  });
  return high - low < 1e-3 * Math.max(1, Math.abs(high));
}
