// Episode replay: the observation, the recorded belief, the next action and its reasons.

import { beliefValues, outlook, unexplained, why } from "../belief.js";
import { h, panel, s, set } from "../dom.js";
import { Figure } from "../figure.js";
import { actionColour, count, css, percent, sequential, short, told } from "../format.js";

const END_WORDS = ["", "end", "time limit", "broken off"];
const END_LINES = ["", "The episode has terminated.", "The episode has reached its time limit.",
  "The run was stopped here. When it was resumed, a new episode began."];

export class Replay {
  constructor(ctx) {
    this.ctx = ctx;
    this.figure = new Figure("Episode replay");
    this.figure.onSelect(ctx);
    this.here = s("circle", { class: "here", r: 6, "data-tip": "the observation of this step" });
    this.figure.top.append(this.here);
    this.words = h("div", { class: "why" });
    this.bars = h("div", { class: "bars" });
    this.belief = h("div", { class: "bars" });
    this.steps = h("ol", { class: "steps" });
    this.title = h("span", { class: "muted" });
    const button = (words, tip, act) => h("button", { type: "button", "data-tip": tip, onclick: act }, words);
    this.element = h("div", { class: "columns replay" },
      panel({
        title: "Episode replay",
        id: "replay",
        help: "The path of one episode. Shade of a state: the probability that the agent gave it at "
          + "this step, as it was recorded.",
        controls: h("span", { class: "controls" }, button("previous", "the episode before", () => this.#goTo(-1)),
          button("next", "the episode after", () => this.#goTo(1))),
        legend: [this.title],
      }, this.figure.element),
      h("div", { class: "stack" },
        panel({ title: "Why this action", id: "why",
          help: "The recorded belief and the action values at this step, in words." }, this.words),
        panel({ title: "Belief", id: "belief", help: "The most likely states at this step, with the "
          + "probabilities that the agent itself gave them." }, this.belief),
        panel({ title: "Action values", id: "action-values", help: "Value of each action, averaged over the known states "
          + "of the belief. The longest bar is the planned action." }, this.bars)),
      panel({ title: "Steps of the episode", id: "episode-steps",
        help: "Each line is a step: click to go there." }, this.steps));
  }

  update() {
    const { ctx, figure } = this;
    if (!this.element.clientWidth) return;
    const { row, frame, plan } = ctx;
    const hasSize = figure.layout(ctx);
    if (!row || !frame || !hasSize) {
      this.#clear(hasSize);
      return;
    }
    const rows = ctx.episode;
    const at = rows.findIndex((one) => one.step === row.step && one.index === row.index);
    const belief = row.chunk.belief(row.index);
    const next = rows[at + 1];
    this.shown = [belief, rows.slice(0, at + 1), row];
    this.#drawMap(...this.shown);
    this.#drawWhy(belief, row, next);
    this.#drawBars(plan, belief, next);
    this.#drawSteps(rows, row);
    const length = rows.length - 1;
    const total = rows.reduce((sum, one) => sum + one.reward, 0);
    this.title.textContent = `episode ${count(row.episode)}, ${length} ${length === 1 ? "step" : "steps"}, `
      + `return ${short(total)}`;
  }

  // Nothing of another step or run stays.
  #clear(hasSize) {
    [this.shown, this.key] = [null, null];
    this.words.replaceChildren(h("p", { class: "empty" }, "Nothing is recorded here."));
    for (const list of [this.belief, this.bars, this.steps]) list.replaceChildren();
    this.title.textContent = "";
    if (hasSize) this.#drawMap([], [], null);
  }

  // What is shown stays the same: only the map moves.
  zoomed() {
    const { ctx, figure } = this;
    if (this.shown && ctx.frame && figure.layout(ctx)) this.#drawMap(...this.shown);
  }

  #drawMap(belief, way, row) {
    const { ctx, figure } = this;
    const shares = new Map(belief.map(({ id, p }) => [id, p]));
    figure.drawStates(ctx, (component) => {
      const p = shares.get(component.id) ?? 0;
      const rgb = sequential(0.1 + 0.6 * p);
      return { fill: p > 0.005 ? css(rgb) : "none", class: p > 0.005 ? " filled" : "",
        tip: () => `state ${component.id}\nbelief ${percent(p)}` };
    });
    figure.drawTrail(way);
    figure.mark(this.here, row);
  }

  #drawWhy(belief, row, next) {
    const { ctx } = this;
    const lines = why(ctx.frame, ctx.plan, belief, ctx.actionNames, next?.action);
    if (row.end) lines.push(END_LINES[row.end]);
    this.words.replaceChildren(...lines.map((line) => h("p", {}, line)));
    const likely = belief.filter(({ p }, index) => index < 4 && (p > 0.0005 || index === 0));
    const bars = likely.map(({ id, p }) => (
      bar(`state ${id}`, p, p, share(p), "var(--accent)", () => ctx.select(id))));
    const rest = unexplained(belief);
    if (rest > 0.0005) {
      bars.push(bar("no known state", rest, rest, share(rest), "var(--ink-soft)"));
      bars.at(-1).dataset.tip = "a new state, or states too unlikely to be recorded";
    }
    this.belief.replaceChildren(...bars);
  }

  #drawBars(plan, belief, next) {
    const { ctx } = this;
    const here = belief[0]?.id;
    const values = beliefValues(plan, belief);
    const known = ctx.actionNames.map((_, action) => Boolean(ctx.frame.rows.get(here)?.[action]));
    const shown = values.filter((_, action) => known[action]);
    // Bars are as long as the numbers say that stand beside them.
    const low = told(Math.min(...shown));
    const high = told(Math.max(...shown));
    const width = (value) => (high > low ? 0.08 + (0.92 * (told(value) - low)) / (high - low) : 1);
    this.bars.replaceChildren(...ctx.actionNames.map((name, action) => {
      const line = bar(name, known[action] ? values[action] : null, known[action] ? width(values[action]) : 0,
        known[action] ? short(values[action]) : "unknown", actionColour(ctx.actionNames, action));
      line.append(h("span", { class: "outlook muted" }, outlook(ctx.frame, here, action)));
      if (next?.action === action) line.classList.add("taken");
      return line;
    }));
  }

  #drawSteps(rows, row) {
    const { ctx } = this;
    const key = `${ctx.id}|${row.episode}|${rows.length}`;
    if (key !== this.key) {
      this.key = key;
      this.steps.style.setProperty("--number", `${count(rows.at(-1).step).length + 0.5}ch`);
      const widest = (words) => rows.reduce((most, one) => Math.max(most, words(one).length), 0);
      const rewardWords = (one) => (one.action < 0 ? "" : short(one.reward));
      const endWords = (one) => (one.end === 1 && ctx.summary.maze ? "goal" : END_WORDS[one.end] ?? "");
      this.steps.style.setProperty("--state", `${widest(({ state }) => `state ${state}`)}ch`);
      this.steps.style.setProperty("--reward", `${widest(rewardWords) + 0.5}ch`); // a minus is wider than a digit
      this.steps.style.setProperty("--end", `${widest(endWords)}ch`);
      this.steps.replaceChildren(...rows.map((one) => h("li", {},
        h("button", { type: "button", class: "step", onclick: () => ctx.goTo(one.step) },
          h("span", { class: "num" }, count(one.step)),
          h("span", { class: "name" }, one.action < 0 ? "start" : ctx.actionNames[one.action]),
          h("span", {}, one.state < 0 ? "" : `state ${one.state}`),
          h("span", { class: "num" }, rewardWords(one)),
          h("span", {}, endWords(one))))));
    }
    rows.forEach((one, index) => {
      const item = this.steps.children[index];
      const isHere = one.index === row.index && one.step === row.step;
      item.classList.toggle("now", isHere);
      if (isHere) keepInSight(this.steps, item);
    });
  }

  #goTo(direction) {
    const { ctx } = this;
    if (!ctx.row) return;
    const rows = ctx.episode;
    const step = direction > 0 ? rows.at(-1).step + 1 : rows[0].step;
    ctx.goTo(step);
  }
}

function share(p) {
  return p > 0.995 && p < 1 - 1e-9 ? "> 99 %" : p < 0.005 ? "< 1 %" : percent(p);
}

function keepInSight(list, item) {
  const top = item.offsetTop; // within the list, which is positioned
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 28) {
    list.scrollTop = top - list.clientHeight / 2;
  }
}

// `share` is the length of the bar, `words` is what stands beside it.
function bar(name, value, share, words, colour, onclick) {
  const fill = h("span", { class: "fill" });
  fill.style.width = `${100 * share}%`;
  fill.style.background = colour;
  const label = onclick ? h("button", { type: "button", class: "link name", onclick }, name)
    : h("span", { class: "name" }, name);
  return h("div", { class: "bar", "data-value": value }, label, h("span", { class: "groove" }, fill),
    h("span", { class: "num" }, words));
}
