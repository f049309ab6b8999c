// The address: run, tab, step, state, axes and theme in its fragment, which no server is sent.

const QUIET = 250; // milliseconds without a change before the address is written

// { run, tab, step, state, axes, theme }; what is absent or makes no sense is null.
export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const whole = (name) => (/^\d{1,15}$/.test(given.get(name) ?? "") ? Number(given.get(name)) : null);
  const theme = given.get("theme");
  return { run: given.get("run"), tab: given.get("tab"), step: whole("step"), state: whole("state"),
    axes: given.get("axes"), theme: theme === "light" || theme === "dark" ? theme : null };
}

export class Address {
  constructor(describe) {
    this.describe = describe; // gives the values of the page as it is
    this.timer = null;
    this.isNew = false; // whether the user turned to another tab or run: "back" leads to the one before
    this.isHeld = false; // while the page follows the address
  }

  // The fragment of this view.
  get fragment() {
    const pairs = Object.entries(this.describe()).filter(([, value]) => value !== null && value !== undefined);
    return `#${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
  }

  // Write it when the page has been quiet: browsers limit how often an address may change.
  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), QUIET);
  }

  write() {
    clearTimeout(this.timer);
    if (this.isHeld || location.hash === this.fragment) return;
    if (this.isNew) history.pushState(null, "", this.fragment);
    else history.replaceState(null, "", this.fragment);
    this.isNew = false;
  }

  // A link to this view. That of a server needs its token, or another tab is given no data.
  link(token) {
    const words = token ? `${this.fragment}&token=${encodeURIComponent(token)}` : this.fragment;
    return location.href.split("#")[0] + words;
  }
}
