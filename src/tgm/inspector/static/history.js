// The history of a run: observations, beliefs, and the model after any step, rebuilt from full
// frames and the changes that follow them.

const SNAPSHOT_EVERY = 100; // frames between two stored copies of the model

export const BROKEN_OFF = 3; // an end that the files do not hold, besides 1 terminated and 2 truncated

class Chunk {
  constructor(raw, nFeatures, nActions) {
    this.raw = raw;
    this.d = nFeatures;
    this.nActions = nActions;
    this.firstStep = raw.first_step;
    this.frameSteps = raw["frame.step"];
    this.nFrames = this.frameSteps.length;
    this.offsets = this.#offsets();
    this.extras = this.#extras();
    this.snapshots = new Map();
    // Made at the first use and then kept: views do not redraw an object that they have drawn.
    this.components = [];
    this.rows = [];
  }

  // Index of each frame's first entry in the tables.
  #offsets() {
    const { raw } = this;
    const at = { component: [0], removed: [0], row: [0], next: [0] };
    let next = 0;
    const rowNext = [0];
    for (const n of raw["row.n_next"]) rowNext.push((next += n));
    this.rowNext = rowNext;
    for (let f = 0; f < this.nFrames; f += 1) {
      at.component.push(at.component[f] + raw["frame.n_components"][f]);
      at.removed.push(at.removed[f] + raw["frame.n_removed"][f]);
      at.row.push(at.row[f] + raw["frame.n_rows"][f]);
    }
    return at;
  }

  // The parts of full frames only: values, priors, evidence and the points in memory.
  #extras() {
    const { raw, d, nActions } = this;
    const extras = new Map();
    let g = 0;
    for (let f = 0; f < this.nFrames; f += 1) {
      if (!raw["frame.is_full"][f]) continue;
      const full = { step: this.frameSteps[f], q: new Map(), prior: new Map(),
        evidence: new Map(), kept: [] };
      for (let c = this.offsets.component[f]; c < this.offsets.component[f + 1]; c += 1, g += 1) {
        const id = raw["component.id"][c];
        full.q.set(id, raw["full.q"].slice(g * nActions, (g + 1) * nActions));
        full.prior.set(id, {
          mean: raw["full.prior_mean"].slice(g * d, (g + 1) * d),
          cov: raw["full.prior_covariance"].slice(g * d * d, (g + 1) * d * d),
        });
        full.evidence.set(id, raw["full.log_evidence"][g]);
      }
      extras.set(f, full);
    }
    raw["kept.frame"].forEach((f, k) => {
      extras.get(f)?.kept.push({
        point: raw["kept.point"].slice(k * d, (k + 1) * d), state: raw["kept.state"][k],
      });
    });
    return extras;
  }

  // The last frame at or before `step`, or -1.
  frameIndex(step) { return countUpTo(this.frameSteps, step) - 1; }

  // [{ id, p }] the recorded belief at an observation, likely states first. An observation without
  // an entry has its state with probability 1. What the sum lacks to 1 belongs to no known state.
  belief(observation) {
    const { raw } = this;
    const from = countUpTo(raw["belief.observation"], observation - 1);
    const to = countUpTo(raw["belief.observation"], observation);
    if (from === to) {
      const id = raw["obs.state"][observation];
      return id < 0 ? [] : [{ id, p: 1 }];
    }
    return raw["belief.state"].slice(from, to)
      .map((id, index) => ({ id, p: raw["belief.probability"][from + index] }))
      .sort((a, b) => b.p - a.p);
  }

  frame(index) {
    let start = index - (index % SNAPSHOT_EVERY);
    while (start > 0 && !this.snapshots.has(start)) start -= SNAPSHOT_EVERY;
    let frame;
    if (this.snapshots.has(start)) frame = copy(this.snapshots.get(start));
    else {
      frame = { step: 0, components: new Map(), rows: new Map(), full: null };
      this.#apply(frame, 0);
      this.snapshots.set(0, copy(frame));
    }
    for (let f = start + 1; f <= index; f += 1) {
      this.#apply(frame, f);
      if (f % SNAPSHOT_EVERY === 0) this.snapshots.set(f, copy(frame));
    }
    return frame;
  }

  #apply(frame, f) {
    const { raw, offsets, nActions } = this;
    frame.step = this.frameSteps[f];
    if (raw["frame.is_full"][f]) {
      frame.components.clear();
      frame.rows.clear();
      frame.full = this.extras.get(f);
    }
    for (let r = offsets.removed[f]; r < offsets.removed[f + 1]; r += 1) {
      frame.components.delete(raw["removed.id"][r]);
      frame.rows.delete(raw["removed.id"][r]);
    }
    for (let c = offsets.component[f]; c < offsets.component[f + 1]; c += 1) {
      this.components[c] ??= this.#component(c);
      frame.components.set(this.components[c].id, this.components[c]);
    }
    for (let w = offsets.row[f]; w < offsets.row[f + 1]; w += 1) {
      const state = raw["row.state"][w];
      const rows = [...(frame.rows.get(state) ?? new Array(nActions).fill(null))];
      if (this.rows[w] === undefined) this.rows[w] = this.#row(w);
      rows[raw["row.action"][w]] = this.rows[w];
      frame.rows.set(state, rows);
    }
  }

  #component(c) {
    const { raw, d } = this;
    return {
      id: raw["component.id"][c],
      weight: raw["component.weight"][c],
      mean: raw["component.mean"].slice(c * d, (c + 1) * d),
      cov: raw["component.covariance"].slice(c * d * d, (c + 1) * d * d),
      fixed: raw["component.is_fixed"][c] === 1,
    };
  }

  #row(w) {
    const { raw } = this;
    const from = this.rowNext[w];
    const to = this.rowNext[w + 1];
    if (from === to) return null;
    const counts = raw["next.count"].slice(from, to);
    const total = counts.reduce((sum, value) => sum + value, 0);
    return {
      visits: raw["row.visits"][w],
      reward: raw["row.reward"][w],
      end: raw["row.end"][w],
      next: raw["next.state"].slice(from, to).map((id, index) => (
        { id, count: counts[index], p: total > 0 ? counts[index] / total : 0 })),
    };
  }
}

// How many of the sorted `values` are at most `limit`.
function countUpTo(values, limit) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function copy(frame) {
  return { ...frame, components: new Map(frame.components), rows: new Map(frame.rows) };
}

export class History {
  constructor(id, summary, source) {
    this.id = id;
    this.source = source;
    this.nFeatures = summary.interface.n_features;
    this.nActions = summary.interface.n_actions;
    this.steps = summary.chunks;
    this.chunks = new Map();
    this.waiting = new Map();
    this.failed = new Map();
  }

  get isEmpty() { return this.steps.length === 0; }

  // Index of the last chunk that begins at or before `step`.
  chunkIndex(step) { return Math.max(countUpTo(this.steps, step) - 1, 0); }

  loaded(index) { return this.chunks.get(this.steps[index]); }

  isLoaded(step) {
    if (this.isEmpty) return true;
    const index = this.chunkIndex(step);
    const here = this.loaded(index);
    if (!here) return this.failed.has(this.steps[index]);
    return !this.#needsBefore(here, index, step) || Boolean(this.loaded(index - 1))
      || this.failed.has(this.steps[index - 1]);
  }

  // At the beginning of a chunk, the outcome or the model of a step may be in the chunk before.
  #needsBefore(here, index, step) {
    return index > 0 && (here.frameIndex(step) < 0 || this.#outcome(here, step) < 0);
  }

  async load(step) {
    const index = this.chunkIndex(step);
    await this.#fetch(this.steps[index]);
    const here = this.loaded(index);
    if (here && this.#needsBefore(here, index, step)) await this.#fetch(this.steps[index - 1]);
  }

  async loadIndex(index) { await this.#fetch(this.steps[index]); }

  #fetch(first) {
    if (this.chunks.has(first) || this.failed.has(first)) return Promise.resolve();
    if (!this.waiting.has(first)) {
      this.waiting.set(first, this.source.chunk(this.id, first).then((raw) => {
        this.chunks.set(first, new Chunk(raw, this.nFeatures, this.nActions));
      }).catch((error) => {
        this.failed.set(first, error.message);
      }).finally(() => this.waiting.delete(first)));
    }
    return this.waiting.get(first);
  }

  // The model after `step`; null before the first frame, or where nothing is loaded.
  frameAt(step) {
    for (let index = this.chunkIndex(step); index >= 0; index -= 1) {
      const chunk = this.loaded(index);
      if (!chunk) return null;
      const at = chunk.frameIndex(step);
      if (at >= 0) return chunk.frame(at);
    }
    return null;
  }

  // The observation that is the outcome of `step`; at step 0 the first reset.
  rowAt(step) {
    const last = this.chunkIndex(step);
    for (let index = last; index >= Math.max(0, last - 1); index -= 1) {
      const chunk = this.loaded(index);
      const row = chunk ? this.#outcome(chunk, step) : -1;
      if (row >= 0) return this.observation(chunk, row);
    }
    return null;
  }

  #outcome(chunk, step) {
    const last = countUpTo(chunk.raw["obs.step"], step) - 1;
    // A reset has the number of the step before it, and comes after the outcome of that step.
    const isReset = last >= 0 && chunk.raw["obs.action"][last] < 0;
    return step > 0 && isReset ? last - 1 : last;
  }

  observation(chunk, index) {
    const { raw, d } = chunk;
    return {
      chunk,
      index,
      step: raw["obs.step"][index],
      episode: raw["obs.episode"][index],
      point: raw["obs.point"].slice(index * d, (index + 1) * d),
      action: raw["obs.action"][index],
      reward: raw["obs.reward"][index],
      state: raw["obs.state"][index],
      logDensity: raw["obs.log_density"][index],
      // A reset follows without an end: the run was stopped and resumed here.
      end: raw["obs.end"][index] || (raw["obs.action"][index + 1] < 0 ? BROKEN_OFF : 0),
    };
  }

  // The observations of one episode in the loaded chunks, in order.
  episode(number, nearStep) {
    const at = this.chunkIndex(nearStep);
    const rows = [];
    for (let index = Math.max(0, at - 1); index <= Math.min(at + 1, this.steps.length - 1); index += 1) {
      const chunk = this.loaded(index);
      if (!chunk) continue;
      const episodes = chunk.raw["obs.episode"];
      for (let row = 0; row < episodes.length; row += 1) {
        if (episodes[row] === number) rows.push(this.observation(chunk, row));
      }
    }
    return rows;
  }

  // The points that were seen after the full frame `full`, up to `step`.
  pointsSince(full, step) {
    const points = [];
    for (let index = this.chunkIndex(full?.step ?? 0); index <= this.chunkIndex(step); index += 1) {
      const chunk = this.loaded(index);
      if (!chunk) continue;
      const { raw, d } = chunk;
      raw["obs.step"].forEach((at, row) => {
        if (at <= step && (!full || at > full.step)) {
          points.push({ point: raw["obs.point"].slice(row * d, (row + 1) * d),
            state: raw["obs.state"][row] });
        }
      });
    }
    return points;
  }

  // Steps and surprises of all loaded chunks.
  surprises() {
    const steps = [];
    const values = [];
    for (const first of this.steps) {
      const chunk = this.chunks.get(first);
      if (!chunk) continue;
      chunk.raw["obs.step"].forEach((step, row) => {
        const density = chunk.raw["obs.log_density"][row];
        if (density !== null) {
          steps.push(step);
          values.push(-density);
        }
      });
    }
    return { steps, values };
  }
}
