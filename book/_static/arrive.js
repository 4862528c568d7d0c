// Arriving at a place by a link: folded blocks open, the place stays in view while formulas above it
// are typeset, and the words that the search found are highlighted.
{
  const SETTLED = 500; // milliseconds after typesetting and loading
  const placeOf = (hash) => document.getElementById(decodeURIComponent(hash.slice(1)));

  /** Open the folded blocks around a place, and return whether any was closed. */
  const unfold = (place) => {
    let wasClosed = false;
    for (let box = place?.closest("details"); box; box = box.parentElement.closest("details")) {
      wasClosed ||= !box.open;
      box.open = true;
    }
    return wasClosed;
  };

  /** Keep a place at the top of the window until the layout has settled or the reader scrolls. */
  const hold = async (place) => {
    if (!place) return;
    unfold(place);
    const end = new AbortController(), options = { passive: true, signal: end.signal };
    const growth = new ResizeObserver(() => place.scrollIntoView());
    end.signal.addEventListener("abort", () => growth.disconnect());
    for (const name of ["wheel", "touchmove", "keydown", "mousedown", "popstate"]) {
      window.addEventListener(name, () => end.abort(), options);
    }
    growth.observe(document.body); // calls back at once, too
    if (document.readyState !== "complete") await new Promise((load) => window.addEventListener("load", load));
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    setTimeout(() => end.abort(), SETTLED);
  };

  const [visit] = performance.getEntriesByType("navigation");
  if (visit?.type === "navigate") hold(placeOf(location.hash)); // otherwise the browser restores the position
  else unfold(placeOf(location.hash));
  document.addEventListener("click", ({ target }) => {
    const link = target.closest?.("a[href*='#']");
    if (link?.hash && link.href.split("#")[0] === location.href.split("#")[0]) setTimeout(hold, 0, placeOf(link.hash));
  });
  window.addEventListener("hashchange", () => { // by typing an address, or by the way back
    const place = placeOf(location.hash);
    if (unfold(place)) place.scrollIntoView();
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
