// Boxes wider than the page scroll sideways: they get focus, a name, and a fade at the hidden end.
const BOX_NAMES = {
  "mjx-container": "Formula",
  "div.pst-scrollable-table-container": "Table",
  "div.output.text_html": "Table", // a data frame
  "div.cell_output pre": "Output",
  pre: "Code",
};

function mark(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  const isWide = hidden > (box.matches("pre") ? 0 : 4); // italics of formulas overhang by up to 4 pixels
  if (isWide !== box.classList.contains("wide")) {
    box.classList.toggle("wide", isWide);
    const selector = Object.keys(BOX_NAMES).find((key) => box.matches(key));
    for (const [key, value] of [
      ["tabindex", "0"], ["role", "group"], ["aria-label", `${BOX_NAMES[selector]}, scrolls sideways`],
    ]) {
      if (isWide) box.setAttribute(key, value);
      else box.removeAttribute(key);
    }
  }
  box.classList.toggle("more", isWide && box.scrollLeft < hidden - 1);
}

// Sizes change when fonts load, a solution is opened, or the window is resized.
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));

function watch() {
  for (const box of document.querySelectorAll(Object.keys(BOX_NAMES).join(","))) {
    sizes.observe(box);
    box.addEventListener("scroll", () => mark(box), { passive: true });
  }
}

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  watch();
});
