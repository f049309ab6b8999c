// The table of runs: settings as columns, sorting, a filter, groups.

import { h } from "./dom.js";
import { count, curveColour, short } from "./format.js";

const FACTS = [
  ["run", (run) => run.name], ["group", null], ["agent", (run) => run.agent], ["seed", (run) => run.seed],
  ["state", (run) => run.state], ["steps", (run) => run.last_step ?? run.result?.steps],
  ["states", (run) => run.result?.states ?? run.states?.n_states.at(-1)],
  ["return", (run) => recentReturn(run), "mean return of the last 20 episodes while learning"],
  ["solved", (run) => solvedWords(run), "by greedy episodes; see the help"],
  ["started", (run) => run.started?.replace("T", " ").slice(0, 16)],
  ["tags", (run) => run.tags?.join(", "), "`tgm note RUN --add TAG` adds one"],
  ["note", (run) => run.note, "`tgm note RUN --text WORDS` writes it"],
];

// The names of the settings in which the runs differ; `all` for every setting.
export function settingNames(runs, all = false) {
  const known = runs.filter((run) => Object.keys(run.settings ?? {}).length); // other agents have none
  const names = [...new Set(known.flatMap((run) => Object.keys(run.settings)))];
  return names.filter((name) => all || new Set(known.map((run) => JSON.stringify(run.settings[name]))).size > 1);
}

// What a run is grouped by: a fact, or a setting.
export function valueOf(run, name) {
  if (name === "all") return "all runs";
  if (name === "agent") return run.agent || "agent";
  if (name === "tags") return run.tags?.length ? run.tags.join(", ") : "no tag";
  if (name === "run" || name === "seed" || name === "state") return String((name === "run" ? run.name : run[name]) ?? "?");
  const value = run.settings?.[name];
  return `${name.replace("world.", "")} ${value === undefined ? "–" : plain(value)}`;
}

// Runs that match all words: "gamma=0.9" or "seed>3" compares, any other word is searched for.
export function filtered(runs, words) {
  const tests = words.trim().split(/\s+/).filter(Boolean).map(testOf);
  return runs.filter((run) => tests.every((test) => test(run)));
}

function testOf(word) {
  const [, name, sign, wanted] = /^([\w.]+)(<=|>=|=|<|>)(.+)$/.exec(word) ?? [];
  if (!name) {
    const lower = word.toLowerCase();
    return (run) => [run.name, run.agent, run.state, run.note, ...(run.tags ?? [])]
      .some((text) => String(text ?? "").toLowerCase().includes(lower));
  }
  return (run) => {
    const fact = FACTS.find(([one]) => one === name)?.[1]?.(run);
    const value = fact ?? run.settings?.[name] ?? run.settings?.[`world.${name}`];
    if (value === undefined || value === null) return false;
    if (sign === "=") return plain(value).toLowerCase() === wanted.toLowerCase() || Number(value) === Number(wanted);
    const [a, b] = [Number(value), Number(wanted)];
    return { "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b }[sign];
  };
}

export class RunTable {
  constructor(ctx) {
    this.ctx = ctx;
    this.sort = { name: "started", isUp: false };
    this.element = h("table", { class: "runs" });
  }

  // groups: Map of name -> runs, in the order of their colours.
  draw(groups, settings) {
    const runs = [...groups].flatMap(([name, members], index) => members.map((run) => ({ run, name, index })));
    const columns = [...FACTS.map(([name, of, tip]) => ({ name, tip, of: of && ((item) => of(item.run)) })),
      ...settings.map((name) => ({ name: name.replace("world.", ""), tip: `setting ${name}`,
        of: (item) => item.run.settings?.[name] }))];
    for (const column of columns) column.of ??= (item) => item.name;
    const shown = columns.filter((column) => ["run", "group"].includes(column.name)
      || runs.some((item) => ![undefined, null, ""].includes(column.of(item))));
    const key = shown.find(({ name }) => name === this.sort.name) ?? shown[0];
    const order = runs.toSorted((one, other) => (this.sort.isUp ? 1 : -1) * compare(key.of(one), key.of(other)));
    this.element.replaceChildren(
      h("caption", { class: "unseen" }, "Runs of this environment"),
      h("thead", {}, h("tr", {}, shown.map((column) => (
        this.#head(column, runs.some((item) => typeof column.of(item) === "number")))))),
      h("tbody", {}, order.map((item) => this.#row(item, shown))));
  }

  #head({ name, tip }, isNumber) {
    const isKey = name === this.sort.name;
    return h("th", { scope: "col", class: isNumber ? "num" : null, "aria-sort": isKey ? (this.sort.isUp ? "ascending" : "descending") : null },
      h("button", { type: "button", class: "sort", "data-tip": tip ? `${tip}; click to sort` : "click to sort",
        onclick: () => {
          this.sort = { name, isUp: isKey ? !this.sort.isUp : true };
          this.onChange();
        } }, name, h("span", { "aria-hidden": "true" }, isKey ? (this.sort.isUp ? " ▲" : " ▼") : "")));
  }

  #row(item, columns) {
    const { ctx } = this;
    const { run, index } = item;
    const cell = (column) => {
      if (column.name === "run") {
        return h("td", {}, ctx.source.hasSummary(run.id)
          ? h("button", { type: "button", class: "link", onclick: () => this.onOpen(run.id) }, run.name) : run.name);
      }
      if (column.name === "group") {
        return h("td", {}, h("span", { class: "dot", style: `background:${curveColour(index)}` }), item.name);
      }
      const value = column.of(item);
      return h("td", { class: typeof value === "number" ? "num" : column.name === "note" ? "words" : null,
        "data-value": typeof value === "number" ? value : null },
        value === undefined || value === null || value === "" ? "–" : plain(value));
    };
    return h("tr", { class: run.id === ctx.id ? "best" : null, "data-run": run.id }, columns.map(cell));
  }
}

function plain(value) {
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : short(value, 4);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

function compare(one, other) {
  const isEmpty = (value) => value === undefined || value === null || value === "";
  if (isEmpty(one) || isEmpty(other)) return isEmpty(one) - isEmpty(other);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}

function recentReturn(run) {
  const recent = run.episodes?.total_reward.slice(-20) ?? [];
  if (recent.length) return recent.reduce((sum, value) => sum + value, 0) / recent.length;
  return run.result?.recent_return ?? null;
}

function solvedWords({ solved, result }) {
  if (solved === null || solved === undefined) return null;
  if (!solved) return "no";
  return typeof result?.solved_at === "number" ? `from step ${count(result.solved_at)}` : "yes";
}
