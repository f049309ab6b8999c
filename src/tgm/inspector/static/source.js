// The source of the data: the server of `tgm inspect`, or the report file itself.

import { unpacked } from "./packed.js";

class Embedded {
  constructor() {
    this.isLive = false;
    this.token = "";
    this.opened = unpacked("tgm-data").then(JSON.parse);
  }

  // The first request of the page: what the report holds is known from then on.
  async runs() {
    this.data = await this.opened;
    return this.data.runs;
  }

  async summary(id) { return this.data.summary[id]; }

  async outline(id) { return this.data.outline[id]; }

  async field(id) { return this.data.field[id] ?? null; }

  async chunk(id, step) {
    const chunk = this.data.chunks[id][step];
    if (chunk.error) throw new Error(chunk.error);
    return chunk;
  }

  hasSummary(id) { return id in this.data.summary; }
}

class Served {
  constructor(token) {
    this.token = token;
    this.isLive = true;
  }

  async get(path) {
    const answer = await fetch(`/api/runs${path}`, { headers: { "X-TGM-Token": this.token } });
    let content;
    try {
      content = await answer.json();
    } catch {
      throw new Error(`the server answered ${answer.status}`);
    }
    if (!answer.ok) throw new Error(content.error ?? `the server answered ${answer.status}`);
    return content;
  }

  runs() { return this.get(""); }

  summary(id) { return this.get(`/${id}`); }

  outline(id) { return this.get(`/${id}/outline`); }

  field(id) { return this.get(`/${id}/field`); }

  pulse(id) { return this.get(`/${id}/pulse`); }

  chunk(id, step) { return this.get(`/${id}/chunks/${step}`); }

  hasSummary() { return true; }
}

// The token is in the fragment, which is not sent to a server; it is kept for reloads of this tab.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.get("token")) {
    sessionStorage.setItem("tgm-token", given.get("token"));
    given.delete("token");
    history.replaceState(null, "", location.pathname + (given.size ? `#${given}` : ""));
  }
  return sessionStorage.getItem("tgm-token") ?? "";
}

// A link that was pasted into an open tab brings its token too.
export function renewToken(source) {
  if (source.isLive) source.token = takeToken();
}

export function openSource() {
  return document.getElementById("tgm-data") ? new Embedded() : new Served(takeToken());
}
