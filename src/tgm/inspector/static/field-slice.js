// The part of a field that is shown: two features as axes, the others held at levels.

// Features that the environment does not name have numbers, as in the other views.
export function featureLabel(name, feature) { return /^observation(\[[\d,]+\])+$/.test(name) ? `x${feature + 1}` : name; }

export class FieldSlice {
  // `before` is the slice that was shown: of the same features its axes and levels stay.
  constructor(field, before = null) {
    this.field = field;
    this.labels = field.names.map((name, k) => featureLabel(name, field.features[k]));
    const isSame = before?.field.names.join() === field.names.join();
    this.axes = isSame ? before.axes : [...field.first];
    this.level = isSame ? before.level : field.levels.map((levels) => Math.floor(levels.length / 2));
  }

  // The pair as it was computed; its x is the feature of the lower number.
  get pair() {
    const [low, high] = [...this.axes].sort((a, b) => a - b);
    return this.field.pairs.find(({ x, y }) => x === low && y === high);
  }

  get isTurned() { return this.axes[0] > this.axes[1]; }

  get heldFeatures() {
    return this.field.names.map((_, k) => k).filter((k) => !this.axes.includes(k));
  }

  // The number of the slice: that of the last held feature changes first.
  get number() {
    return this.heldFeatures.reduce((sum, k) => sum * this.field.levels[k].length + this.level[k], 0);
  }

  // The index of a point of a slice: column along the horizontal axis, row along the vertical one.
  #index(n, column, row) {
    const [x, y] = this.isTurned ? [row, column] : [column, row];
    return (this.number * n + y) * n + x;
  }

  value(column, row) { return this.pair.value[this.#index(this.field.grid, column, row)]; }

  action(column, row) { return this.pair.action[this.#index(this.field.grid, column, row)]; }

  // The least and the greatest value of this slice.
  get range() {
    const n = this.field.grid;
    const known = this.pair.value.slice(this.number * n * n, (this.number + 1) * n * n)
      .filter((value) => value !== null);
    return [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)];
  }

  // The law of an action at an arrow's start: { move, spread: [xx, xy, yy], end } in units of features.
  law(column, row, action) {
    const { arrows: n, n_actions: nActions } = this.field;
    const at = this.#index(n, column, row) * nActions + action;
    const [dx, dy] = this.pair.move.slice(2 * at, 2 * at + 2);
    const [xx, xy, yy] = this.pair.spread.slice(3 * at, 3 * at + 3);
    const turned = this.isTurned;
    return { move: turned ? [dy, dx] : [dx, dy], spread: turned ? [yy, xy, xx] : [xx, xy, yy],
      end: this.pair.end[at] };
  }

  low(k) { return this.field.low[this.axes[k]]; }

  high(k) { return this.field.high[this.axes[k]]; }

  // Make a feature an axis; the other axis takes its place if it was that.
  setAxis(k, feature) {
    if (this.axes[1 - k] === feature) this.axes[1 - k] = this.axes[k];
    this.axes[k] = feature;
  }

  #nearest(k, value) {
    const { levels } = this.field;
    return levels[k].reduce((best, level, index) => (
      Math.abs(level - value) < Math.abs(levels[k][best] - value) ? index : best), 0);
  }

  // Hold the features at the levels nearest to an observation.
  follow(point) {
    this.field.features.forEach((feature, k) => { this.level[k] = this.#nearest(k, point[feature]); });
  }

  // Whether the levels of this slice are the nearest ones to an observation.
  holds(point) {
    return this.heldFeatures.every((k) => this.#nearest(k, point[this.field.features[k]]) === this.level[k]);
  }

  // The two coordinates of an observation.
  coordinates(point) { return this.axes.map((k) => point[this.field.features[k]]); }
}
