// Observation space: the points, the states' ellipses, the priors, the path of the episode.

import { AxesControl } from "../axes-control.js";
import { checkbox, legendItem, onlyIf, panel, s, set, swatch } from "../dom.js";
import { Figure } from "../figure.js";
import { short } from "../format.js";
import { isVisited } from "../states.js";

export class Observations {
  constructor(ctx) {
    this.ctx = ctx;
    this.figure = new Figure("Observation space");
    this.figure.onSelect(ctx);
    this.options = { points: true, trail: true, priors: false };
    this.axes = new AxesControl(ctx);
    const option = (name, words, tip) => checkbox(words, this.options[name], (on) => {
      this.options[name] = on;
      ctx.redraw("option");
    }, tip);
    this.prior = s("ellipse", { class: "prior" });
    this.here = s("circle", { class: "here", r: 5, "data-tip": "the newest observation" });
    this.figure.top.append(this.prior, this.here);
    this.morePriors = s("path", { class: "prior" });
    this.figure.top.append(this.morePriors);
    this.element = panel({
      title: "Observation space",
      id: "observations",
      help: "The agent observes noisy points. Each ellipse is a state that it found: "
        + "two standard deviations around the mean. Click a state to select it in all views.",
      controls: [this.axes.element, option("points", "points", "the observations kept in memory"),
        option("trail", "path", "the observations of the current episode so far"),
        onlyIf("cells", option("priors", "priors", "the prior of every state, not only of the selected one"))],
      legend: [
        legendItem(swatch({ tag: "circle", cx: 11, cy: 6, r: 2.5, class: "points-key" }), "point",
          "an observation in memory, or one since the last full frame"),
        onlyIf("cells", legendItem(swatch({ class: "fixed-key" }), "fixed", "a state that later fits keep")),
        onlyIf("cells", legendItem(swatch({ class: "flexible-key" }), "flexible",
          "a state that the next fit may change")),
        onlyIf("cells", legendItem(swatch({ class: "prior-key" }), "prior",
          "prior of the state, before its observations")),
        onlyIf("flows", legendItem(swatch({ tag: "circle", cx: 11, cy: 6, r: 3, class: "visited-key" }),
          "visited state", "a support point of the value that the agent was near")),
        onlyIf("flows", legendItem(swatch({ tag: "circle", cx: 11, cy: 6, r: 2.5, class: "imagined-key" }),
          "imagined state", "a support point to which laws lead")),
        legendItem(swatch({ class: "trail-key" }), "path", "observations of this episode, in order"),
      ],
    }, this.figure.element);
  }

  zoomed() { this.update(); }

  update() {
    const { ctx, figure } = this;
    this.axes.update();
    if (!figure.layout(ctx)) return;
    const points = this.options.points ? ctx.points : [];
    figure.drawStates(ctx, (component) => ({
      tip: () => `state ${component.id}, ${kindOf(component, ctx.flows)}\n`
        + `${short(component.weight)} points${meanWords(ctx, component.mean)}`,
    }), points, (state) => state === ctx.selected);
    set(figure.svg, { "data-step": ctx.step, "data-points": points.length });
    const until = ctx.episode.filter((row) => row.step <= ctx.step);
    figure.drawTrail(this.options.trail ? until : []);
    figure.mark(this.here, ctx.row);
    this.#drawPriors();
  }

  #drawPriors() {
    const { ctx, figure } = this;
    const priors = ctx.flows || figure.plane.places ? null : ctx.frame?.full?.prior;
    const chosen = priors?.get(ctx.selected);
    this.prior.style.display = chosen ? "" : "none";
    if (chosen) set(this.prior, ellipseAttributes(figure, chosen));
    const all = this.options.priors && priors ? [...priors.values()] : [];
    set(this.morePriors, { d: all.map((prior) => ellipsePath(figure, prior)).join("") });
  }
}

function kindOf(component, flows) {
  if (flows) return isVisited(component) ? "visited" : "imagined";
  return component.fixed ? "fixed" : "flexible";
}

// The mean by the names of the features, as far as a tooltip has space.
function meanWords({ featureNames, featureOrder }, mean) {
  const lines = featureOrder.slice(0, 8).map((k) => `\n${featureNames[k]}: ${short(mean[k])}`);
  return lines.join("") + (mean.length > 8 ? `\nand ${mean.length - 8} more features` : "");
}

function ellipseAttributes(figure, { mean, cov }) {
  const [x, y] = figure.at(mean);
  const { rx, ry, angle } = figure.ellipse(cov);
  return { rx, ry, transform: `translate(${x} ${y}) rotate(${angle})`,
    "data-tip": "the prior of the selected state" };
}

function ellipsePath(figure, { mean, cov }) {
  const [x, y] = figure.at(mean);
  const { rx, ry, angle } = figure.ellipse(cov);
  const turn = (angle * Math.PI) / 180;
  const dx = rx * Math.cos(turn);
  const dy = rx * Math.sin(turn);
  const half = `A${rx} ${ry} ${angle} 0 1`;
  return `M${x - dx} ${y - dy}${half} ${x + dx} ${y + dy}${half} ${x - dx} ${y - dy}`;
}
