// What scrolls sideways can be reached and moved by keyboard.
{
  const scrolling = "pre, .math, mjx-container, .pst-scrollable-table-container, .output";
  const article = document.querySelector(".bd-article");

  const giveFocus = (box) => {
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    if (scrolls && box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  const boxes = new ResizeObserver((changes) => changes.forEach((one) => giveFocus(one.target)));
  // Formulas and figures are added to the article later, and change its size.
  const watch = () => article.querySelectorAll(scrolling).forEach((box) => boxes.observe(box));
  if (article) new ResizeObserver(watch).observe(article);
}
