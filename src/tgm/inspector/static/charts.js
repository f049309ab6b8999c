// Curves, drawn with plotly, which is loaded after the page has been drawn.

import { h } from "./dom.js";
import { isDark } from "./format.js";
import { unpacked } from "./packed.js";

const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif";

let waiting = null;

// Resolves when plotly is loaded: from a report, or from the server.
function plotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  waiting ??= document.getElementById("tgm-charts") ? fromReport() : fromServer();
  return waiting;
}

async function fromReport() {
  document.head.append(h("script", {}, await unpacked("tgm-charts")));
  return window.Plotly;
}

function fromServer() {
  return new Promise((resolve, reject) => {
    const script = h("script", { src: "/static/plotly.js" });
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("the charts cannot be loaded")));
    document.head.append(script);
  });
}

// Plotly reads HTML in its texts; text of a run must not become HTML.
export function plotText(words) {
  return String(words).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return { ink: get("--ink"), soft: get("--ink-soft"), grid: get("--line"), ground: get("--panel") };
}

export class Chart {
  constructor({ label, height, onStep }) {
    this.holder = h("div", { class: "plot", style: `height:${height}px` });
    this.cursor = h("div", { class: "cursor", hidden: true });
    this.empty = h("p", { class: "empty", hidden: true });
    this.element = h("div", { class: "chart", role: "img", "aria-label": label },
      this.holder, this.cursor, this.empty);
    [this.height, this.onStep] = [height, onStep];
    this.isReady = false;
  }

  // Draw traces; the same `key` as before leaves the chart as it is.
  async draw(key, traces, layout = {}, emptyWords = "Nothing was recorded.") {
    const themed = `${key}|${isDark()}|${this.element.clientWidth}`;
    if (themed === this.key || !this.element.clientWidth) return;
    this.key = themed;
    const hasData = traces.some((trace) => trace.y?.some((value) => value !== null));
    this.empty.hidden = hasData;
    this.empty.textContent = hasData ? "" : emptyWords;
    this.holder.hidden = !hasData;
    if (!hasData) {
      this.cursor.hidden = true;
      return;
    }
    const Plotly = await plotly();
    if (themed !== this.key) return;
    const { ink, soft, grid } = colours();
    const axis = { gridcolor: grid, zerolinecolor: grid, linecolor: grid, tickcolor: grid,
      automargin: true, title: { font: { size: 12, color: soft }, standoff: 6 } };
    const full = {
      width: this.element.clientWidth, // the page draws again when it changes, hidden tabs when they are shown
      height: this.height,
      margin: { l: 46, r: 10, t: 6, b: 32 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: FONT, size: 12, color: ink },
      hovermode: "closest",
      hoverlabel: { font: { size: 12 } },
      showlegend: traces.length > 1,
      legend: traces.filter((trace) => trace.showlegend !== false).length > 5
        ? { orientation: "v", x: 1.02, y: 1, font: { size: 10.5 }, tracegroupgap: 0 }
        : { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 12 } },
      ...layout,
      xaxis: merged(axis, layout.xaxis),
      yaxis: merged(axis, layout.yaxis),
    };
    // A line of one point is seen as a mark.
    const shown = traces.map((trace) => (
      trace.mode === "lines" && trace.x.length === 1 ? { ...trace, mode: "markers" } : trace));
    await Plotly.react(this.holder, shown, full,
      { displayModeBar: false, displaylogo: false });
    if (!this.isReady && this.onStep) {
      this.holder.on("plotly_click", (event) => this.onStep(event.points[0].x));
      this.holder.on("plotly_relayout", () => this.moveCursor(this.at));
    }
    this.isReady = true;
    this.moveCursor(this.at);
  }

  // The line at the current step: a separate element, so that moving it redraws no curve.
  moveCursor(step) {
    this.at = step;
    const axis = this.holder._fullLayout?.xaxis;
    if (!this.isReady || !axis || step === undefined) return;
    const x = axis._offset + axis.l2p(step);
    const size = this.holder._fullLayout._size;
    this.cursor.hidden = x < size.l - 1 || x > size.l + size.w + 1;
    this.cursor.style.transform = `translateX(${x}px)`;
    this.cursor.style.top = `${size.t}px`;
    this.cursor.style.height = `${size.h}px`;
  }
}

function merged(base, own = {}) {
  const title = typeof own.title === "string" ? { text: own.title } : own.title;
  return { ...base, ...own, title: { ...base.title, ...title } };
}
