// Formulas are set a few at a time, so that a chapter of hundreds answers clicks and scrolling meanwhile.
{
  const FEW = 6; // formulas; style and layout are computed anew after each batch
  const TURN = 20; // milliseconds of work before the browser has its turn

  window.MathJax.startup = {
    async pageReady() {
      const formulas = [...document.querySelectorAll(".math")];
      // Those in sight at once, and their neighbours, so that nothing moves under the reader's eyes.
      const near = new Set(formulas.filter((one) => {
        const { top } = one.getBoundingClientRect();
        return -innerHeight < top && top < 2 * innerHeight;
      }));
      await MathJax.typesetPromise([...near]);
      const others = formulas.filter((one) => !near.has(one));
      let until = performance.now() + TURN;
      for (let start = 0; start < others.length; start += FEW) {
        await MathJax.typesetPromise(others.slice(start, start + FEW));
        if (performance.now() > until) {
          await new Promise((resume) => setTimeout(resume));
          until = performance.now() + TURN;
        }
      }
    },
  };
}
