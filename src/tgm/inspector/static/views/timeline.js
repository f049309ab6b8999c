// The timeline: one slider for all views, below the marks of moves and episode ends.

import { h, s, set } from "../dom.js";
import { amount, count } from "../format.js";
import { BROKEN_OFF } from "../history.js";

const TICK = 70; // milliseconds between two drawn steps while playing
const SPEEDS = [["1", "1 step"], ["5", "5 steps"], ["25", "25 steps"], ["100", "100 steps"]];
const PLAY = "M3 1.5l9 5.5-9 5.5z";
const PAUSE = "M3 2h3v10H3zM8 2h3v10H8z";
const MARKS_TIP = "Line: number of states. Ticks: births and splits (blue), merges and removals "
  + "(orange), states that became fixed (green), actions that no longer do what they did (purple). Dots: "
  + "episodes that terminated.";
const KINDS = { birth: "born", split: "split", merge: "merged", removal: "removed", fixed: "fixed",
  change: "changed" };
const TICKS = { birth: "birth", split: "birth", merge: "end", removal: "end", fixed: "fixed", change: "change" };

export class Timeline {
  constructor(ctx) {
    this.ctx = ctx;
    this.timer = null;
    this.slider = h("input", { type: "range", min: 0, max: 0, step: 1, id: "slider",
      "aria-label": "step", oninput: (event) => ctx.goTo(Number(event.target.value)) });
    this.marks = s("svg", { class: "marks", "aria-hidden": "true", "data-tip": MARKS_TIP });
    this.play = h("button", { type: "button", class: "play", "aria-label": "play",
      "data-tip": "play or pause (space)", onclick: () => this.toggle() }, icon(PLAY));
    this.input = h("input", { type: "number", min: 0, class: "number", "aria-label": "go to step",
      onchange: (event) => ctx.goTo(Number(event.target.value)) });
    this.total = h("span", { class: "muted" });
    this.words = h("span", { class: "moment" });
    const button = (shape, label, tip, act) => h("button", { type: "button", "aria-label": label,
      "data-tip": tip, onclick: act }, icon(shape));
    this.speed = h("select", { "aria-label": "speed", "data-tip": "steps per drawing while playing" },
      SPEEDS.map(([value, words]) => h("option", { value }, words)));
    this.element = h("section", { class: "timeline", "aria-label": "Timeline" },
      h("div", { class: "transport" },
        button("M3 2v10M13 2L5 7l8 5z", "previous structure move", "previous structure move (,)",
          () => this.jump(-1)),
        button("M10 2L4 7l6 5z", "one step back", "one step back (←; with shift 10)",
          () => ctx.goTo(ctx.step - 1)),
        this.play,
        button("M4 2l6 5-6 5z", "one step forward", "one step forward (→; with shift 10)",
          () => ctx.goTo(ctx.step + 1)),
        button("M11 2v10M1 2l8 5-8 5z", "next structure move", "next structure move (.)",
          () => this.jump(1)),
        this.speed,
        h("label", { class: "control" }, h("span", {}, "step"), this.input, this.total)),
      h("div", { class: "track" }, this.marks, this.slider));
  }

  update(reasons) {
    const { ctx } = this;
    if (reasons.has("run") || reasons.has("size")) this.#drawMarks();
    set(this.slider, { max: ctx.lastStep });
    this.slider.value = ctx.step;
    this.input.value = ctx.step;
    this.input.max = ctx.lastStep;
    this.total.textContent = `of ${count(ctx.lastStep)}`;
    this.slider.setAttribute("aria-valuetext", `step ${ctx.step}`);
    const moment = this.#moment();
    if (this.words.textContent !== moment) this.words.textContent = moment;
  }

  #moment() {
    const { ctx } = this;
    if (ctx.history.isEmpty) {
      return ctx.summary.state === "live" ? "waiting for the first record …"
        : "This run has no history; its curves are in the Compare tab.";
    }
    const failure = ctx.history.failed.get(ctx.history.steps[ctx.history.chunkIndex(ctx.step)]);
    if (failure) return failure;
    if (!ctx.history.isLoaded(ctx.step)) return "loading …";
    const states = ctx.frame ? ctx.frame.components.size : 0;
    const parts = [];
    if (ctx.row && ctx.row.step < ctx.step) {
      parts.push(`this step is not in the file; step ${ctx.row.step} is shown`);
    }
    if (ctx.row) parts.push(`episode ${ctx.row.episode}`);
    parts.push(amount(states, "state"));
    const here = ctx.summary.log.moves.filter((move) => move.step === ctx.step && move.accepted);
    parts.push(...here.slice(0, 3).map((move) => `${moveWords(move)}: ${move.cause}`));
    if (ctx.row?.end === 1) parts.push(ctx.summary.maze ? "goal" : "the episode terminates");
    if (ctx.row?.end === 2) parts.push("time limit");
    if (ctx.row?.end === BROKEN_OFF) parts.push("stopped here; the resumed run began a new episode");
    if (ctx.frame && ctx.frame.step < ctx.step && !ctx.plansWithModel) {
      parts.push(`model of step ${ctx.frame.step}`);
    }
    return parts.join(" · ");
  }

  #drawMarks() {
    const { ctx } = this;
    const width = this.marks.clientWidth || this.element.clientWidth;
    const height = 30;
    set(this.marks, { viewBox: `0 0 ${width} ${height}`, height });
    this.marks.replaceChildren();
    const last = Math.max(ctx.lastStep, 1);
    const inset = 8; // half of the slider's thumb
    const x = (step) => inset + (step / last) * (width - 2 * inset);
    const { series, episodes, moves } = ctx.summary.log;
    const most = Math.max(1, ...series.n_states.map((value) => value ?? 0));
    const y = (states) => height - 2 - (22 * (states ?? 0)) / most;
    const line = series.step.map((step, index) => (
      `${index ? "L" : "M"}${x(step).toFixed(1)} ${y(series.n_states[index]).toFixed(1)}`));
    const paths = { birth: "", end: "", fixed: "", change: "" };
    for (const move of moves) {
      const kind = TICKS[move.kind];
      if (!move.accepted || !kind) continue;
      paths[kind] += `M${x(move.step).toFixed(1)} ${height - 8}v8`;
    }
    let goals = "";
    episodes.step.forEach((step, index) => {
      if (episodes.terminated[index]) goals += `M${x(step).toFixed(1)} 3h0`;
    });
    this.marks.append(
      s("path", { class: "mark-states", d: line.join("") }),
      s("path", { class: "mark-birth", d: paths.birth }),
      s("path", { class: "mark-end", d: paths.end }),
      s("path", { class: "mark-fixed", d: paths.fixed }),
      s("path", { class: "mark-change", d: paths.change }),
      s("path", { class: "mark-goal", d: goals }),
    );
  }

  jump(direction) {
    const { ctx } = this;
    const steps = ctx.summary.log.moves.filter((move) => move.accepted).map((move) => move.step);
    const found = direction > 0 ? steps.find((step) => step > ctx.step)
      : steps.findLast((step) => step < ctx.step);
    if (found !== undefined) ctx.goTo(found);
  }

  toggle() {
    if (this.timer !== null) {
      this.stop();
      return;
    }
    const { ctx } = this;
    if (ctx.step >= ctx.lastStep) ctx.goTo(0);
    this.play.replaceChildren(icon(PAUSE));
    this.play.setAttribute("aria-label", "pause");
    this.timer = setInterval(() => {
      ctx.goTo(ctx.step + Number(this.speed.value));
      if (ctx.step >= ctx.lastStep) this.stop();
    }, TICK);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.replaceChildren(icon(PLAY));
    this.play.setAttribute("aria-label", "play");
  }
}

function icon(shape) {
  return s("svg", { width: 14, height: 14, viewBox: "0 0 14 14", class: "glyph", "aria-hidden": "true" },
    s("path", { d: shape }));
}

export function moveWords(move) {
  const [first, ...others] = move.ids;
  if (move.kind === "merge" && others.length) return `state ${others.join(", ")} merged into ${first}`;
  if (move.kind === "split" && others.length) return `state ${others.join(", ")} split from ${first}`;
  return `state ${first ?? "?"} ${KINDS[move.kind] ?? "has an unknown move"}`;
}
