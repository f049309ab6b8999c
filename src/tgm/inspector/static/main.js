// The page: header, timeline and tabs. All views show the same step and the same selected state.

import { Address, readAddress } from "./address.js";
import { Context } from "./context.js";
import { glyph, h, installTooltip, isOnly } from "./dom.js";
import { installExports } from "./export.js";
import { amount, isDark, short } from "./format.js";
import { KEYS, installKeys } from "./keys.js";
import { openSource, renewToken } from "./source.js";
import { Compare } from "./views/compare.js";
import { Energy } from "./views/energy.js";
import { Features } from "./views/features.js";
import { Field } from "./views/field.js";
import { Graph } from "./views/graph.js";
import { Health, Where } from "./views/health.js";
import { Ledger } from "./views/ledger.js";
import { Lineage } from "./views/lineage.js";
import { Matrices } from "./views/matrices.js";
import { Observations } from "./views/observations.js";
import { Policy } from "./views/policy.js";
import { Replay } from "./views/replay.js";
import { StateCard } from "./views/state-card.js";
import { StateTable } from "./views/state-table.js";
import { Story } from "./views/story.js";
import { Surprise } from "./views/surprise.js";
import { Timeline } from "./views/timeline.js";
import { WhatIf } from "./views/what-if.js";

const POLL = 1000; // milliseconds between two requests about a live run

const LINK = "M6 8l3-3M5 6.5L3.6 8a2.2 2.2 0 0 0 3 3.1L8 9.7M7 4.3l1.4-1.4a2.2 2.2 0 0 1 3.1 3.1L10 7.5";

const ctx = new Context(openSource());
const timeline = new Timeline(ctx);

function tabs() {
  const overview = [new Observations(ctx), new Policy(ctx), new Field(ctx), new StateCard(ctx),
    new Health(ctx, { most: 4 }), new Story(ctx), new Features(ctx)];
  const [space, policy, field, card, brief, story, features] = overview.map((view) => view.element);
  const transitions = [new Graph(ctx), new Matrices(ctx), new StateTable(ctx)];
  const learning = [new Lineage(ctx), new Energy(ctx), new Surprise(ctx), new Ledger(ctx)];
  const replay = new Replay(ctx);
  const whatIf = new WhatIf(ctx);
  const health = [new Health(ctx), new Where(ctx)];
  const compare = new Compare(ctx, (id) => turnToRun(id));
  return [
    { id: "overview", title: "Overview", views: overview,
      element: h("div", { class: "columns overview" }, space, policy, field,
        h("div", { class: "stack" }, card, brief), h("div", { class: "stack below" }, story, features)) },
    { id: "transitions", title: "Transitions", views: transitions,
      element: h("div", { class: "columns halves" }, transitions.map((view) => view.element)) },
    { id: "learning", title: "Learning", views: learning,
      element: h("div", { class: "columns learning" }, learning.map((view) => view.element)) },
    { id: "replay", title: "Replay", views: [replay], element: replay.element },
    { id: "whatif", title: "What if", views: [whatIf], element: whatIf.element },
    { id: "health", title: "Health", views: health,
      element: h("div", { class: "columns halves" }, health.map((view) => view.element)) },
    { id: "compare", title: "Compare", views: [compare], element: compare.element,
      needsNoHistory: true },
  ];
}

const pages = tabs();
let active = pages[0];

// What a link to this view holds; at the end of a run no step, so that it leads to the end.
const address = new Address(() => ({ run: ctx.id, tab: active.id,
  step: ctx.summary && ctx.step < ctx.lastStep ? ctx.step : null, state: ctx.selected, axes: ctx.axes,
  theme: (onScreen ?? document.documentElement.dataset).theme ?? null }));

// Plain buttons instead of ARIA tabs: those use the arrow keys, which move the timeline here.
const nav = h("nav", { class: "tabs", "aria-label": "Views" }, pages.map((page, index) => {
  page.button = h("button", { type: "button", id: `tab-${page.id}`, "data-tip": `key ${index + 1}`,
    onclick: () => turnTo(page) }, page.title);
  page.holder = h("div", { id: `page-${page.id}`, class: "page" }, page.element);
  return page.button;
}), timeline.words);

const chooser = h("select", { id: "run", "aria-label": "run",
  onchange: (event) => turnToRun(event.target.value),
  onmousedown: () => refresh(),
  onfocus: () => refresh() });
const facts = h("div", { class: "run-facts" });
const message = h("p", { class: "message", role: "alert", hidden: true });
const help = h("dialog", { class: "help-box", "aria-label": "Keys" },
  h("h2", {}, "Keys"),
  h("dl", { class: "facts" }, KEYS.map(([key, words]) => [
    h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)])),
  h("form", { method: "dialog" }, h("button", {}, "close")));

const linkField = h("input", { type: "text", readonly: true, "aria-label": "link" });
const linkBox = h("dialog", { class: "help-box", "aria-label": "Link to this view" },
  h("h2", {}, "Link to this view"), linkField,
  h("form", { method: "dialog" }, h("button", {}, "close")));
const toast = h("div", { class: "toast", role: "status" });

document.getElementById("app").append(
  h("div", { class: "top-bar" },
    h("header", { class: "head" },
      h("h1", {}, "tgm ", h("span", {}, "inspector")), chooser, facts,
      h("span", { class: "tools" },
        h("button", { type: "button", class: "icon", "aria-label": "copy a link to this view",
          "data-tip": "copy a link to this view: run, tab, step, state (c)", onclick: copyLink }, glyph(LINK)),
        h("button", { type: "button", class: "icon", "aria-label": "light or dark",
          "data-tip": "light or dark (t)", onclick: switchTheme }, "◐"),
        h("button", { type: "button", class: "icon", "aria-label": "keys", "data-tip": "keys (?)",
          onclick: () => help.showModal() }, "?"))),
    timeline.element, nav),
  h("main", {}, message, pages.map((page) => page.holder), toast), help, linkBox);
installTooltip(document.querySelector("main"));
installExports(ctx);

// The user turns to another tab or run: "back" leads to the one before.
function turnTo(page) {
  address.write();
  address.isNew = page !== active;
  show(page);
  address.write();
}

async function turnToRun(id) {
  address.write();
  address.isNew = true;
  await openRun(id);
  address.write();
  address.isNew = false; // the run could not be shown
}

function show(page) {
  active = page;
  for (const other of pages) {
    const isActive = other === page;
    other.holder.hidden = !isActive;
    other.button.setAttribute("aria-current", isActive ? "page" : "false");
  }
  if (ctx.summary) ctx.redraw("run");
  if (ctx.id) address.changed();
}

ctx.subscribe((reasons) => {
  if (isOnly(reasons, "zoom")) {
    for (const view of active.views) view.zoomed?.();
    return;
  }
  address.changed();
  if (reasons.has("run")) drawFacts();
  document.documentElement.toggleAttribute("data-flows", ctx.flows);
  timeline.update(reasons);
  for (const view of active.views) view.update(reasons);
});

function drawFacts() {
  const { summary } = ctx;
  chooser.value = ctx.id;
  const { result } = summary;
  const end = summary.log.series.n_states.at(-1);
  const best = summary.maze?.optimal_return ?? null;
  const items = [
    [summary.name, chooser.hidden ? "name" : "name on-paper", "the run"], // else the chooser has it
    [summary.state, `chip-${summary.state}`, summary.reason || "how the run ended"],
    [summary.world, "", "the environment"], [summary.agent, "", "the agent"],
    [`seed ${summary.seed ?? "?"}`, "", "seed of all random numbers"],
    [amount(summary.last_step, "step"), "",
      summary.started ? `started ${summary.started}` : "steps so far"],
    end !== undefined && end !== null && [amount(end, "state"), "", "states at the end"],
    typeof result?.mean_return === "number" && [`return ${short(result.mean_return)}`, "",
      `mean return of the greedy policy at the end${best === null ? "" : `; the best is ${short(best)}`}`],
    summary.solved !== null && [summary.solved ? "solved" : "not solved", "",
      "whether greedy episodes at the end all reached the goal, near the best return"],
    summary.chunks_left_out > 0 && ["thinned", "chip-live",
      `this file holds ${summary.chunks.length} chunks of the history; `
      + `${summary.chunks_left_out} chunks were left out`],
  ];
  facts.replaceChildren(...items.filter(Boolean).map(([words, extra, tip]) => (
    h("span", { class: `fact ${extra}`, "data-tip": tip }, words))));
  document.title = `${summary.name} · tgm inspector`;
}

function showMessage(words) {
  message.textContent = words;
  message.hidden = !words;
}

async function openRun(id, at = null) {
  const run = ctx.runs.find((one) => one.id === id);
  try {
    showMessage("");
    if (run?.error) throw new Error(run.error);
    await ctx.open(id, { at });
    const hasNone = ctx.history.isEmpty && ctx.summary.state !== "live";
    if (hasNone && !active.needsNoHistory) show(pages.at(-1));
  } catch (error) {
    showMessage(`The run ${run?.name ?? ""} cannot be shown: ${error.message}`);
    if (ctx.id) chooser.value = ctx.id; // the one that is shown still
  }
  document.documentElement.dataset.ready = "true";
}

async function listRuns() {
  const { runs, left_out: leftOut } = await ctx.source.runs();
  ctx.listedAt = Date.now();
  if (JSON.stringify(runs) === JSON.stringify(ctx.runs)) return;
  ctx.runs = runs;
  const chosen = ctx.id;
  const shown = runs.filter((run) => ctx.source.hasSummary(run.id));
  chooser.replaceChildren(...newestFirst(shown).map((run) => h("option", { value: run.id },
    run.error ? `${run.name} (broken)` : run.name)));
  if (chosen) chooser.value = chosen;
  if (leftOut) chooser.append(h("option", { disabled: true }, `${leftOut} older runs are not listed`));
  chooser.hidden = shown.length < 2 && !ctx.source.isLive;
}

// By the time they were started, then by name; times are UTC in one format.
function newestFirst(runs) {
  const key = (run) => [run.started ?? "", run.name];
  const less = ([a, b], [c, d]) => (a === c ? (b > d) - (b < d) : (a > c) - (a < c));
  return runs.toSorted((one, other) => less(key(other), key(one)));
}

// List the runs again when the user opens the list.
async function refresh() {
  if (!ctx.source.isLive || Date.now() - (ctx.listedAt ?? 0) < 5 * POLL) return;
  ctx.listedAt = Date.now();
  await listRuns().catch(() => {});
}

// Request changes of a live run; follow it if the slider is at the end.
async function poll() {
  if (!ctx.source.isLive || ctx.summary?.state !== "live" || document.hidden) return;
  const pulse = await ctx.source.pulse(ctx.id);
  const seen = JSON.stringify(pulse);
  if (seen !== ctx.pulse) {
    ctx.pulse = seen;
    await ctx.open(ctx.id, { keepStep: true });
  }
}

// Wait twice as long as the request took: the same machine often runs the training.
async function keepPolling() {
  const began = performance.now();
  try {
    await poll();
  } catch (error) {
    showMessage(`The server does not answer: ${error.message}`);
  }
  setTimeout(keepPolling, Math.max(POLL, 2 * (performance.now() - began)));
}

function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  if (ctx.summary) ctx.redraw("run");
}

async function copyLink() {
  address.write();
  const link = address.link(ctx.source.token);
  try {
    await navigator.clipboard.writeText(link);
    say("The link is copied.");
  } catch {
    linkField.value = link; // without the right to write to the clipboard, the user copies it
    linkBox.showModal();
    linkField.select();
  }
}

// A line for a moment, which is read aloud too.
function say(words) {
  toast.textContent = words;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { toast.textContent = ""; }, 2500);
}

// Show what the address says: at the start, and when the user changes it.
function takeTheme({ theme }) {
  if (theme) document.documentElement.dataset.theme = theme;
}

window.addEventListener("hashchange", async () => {
  renewToken(ctx.source);
  const asked = readAddress();
  address.isHeld = true;
  takeTheme(asked);
  const page = pages.find(({ id }) => id === asked.tab);
  if (page) show(page);
  if (ctx.runs.some((run) => run.id === asked.run)) await openRun(asked.run, asked);
  [address.isHeld, address.isNew] = [false, false];
  address.changed();
});

installKeys(ctx, { timeline, pages, turnTo, copyLink, switchTheme, showHelp: () => help.showModal() });

// Paper is light, whatever the screen is. Some browsers say more than once that they will print.
let onScreen = null; // { theme } while the page is printed
window.addEventListener("beforeprint", () => {
  onScreen ??= { theme: document.documentElement.dataset.theme };
  document.documentElement.dataset.theme = "light";
  if (ctx.summary) ctx.drawNow(new Set(["run"]));
});
window.addEventListener("afterprint", () => {
  if (onScreen?.theme) document.documentElement.dataset.theme = onScreen.theme;
  else delete document.documentElement.dataset.theme;
  onScreen = null;
  if (ctx.summary) ctx.redraw("run");
});

window.addEventListener("resize", () => { if (ctx.summary) ctx.redraw("size"); });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (ctx.summary) ctx.redraw("run");
});

async function start() {
  const asked = readAddress();
  takeTheme(asked);
  show(pages.find(({ id }) => id === asked.tab) ?? active);
  try {
    await listRuns();
  } catch (error) {
    showMessage(`The runs cannot be listed: ${error.message}`);
    return;
  }
  if (!ctx.runs.length) {
    showMessage("There are no runs here yet. `tgm train` makes one.");
    return;
  }
  const shown = newestFirst(ctx.runs.filter((run) => ctx.source.hasSummary(run.id)));
  const named = shown.find((run) => run.id === asked.run);
  const first = named ?? shown.find((run) => !run.error) ?? shown[0];
  await openRun(first.id, named || !asked.run ? asked : null);
  if (asked.run && !named) showMessage("The run of this link is not here; the newest one is shown.");
  setTimeout(keepPolling, POLL);
}

window.tgmInspector = ctx; // for tests and for the browser console
start();
