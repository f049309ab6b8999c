// The keys of the page: time, states, tabs.

export const KEYS = [
  ["← →", "one step back or forward; with shift, ten"], [", .", "previous or next structure move"],
  ["space", "play or pause"], ["home end", "first or last step"],
  ["[ ]", "previous or next state"], ["esc", "clear the selection"], ["1 to 7", "tabs"],
  ["c", "copy a link to this view"], ["t", "light or dark"], ["?", "this help"],
];

// `turnTo(page)` shows a tab; the other functions are what the letters do.
export function installKeys(ctx, { timeline, pages, turnTo, copyLink, switchTheme, showHelp }) {
  const actionsOf = (size) => ({
    ArrowLeft: () => ctx.goTo(ctx.step - size), ArrowRight: () => ctx.goTo(ctx.step + size),
    ",": () => timeline.jump(-1), ".": () => timeline.jump(1), " ": () => timeline.toggle(),
    Home: () => ctx.goTo(0), End: () => ctx.goTo(ctx.lastStep),
    "[": () => ctx.selectNext(-1), "]": () => ctx.selectNext(1),
    Escape: () => { if (ctx.selected !== null) ctx.select(ctx.selected); },
    c: copyLink, t: switchTheme, "?": showHelp,
  });
  document.addEventListener("keydown", (event) => {
    if (!ctx.summary || event.ctrlKey || event.metaKey || event.altKey || isForTarget(event)) return;
    const page = pages[Number(event.key) - 1];
    const act = actionsOf(event.shiftKey ? 10 : 1)[event.key] ?? (page && (() => turnTo(page)));
    if (!act) return;
    event.preventDefault();
    act();
  });
}

// Whether the element that has the focus uses the key itself.
function isForTarget({ target, key }) {
  if (target.closest?.("input:not([type=range]), select, textarea, dialog")) return true;
  if (key === " " && target.closest?.("button")) return true;
  if (target.matches?.("input[type=range]:not(#slider)") && key.startsWith("Arrow")) return true;
  return scrolls(target, key);
}

// A table or list that has the focus is scrolled, as far as it is larger than its panel.
function scrolls(target, key) {
  if (!target.matches?.(".scroller, .sheet-scroller")) return false;
  if (key === "ArrowLeft" || key === "ArrowRight") return target.scrollWidth > target.clientWidth;
  return ["Home", "End", " "].includes(key) && target.scrollHeight > target.clientHeight;
}
