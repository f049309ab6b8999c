// The two coordinates that are drawn: two features, or the two principal components.

export function pairsOf(summary) {
  const d = summary.interface.n_features;
  if (d < 2) return [["0", "x1"]];
  const name = (index) => (summary.maze && d === 2 ? "xy"[index] : `x${index + 1}`);
  const pairs = [];
  for (let i = 0; i < d; i += 1) {
    for (let j = i + 1; j < d; j += 1) {
      if (d <= 8 || j === i + 1) pairs.push([`${i},${j}`, `${name(i)} and ${name(j)}`]);
    }
  }
  return d > 2 ? [["principal", "principal components"], ...pairs] : pairs;
}

// { u, v, low, high, labels, isSquare }: coordinates are u·x and v·x.
export function planeOf(summary, pair) {
  const { plane } = summary;
  const d = summary.interface.n_features;
  const chosen = pair ?? pairsOf(summary)[0][0];
  const axis = (index) => Array.from({ length: d }, (_, k) => (k === index ? 1 : 0));
  if (chosen === "principal") {
    const [u, v] = plane.directions;
    return { u, v, low: plane.principal_low, high: plane.principal_high,
      labels: ["first principal component", "second principal component"], isSquare: false };
  }
  const [i, j] = chosen.split(",").map(Number);
  if (j === undefined) {
    return { u: axis(i), v: axis(-1), low: [plane.low[i], -1], high: [plane.high[i], 1],
      labels: ["x1", ""], isSquare: false, isLine: true };
  }
  const names = summary.maze && d === 2 ? ["x", "y"] : [`x${i + 1}`, `x${j + 1}`];
  return { u: axis(i), v: axis(j), low: [plane.low[i], plane.low[j]],
    high: [plane.high[i], plane.high[j]], labels: names,
    isSquare: Boolean(summary.maze) && d === 2 };
}

function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k += 1) sum += a[k] * b[k];
  return sum;
}

export function project(plane, point) {
  return [dot(plane.u, point), dot(plane.v, point)];
}

// The covariance of the two coordinates: [xx, xy, yy].
export function projectCovariance(plane, cov) {
  const d = plane.u.length;
  const times = (w) => Array.from({ length: d }, (_, k) => dot(cov.slice(k * d, (k + 1) * d), w));
  const cu = times(plane.u);
  const cv = times(plane.v);
  return [dot(plane.u, cu), dot(plane.u, cv), plane.isLine ? 0.02 : dot(plane.v, cv)];
}
