// What saved Jupyter widgets lack on a page of this book.

// Widgets typeset formulas in their labels through MathJax 2's queue; the page has MathJax 3.
if (window.MathJax && !window.MathJax.Hub) {
  window.MathJax.Hub = {
    Queue: ([, , element]) =>
      window.MathJax.startup.promise.then(() => window.MathJax.typesetPromise([element])),
  };
}

// Screen readers need a name for the handle of a slider and words for the figure under it.
function describe() {
  for (const handle of document.querySelectorAll(".noUi-handle:not([aria-label])")) {
    const label = handle.closest(".widget-slider")?.querySelector(".widget-label");
    handle.setAttribute("aria-label", label?.title || label?.textContent || "value");
  }
  for (const image of document.querySelectorAll(".jupyter-widgets img:not([alt])")) {
    image.alt = "The figure for the saved position of the slider; the text describes it.";
  }
}
if (document.querySelector('script[type="application/vnd.jupyter.widget-view+json"]')) {
  new MutationObserver(describe).observe(document.body, { childList: true, subtree: true });
}
