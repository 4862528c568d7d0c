// Jupyter widgets typeset formulas in their labels through MathJax 2's queue.
// Forward such calls to MathJax 3, which is what the page has loaded.
if (window.MathJax && !window.MathJax.Hub) {
  window.MathJax.Hub = {
    Queue: ([, , element]) =>
      window.MathJax.startup.promise.then(() => window.MathJax.typesetPromise([element])),
  };
}
