// Load MathJax as soon as a formula is on the screen or the reader does anything, and never before the
// page is shown. Typeset the formulas near the screen at once, and all others after the reader's first
// action, in small batches, so that a chapter with hundreds of formulas opens fast and stays responsive.
{
  const BATCH_SIZE = 6; // formulas; style and layout are recomputed after each batch
  const MAX_BLOCKING_TIME = 20; // milliseconds of work before control returns to the browser
  const MAX_WAIT = 5000; // milliseconds after loading, without any action of the reader

  const ACTIONS = ["scroll", "pointermove", "pointerdown", "keydown", "focusin", "hashchange", "resize"];
  window.firstAction = new Promise((resolve) => { // previews of links wait for it, too
    if (location.hash) resolve(); // the target must not move later
    for (const name of ACTIONS) window.addEventListener(name, resolve, { once: true, passive: true });
    window.addEventListener("load", () => setTimeout(resolve, MAX_WAIT));
  });
  let others = [];
  window.addEventListener("beforeprint", () => MathJax.typeset?.(others.splice(0))); // cannot wait

  const findFormulas = (screens) => { // those that begin at most this far below the top of the screen
    const isNearby = (formula) => {
      const { top, width } = formula.getBoundingClientRect();
      return width && -innerHeight < top && top < screens * innerHeight; // folded ones have no width
    };
    return [...document.querySelectorAll(".math")].filter(isNearby);
  };

  const typesetAll = async () => {
    const nearby = new Set(findFormulas(1.25)); // all at once, so that visible text does not move
    await MathJax.typesetPromise([...nearby]);
    others = [...document.querySelectorAll(".math")].filter((formula) => !nearby.has(formula));
    await window.firstAction;
    let deadline = performance.now() + MAX_BLOCKING_TIME;
    while (others.length) {
      await MathJax.typesetPromise(others.splice(0, BATCH_SIZE));
      if (performance.now() > deadline) {
        await new Promise((resume) => setTimeout(resume));
        deadline = performance.now() + MAX_BLOCKING_TIME;
      }
    }
  };

  // MathJax keeps its own promise of this name, but other scripts need one before it is loaded.
  let pageReady;
  const promise = new Promise((resolve) => { pageReady = () => typesetAll().then(resolve); });
  window.MathJax.startup = { promise, pageReady };
  const startup = document.createElement("script");
  startup.src = new URL("mathjax/startup.js", document.currentScript.src);
  const load = async () => {
    if (!findFormulas(1).length) await window.firstAction;
    document.head.append(startup);
  };
  requestAnimationFrame(() => setTimeout(load)); // after the first paint
}
