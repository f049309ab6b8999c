// The arrows between states: their points, as SVG paths and as pixels.

const SHORT = 14; // pixels: of a shorter arrow on pixels, neither bend nor head can be seen

// A bent arrow between the rims of two states, to the right of its direction: start, bend, neck, end
// and the unit vector of its head. Points are [x, y].
export function arc(from, to, width) {
  const { x: ax, y: ay } = from;
  const { x: bx, y: by } = to;
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const ux = (bx - ax) / length;
  const uy = (by - ay) / length;
  const rim = ({ rx, ry }) => Math.min(0.86 * Math.min(rx, ry), 0.27 * length);
  const side = Math.min(6, 0.12 * length);
  const head = 4 + 1.6 * width;
  const start = [ax + ux * rim(from) - uy * side, ay + uy * rim(from) + ux * side];
  const end = [bx - ux * (rim(to) + 2) - uy * side, by - uy * (rim(to) + 2) + ux * side];
  const turn = side + 0.05 * length;
  const bend = [(ax + bx) / 2 - uy * turn, (ay + by) / 2 + ux * turn];
  const angle = Math.atan2(end[1] - bend[1], end[0] - bend[0]);
  const way = [Math.cos(angle), Math.sin(angle)];
  const neck = [end[0] - way[0] * head, end[1] - way[1] * head];
  const half = 0.5 * head;
  const sides = [[neck[0] - way[1] * half, neck[1] + way[0] * half], [neck[0] + way[1] * half, neck[1] - way[0] * half]];
  return { start, bend, neck, end, sides };
}

// Four points of the curve of an action that stays.
export function loop({ x, y, rx: r }, action) {
  const angle = -Math.PI / 2 + (action * 2 * Math.PI) / 5;
  const rim = Math.min(r, 26);
  const foot = [x + rim * Math.cos(angle), y + rim * Math.sin(angle)];
  const out = 16;
  const at = (turn) => [foot[0] + out * Math.cos(angle + turn), foot[1] + out * Math.sin(angle + turn)];
  return [foot, at(-0.7), at(0.7), foot];
}

export function arcPaths({ start, bend, neck, end, sides }) {
  return [`M${p(start)}Q${p(bend)} ${p(neck)}`, `M${p(end)}L${p(sides[0])}L${p(sides[1])}z`];
}

export function loopPath([foot, one, other, end]) { return `M${p(foot)}C${p(one)} ${p(other)} ${p(end)}`; }

export function traceArc(context, from, to, width) {
  if (Math.hypot(to.x - from.x, to.y - from.y) < SHORT) {
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    return;
  }
  const { start, bend, end, sides } = arc(from, to, width);
  context.moveTo(...start);
  context.quadraticCurveTo(...bend, ...end);
  context.moveTo(...sides[0]);
  context.lineTo(...end);
  context.lineTo(...sides[1]);
}

export function traceLoop(context, [foot, one, other, end]) {
  context.moveTo(...foot);
  context.bezierCurveTo(...one, ...other, ...end);
}

function p([x, y]) { return `${x.toFixed(1)} ${y.toFixed(1)}`; }
