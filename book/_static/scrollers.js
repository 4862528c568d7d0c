// What is wider than the page scrolls by itself: it takes focus, has a name and fades where it goes on.
const BOXES = {
  "mjx-container": "Formula",
  "div.pst-scrollable-table-container": "Table",
  "div.cell_output pre": "Output",
  pre: "Code",
};

function mark(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  const wide = hidden > (box.matches("pre") ? 0 : 4); // slanted letters stand out by less
  const known = box.classList.contains("wide");
  if (wide !== known) {
    box.classList.toggle("wide", wide);
    const name = Object.keys(BOXES).find((selector) => box.matches(selector));
    for (const [key, value] of [
      ["tabindex", "0"], ["role", "group"], ["aria-label", `${BOXES[name]}, scrolls sideways`],
    ]) {
      if (wide) box.setAttribute(key, value);
      else box.removeAttribute(key);
    }
  }
  box.classList.toggle("more", wide && box.scrollLeft < hidden - 1);
}

// A box has its size when the fonts are there, its solution is opened or the window is turned.
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));

function watch() {
  for (const box of document.querySelectorAll(Object.keys(BOXES).join(","))) {
    sizes.observe(box);
    box.addEventListener("scroll", () => mark(box), { passive: true });
  }
}

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  watch();
});
