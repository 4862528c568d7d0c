// The targets of links: folded blocks around a target open, the target stays in view while formulas
// above it are typeset, and the words that the search found are highlighted.
{
  const SETTLE_DELAY = 500; // milliseconds after typesetting and loading
  const targetOf = (hash) => document.getElementById(decodeURIComponent(hash.slice(1)));

  /** Open the folded blocks around a target, and return whether any was closed. */
  const unfold = (element) => {
    let wasClosed = false;
    for (let box = element?.closest("details"); box; box = box.parentElement.closest("details")) {
      wasClosed ||= !box.open;
      box.open = true;
    }
    return wasClosed;
  };

  /** Keep an element at the top of the window until the layout has settled or the reader scrolls. */
  const keepInView = async (element) => {
    if (!element) return;
    unfold(element);
    const end = new AbortController(), options = { passive: true, signal: end.signal };
    const growth = new ResizeObserver(() => element.scrollIntoView());
    end.signal.addEventListener("abort", () => growth.disconnect());
    for (const name of ["wheel", "touchmove", "keydown", "mousedown", "popstate"]) {
      window.addEventListener(name, () => end.abort(), options);
    }
    growth.observe(document.body); // calls back at once, too
    if (document.readyState !== "complete") await new Promise((load) => window.addEventListener("load", load));
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    setTimeout(() => end.abort(), SETTLE_DELAY);
  };

  const [visit] = performance.getEntriesByType("navigation");
  if (visit?.type === "navigate") keepInView(targetOf(location.hash)); // otherwise the browser restores the position
  else unfold(targetOf(location.hash));
  document.addEventListener("click", ({ target }) => {
    const link = target.closest?.("a[href*='#']");
    if (link?.hash && link.href.split("#")[0] === location.href.split("#")[0]) setTimeout(keepInView, 0, targetOf(link.hash));
  });
  window.addEventListener("hashchange", () => { // after typing an address or going back
    const element = targetOf(location.hash);
    if (unfold(element)) element.scrollIntoView();
  });

  const highlight = (found) => {
    const words = found.split(" ").map((word) => word.replace(/[^\p{L}\p{M}\p{N}_]/gu, "")).filter(Boolean);
    const whole = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
    const texts = document.createTreeWalker(document.querySelector(".bd-article"), NodeFilter.SHOW_TEXT);
    const ranges = [];
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest(".math, script, style")) continue;
      for (const { 0: word, index } of text.data.matchAll(whole)) {
        ranges.push(new StaticRange({
          startContainer: text, startOffset: index, endContainer: text, endOffset: index + word.length,
        }));
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  };
  const found = new URLSearchParams(location.search).get("found");
  if (found && CSS.highlights) {
    window.addEventListener("load", () => {
      highlight(found);
      const address = new URL(location.href);
      address.searchParams.delete("found"); // a copied address does not highlight
      history.replaceState(history.state, "", address);
    });
    window.addEventListener("keydown", ({ key }) => { if (key === "Escape") CSS.highlights.delete("found"); });
  }
}
