// Lazy pictures are all loaded some time after the page, and before it is printed.
{
  const DELAY = 3000; // milliseconds

  const loadAll = () => {
    for (const picture of document.querySelectorAll('img[loading="lazy"]')) picture.loading = "eager";
  };

  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    setTimeout(loadAll, DELAY);
  });
  window.addEventListener("beforeprint", loadAll);
}
