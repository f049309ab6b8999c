// What all views share: the run, the step, the selected state. Views subscribe to its changes.

import { History } from "./history.js";
import { layoutOf } from "./layout.js";
import { readAxes } from "./plane.js";
import { plan, recorded } from "./planner.js";
import { twinsOf } from "./states.js";

const FIELD_EVERY = 20000; // milliseconds: the field of a live run is asked for so often
const PRELOAD = 8; // chunks of 5,000 steps: a run of at most so many is fetched in the background

export class Context {
  constructor(source) {
    this.source = source;
    this.runs = [];
    this.id = null;
    this.summary = null;
    this.history = null;
    this.field = null; // value, policy and laws of a world that flows
    this.step = 0;
    this.selected = null;
    this.reference = 0; // the step that "change since" compares with
    this.axes = null; // which coordinates are drawn; null: the usual ones of the run
    this.zoom = null; // { low, high }: the part of the plane that is shown; null: all of it
    this.listeners = [];
    this.isWaiting = false;
    this.cache = {};
    this.drawn = 0; // how often the views were drawn, for benchmarks
  }

  get lastStep() { return this.summary?.last_step ?? 0; }

  get actionNames() { return this.summary.interface.action_names; }

  get featureNames() { return this.summary.interface.feature_names; }

  // Indices of the features; those that the agent left out come last.
  get featureOrder() {
    const { left_out: leftOut } = this.summary.interface;
    const all = [...this.featureNames.keys()];
    return [...all.filter((k) => !leftOut.includes(k)), ...leftOut];
  }

  get nActions() { return this.summary.interface.n_actions; }

  get gamma() {
    const gamma = this.summary.config?.gamma;
    return typeof gamma === "number" ? Math.min(Math.max(gamma, 0), 1) : 0.99;
  }

  get plansWithModel() { return this.summary.config?.structure !== "mean_shift"; }

  // Whether the world flows: states are support points of a value, no places.
  get flows() { return this.field !== null || (Boolean(this.summary?.flows) && this.plansWithModel); }

  // Whether the field of a world that flows was asked for and has not come yet.
  get isFieldComing() { return this.flows && !this.field && this.isAsking; }

  subscribe(listener) { this.listeners.push(listener); }

  // Draw at the next screen refresh; several changes before it are drawn once.
  redraw(reason = "step") {
    this.reasons = (this.reasons ?? new Set()).add(reason);
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      const { reasons } = this;
      this.reasons = new Set();
      this.drawNow(reasons);
    });
  }

  drawNow(reasons) {
    for (const listener of this.listeners) listener(reasons);
    this.drawn += 1;
  }

  // `at` is { step, state, axes } of an address; what is null there is as usual.
  async open(id, { keepStep = false, at = null } = {}) {
    this.wanted = id;
    const summary = await this.source.summary(id);
    if (this.wanted !== id) return; // the user chose another run meanwhile
    const wasAtEnd = this.step >= this.lastStep;
    const isSame = this.id === id;
    const old = this.history;
    this.id = id;
    this.summary = summary;
    this.history = new History(id, summary, this.source);
    if (isSame && old) this.#keepChunks(old);
    else {
      this.selected = null;
      this.field = null;
      this.isAsking = true;
      this.fieldAt = -FIELD_EVERY;
      this.axes = null;
      this.zoom = null;
      this.reference = 0;
    }
    this.cache = {};
    if (!keepStep || wasAtEnd) this.step = summary.last_step;
    if (at) this.#place(at);
    this.redraw("run");
    this.#loadField(id);
    await this.#ensure();
    this.#preload(this.history);
  }

  #place({ step, state, axes }) {
    if (step !== null) this.step = Math.min(step, this.lastStep);
    this.selected = state;
    this.axes = readAxes(this.summary, axes);
  }

  // Without it the page shows the rest: a run of places has none, and a broken one need not.
  async #loadField(id) {
    const isLive = this.summary.state === "live";
    if (isLive && performance.now() - this.fieldAt < FIELD_EVERY) return;
    this.fieldAt = performance.now();
    const field = await this.source.field(id).catch(() => null);
    if (this.id !== id) return;
    const wasComing = this.isFieldComing;
    this.isAsking = false;
    if (!field && !this.field && !wasComing) return;
    this.field = field;
    this.cache = {};
    this.redraw("run");
  }

  // Keep the chunks that have a successor: they do not change. The last one is read again.
  #keepChunks(old) {
    for (const [first, chunk] of old.chunks) {
      const index = this.history.steps.indexOf(first);
      if (index >= 0 && index < old.steps.length - 1) this.history.chunks.set(first, chunk);
    }
  }

  async #ensure() {
    const { history } = this;
    if (history.isEmpty || history.isLoaded(this.step)) return;
    await history.load(this.step);
    this.cache = {};
    this.redraw("chunk");
    const next = history.chunkIndex(this.step) + 1;
    if (next < history.steps.length) await history.loadIndex(next); // needed next while playing
  }

  async #preload(history) {
    if (history.steps.length > PRELOAD) return;
    for (let index = history.steps.length - 1; index >= 0; index -= 1) {
      if (this.history !== history) return;
      await history.loadIndex(index);
      // Let the page draw between two chunks.
      await new Promise((resolve) => { setTimeout(resolve, 0); });
    }
    this.redraw("chunk");
  }

  goTo(step) {
    const next = Math.min(Math.max(Math.round(step), 0), this.lastStep);
    if (next === this.step) return;
    this.step = next;
    this.cache = {};
    this.#ensure();
    this.redraw("step");
  }

  select(id) {
    this.selected = id === this.selected ? null : id;
    this.redraw("selection");
  }

  selectNext(direction) {
    const ids = this.frame ? [...this.frame.components.keys()].sort((a, b) => a - b) : [];
    if (!ids.length) return;
    const at = ids.indexOf(this.selected);
    const start = at < 0 && direction < 0 ? 0 : at;
    this.selected = ids[(start + direction + ids.length) % ids.length];
    this.redraw("selection");
  }

  setAxes(axes) {
    this.axes = axes;
    this.zoom = null;
    this.redraw("option");
  }

  // The part of the plane that all drawings show; null for all of it.
  setZoom(zoom) {
    this.zoom = zoom;
    this.redraw("zoom");
  }

  // Places of the states by their transitions: those of the last model, so that they stay in time.
  get layout() {
    const key = `${this.id}|${this.lastStep}|${this.history.isLoaded(this.lastStep)}`;
    if (this.layoutKey !== key) {
      this.layoutKey = key;
      const last = this.history.isLoaded(this.lastStep) ? this.history.frameAt(this.lastStep) : null;
      this.places = layoutOf(last ?? this.frame, this.places);
    }
    return this.places;
  }

  // --- values of this step, computed once -----------------------------------------------------------

  once(name, make) {
    if (!(name in this.cache)) this.cache[name] = make();
    return this.cache[name];
  }

  get frame() {
    return this.once("frame", () => this.history && !this.history.isEmpty
      ? this.history.frameAt(this.step) : null);
  }

  get twins() { return this.once("twins", () => (this.flows ? new Map() : twinsOf(this.frame))); }

  get plan() {
    return this.once("plan", () => this.frame && this.planWith(this.gamma, null));
  }

  // The plan of this model under another discount, or with extra rewards.
  planWith(gamma, bonus) {
    const isComputed = this.plansWithModel && !this.isOnSupport;
    if (isComputed || bonus || gamma !== this.gamma) {
      return plan(this.frame, this.nActions, gamma, this.summary.tried, bonus);
    }
    return recorded(this.frame, this.nActions, gamma);
  }

  // Whether states are support points: then values are recorded, because actions are held.
  get isOnSupport() {
    return this.once("isOnSupport", () => this.flows && Boolean(this.frame?.full)
      && [...this.frame.components.values()].some(({ weight }) => weight === 0));
  }

  get row() {
    return this.once("row", () => this.history && !this.history.isEmpty
      ? this.history.rowAt(this.step) : null);
  }

  // The points in memory: those of the last full frame and those seen since. The default agent
  // keeps the latest `kept_per_state` points of each state.
  get points() {
    return this.once("points", () => {
      if (!this.frame) return [];
      const { full } = this.frame;
      const all = [...(full?.kept ?? []), ...this.history.pointsSince(full, this.step)];
      const most = this.plansWithModel ? this.summary.config?.kept_per_state : null;
      if (typeof most !== "number") return all;
      const counts = new Map();
      return all.reverse().filter(({ state }) => {
        const n = (counts.get(state) ?? 0) + 1;
        counts.set(state, n);
        return n <= most;
      });
    });
  }

  get episode() {
    return this.once("episode", () => this.row
      ? this.history.episode(this.row.episode, this.step) : []);
  }

  // The state that the views describe: the selected one, else the recorded state of this step.
  get focus() {
    if (this.selected !== null) return this.selected;
    const state = this.row?.state;
    return state !== undefined && state >= 0 ? state : null;
  }
}
