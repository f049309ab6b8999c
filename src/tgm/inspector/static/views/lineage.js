// Lineage: a lane per state from birth to end, with its moves and their causes.

import { choice, h, legendItem, panel, s, set } from "../dom.js";
import { count, short, ticks } from "../format.js";
import { moveWords } from "./timeline.js";

const LEFT = 46;
const RIGHT = 26;
const TOP = 20;
const EARLY_TICKS = [0, 0.01, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1]; // of the run

const MARKS = {
  birth: { path: (x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`, words: "birth" },
  split: { path: (x, y) => `M${x - 5} ${y}L${x} ${y - 5}L${x + 5} ${y}L${x} ${y + 5}z`, words: "split" },
  merge: { path: (x, y) => `M${x - 5} ${y - 5}L${x + 4} ${y}L${x - 5} ${y + 5}z`, words: "merge" },
  fixed: { path: (x, y) => `M${x - 4} ${y - 4}h8v8h-8z`, words: "fixed" },
  removal: { path: (x, y) => `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, words: "removal" },
  change: { path: (x, y) => `M${x} ${y - 5}L${x + 5} ${y + 4}h-10z`, words: "change" },
};

export class Lineage {
  constructor(ctx) {
    this.ctx = ctx;
    this.svg = s("svg", { class: "lineage", role: "img", "aria-label": "Lineage" });
    this.cursor = s("line", { class: "cursor-line" });
    this.scroller = h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "lanes of the states" }, this.svg);
    this.svg.addEventListener("click", (event) => this.#click(event));
    this.note = h("span", { class: "muted" });
    this.time = "auto";
    this.element = panel({
      title: "Lineage",
      id: "lineage",
      wide: true,
      help: "A lane per state, in order of birth; time runs to the right. Hover a mark for the cause "
        + "of the move and its gain in evidence; click it to go to that step.",
      controls: [choice("time",
        [["auto", "automatic"], ["even", "even"], ["early", "early steps stretched"]],
        this.time, (time) => {
          this.time = time;
          this.key = null;
          ctx.redraw("option");
        }, "scale of the time axis; most moves come early in a run")],
      legend: [...Object.entries(MARKS).map(([kind, mark]) => {
        const icon = s("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", class: "lineage-key" });
        icon.append(s("path", { class: `mark ${kind}`, d: mark.path(0, 0) }));
        return legendItem(icon, mark.words, "hover a mark to see the cause");
      }), legendItem(s("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", class: "lineage-key" },
        s("path", { class: "mark refused", d: MARKS.split.path(0, 0) })), "refused",
      "a split or merge that was evaluated and not made"), this.note],
    }, this.scroller);
  }

  update(reasons) {
    const { ctx } = this;
    const width = this.scroller.clientWidth;
    if (!width) return;
    const key = [ctx.id, ctx.lastStep, width, ctx.summary.lanes.length].join();
    if (key !== this.key || reasons.has("run")) {
      this.key = key;
      this.#draw(width);
    }
    this.note.textContent = this.#words();
    const x = this.x(ctx.step);
    set(this.cursor, { x1: x, x2: x });
    for (const lane of this.svg.querySelectorAll(".lane.selected")) lane.classList.remove("selected");
    if (ctx.selected !== null) {
      this.svg.querySelector(`.lane[data-id="${ctx.selected}"]`)?.classList.add("selected");
    }
  }

  #draw(width) {
    const { ctx } = this;
    const { lanes, log } = ctx.summary;
    const last = Math.max(ctx.lastStep, 1);
    const isEarly = this.time === "early" || (this.time === "auto" && happensEarly(log.moves, last));
    const share = isEarly ? (step) => Math.sqrt(step / last) : (step) => step / last;
    this.x = (step) => LEFT + share(step) * (width - LEFT - RIGHT);
    this.row = lanes.length > 40 ? 9 : lanes.length > 20 ? 10.5 : 14;
    const height = TOP + lanes.length * this.row + 8;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}`, "data-lanes": lanes.length });
    const row = new Map(lanes.map((lane, index) => [lane.id, TOP + (index + 0.5) * this.row]));
    const most = Math.min(7, Math.max(2, Math.floor(width / 90)));
    const early = EARLY_TICKS.map((part) => Math.round(part * last));
    const times = spaced(isEarly ? early : ticks(0, last, most).filter(Number.isInteger), this.x);
    const axis = times.map((step) => s("g", { class: "tick" },
      s("line", { x1: this.x(step), x2: this.x(step), y1: TOP - 4, y2: height, class: "gridline" }),
      s("text", { x: this.x(step), y: 12, "text-anchor": "middle", "data-tip": "steps of the environment" },
        count(step))));
    const bars = lanes.map((lane) => this.#lane(lane, row.get(lane.id), last));
    const links = [];
    for (const lane of lanes) {
      if (row.has(lane.into)) links.push(this.#link(lane.end, lane.id, lane.into, row));
      if (row.has(lane.parent)) links.push(this.#link(lane.birth, lane.id, lane.parent, row));
    }
    const marks = log.moves.flatMap((move) => this.#mark(move, row));
    set(this.cursor, { y1: TOP - 6, y2: height });
    this.svg.replaceChildren(...axis, ...bars, ...links, ...marks, this.cursor);
    this.ids = new Set(row.keys());
  }

  #words() {
    const { ctx } = this;
    if (!this.ids.size) return "No structure move was recorded.";
    const missing = [...(ctx.frame?.components.keys() ?? [])].filter((id) => !this.ids.has(id)).length;
    return [missing && `${count(missing)} older states have no lane here`,
      ctx.flows && "support points are placed again when the laws change, so many begin together"]
      .filter(Boolean).join("; ");
  }

  #lane(lane, y, last) {
    const from = this.x(lane.birth ?? 0);
    const to = this.x(lane.end ?? last);
    const group = s("g", { class: "lane", "data-id": lane.id },
      s("rect", { class: "hit", x: 0, width: to + 6, y: y - this.row / 2, height: this.row }),
      s("text", { x: LEFT - 10, y, dy: "0.35em", "text-anchor": "end",
        "font-size": Math.min(10.5, this.row - 0.5) }, lane.id),
      s("line", { class: "life", x1: from, x2: to, y1: y, y2: y }));
    if (lane.fixed !== null) {
      group.append(s("line", { class: "life settled", x1: this.x(lane.fixed), x2: to, y1: y, y2: y }));
    }
    return group;
  }

  #link(step, one, other, row) {
    const x = this.x(step);
    return s("line", { class: "link-line", x1: x, x2: x, y1: row.get(one), y2: row.get(other) });
  }

  #mark(move, row) {
    const owner = move.kind === "split" || move.kind === "merge" ? move.ids.at(-1) : move.ids[0];
    const shape = MARKS[move.kind];
    if (!shape || !row.has(owner)) return [];
    const gain = move.gain === null ? "" : `\ngain ${short(move.gain)} nats`;
    const words = move.accepted ? moveWords(move) : `${move.kind} of ${move.ids.join(" and ")} refused`;
    const scale = move.accepted ? "" : "scale(0.6)";
    return [s("path", { transform: `translate(${this.x(move.step)} ${row.get(owner)})${scale}`,
      class: `mark ${move.kind}${move.accepted ? "" : " refused"}`,
      "data-step": move.step, "data-id": owner, d: shape.path(0, 0),
      "data-tip": `step ${move.step}: ${words}\n${move.cause}${gain}` })];
  }

  #click(event) {
    const { ctx } = this;
    const mark = event.target.closest("[data-step]");
    if (mark) ctx.goTo(Number(mark.getAttribute("data-step")));
    const lane = event.target.closest("[data-id]");
    const id = lane && Number(lane.getAttribute("data-id"));
    if (lane && ctx.selected !== id) ctx.select(id);
    else if (lane && !mark) ctx.select(id);
  }
}

// Whether nine of ten moves fall into the first quarter of the run.
function happensEarly(moves, last) {
  const steps = moves.filter((move) => move.accepted).map((move) => move.step);
  return steps.length > 3 && steps[Math.floor(0.9 * (steps.length - 1))] < last / 4;
}

// The times whose words do not touch, the last one always.
function spaced(times, x) {
  const kept = [];
  for (const time of times.toReversed()) {
    if (!kept.length || x(kept.at(-1)) - x(time) > 44) kept.push(time);
  }
  return kept;
}
