// Load MathJax after the page is shown. Typeset the formulas near the viewport at once, and all others
// as soon as the reader does anything, in small batches, so that a chapter with hundreds of formulas
// opens fast and stays responsive.
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

  const typesetAll = async () => {
    const formulas = [...document.querySelectorAll(".math")];
    const isNearby = (formula) => {
      const { top } = formula.getBoundingClientRect();
      return -innerHeight < top && top < 1.25 * innerHeight;
    };
    const nearby = new Set(formulas.filter(isNearby)); // all at once, so that visible text does not move
    await MathJax.typesetPromise([...nearby]);
    others = formulas.filter((formula) => !nearby.has(formula));
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
  requestAnimationFrame(() => setTimeout(() => document.head.append(startup)));
}
