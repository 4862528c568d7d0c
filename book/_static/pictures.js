// Pictures further down wait until the page is there; whoever prints it finds them all.
{
  const QUIET = 3000; // milliseconds

  const fetchAll = () => {
    for (const picture of document.querySelectorAll('img[loading="lazy"]')) picture.loading = "eager";
  };

  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    setTimeout(fetchAll, QUIET);
  });
  window.addEventListener("beforeprint", fetchAll);
}
