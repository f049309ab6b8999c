// What lies below the states of a drawing: the cells of a maze, and the axes.

import { s } from "./dom.js";
import { short, ticks } from "./format.js";

// `maze` is that of the run, or null.
export function drawGround(figure, maze, width, height) {
  figure.ground.replaceChildren();
  figure.floor.replaceChildren();
  if (maze && figure.plane.isSquare) drawMaze(figure, maze);
  if (!figure.plane.places) drawAxes(figure, width, height);
}

function drawMaze(figure, { grid, start, goal }) {
  const [sx, sy] = figure.scale;
  const [wide, high] = [sx.toFixed(1), sy.toFixed(1)];
  const paths = { walls: "", floor: "" };
  grid.forEach((row, line) => {
    const place = grid.length - 1 - line;
    [...row].forEach((glyph, column) => {
      if (glyph === " " || !isInside(figure, column, place)) return;
      const [x, y] = figure.pixel([column - 0.5, place + 0.5]);
      paths[glyph === "#" ? "walls" : "floor"] += `M${x.toFixed(1)} ${y.toFixed(1)}h${wide}v${high}h-${wide}z`;
    });
  });
  figure.floor.append(s("path", { class: "floor", d: paths.floor, "clip-path": figure.clip }),
    s("path", { class: "walls", d: paths.walls, "clip-path": figure.clip }));
  const [gx, gy] = figure.pixel(goal);
  const [ax, ay] = figure.pixel(start);
  const r = 0.4 * sx;
  figure.ground.append(
    s("circle", { class: "start", cx: ax, cy: ay, r, "data-tip": "start of each episode" }),
    s("path", { class: "goal", "data-tip": "the goal: the action eat ends the episode here",
      d: `M${gx - r} ${gy}L${gx} ${gy - r}L${gx + r} ${gy}L${gx} ${gy + r}z` }),
  );
}

function isInside({ shown: { low, high } }, x, y) {
  return x > low[0] - 0.5 && x < high[0] + 0.5 && y > low[1] - 0.5 && y < high[1] + 0.5;
}

function drawAxes(figure, width, height) {
  const { ground, plane: { labels, isSquare, isLine }, shown: { low, high } } = figure;
  const bottom = height - (isSquare ? 8 : 24);
  const most = Math.min(7, Math.max(2, Math.floor(width / 60)));
  for (const value of ticks(low[0], high[0], most)) {
    const [x] = figure.pixel([value, low[1]]);
    ground.append(s("text", { class: "tick", x, y: bottom, "text-anchor": "middle",
      "data-tip": `horizontal: ${labels[0]}` }, short(value)));
  }
  for (const value of isLine ? [] : ticks(low[1], high[1])) {
    const [, y] = figure.pixel([low[0], value]);
    ground.append(s("text", { class: "tick", x: isSquare ? 22 : 38, y, dy: "0.35em",
      "text-anchor": "end", "data-tip": `vertical: ${labels[1]}` }, short(value)));
  }
  ground.append(
    s("text", { class: "axis", x: width - 6, y: height - 6, "text-anchor": "end" }, labels[0]),
    s("text", { class: "axis", x: 6, y: 14 }, labels[1]),
  );
}
