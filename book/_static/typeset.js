// Typeset formulas in small batches, so that a chapter with hundreds of them stays responsive.
{
  const BATCH_SIZE = 6; // formulas; style and layout are recomputed after each batch
  const MAX_BLOCKING_TIME = 20; // milliseconds of work before control returns to the browser

  window.MathJax.startup = {
    async pageReady() {
      const formulas = [...document.querySelectorAll(".math")];
      // Formulas in or near the viewport come first and all at once, so that visible text does not move.
      const nearby = new Set(formulas.filter((formula) => {
        const { top } = formula.getBoundingClientRect();
        return -innerHeight < top && top < 2 * innerHeight;
      }));
      await MathJax.typesetPromise([...nearby]);
      const others = formulas.filter((formula) => !nearby.has(formula));
      let deadline = performance.now() + MAX_BLOCKING_TIME;
      for (let start = 0; start < others.length; start += BATCH_SIZE) {
        await MathJax.typesetPromise(others.slice(start, start + BATCH_SIZE));
        if (performance.now() > deadline) {
          await new Promise((resume) => setTimeout(resume));
          deadline = performance.now() + MAX_BLOCKING_TIME;
        }
      }
    },
  };
}
