// Each figure fetches what it needs when it comes near the window.

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    Promise.all([import("./stage.js"), import(`./${target.dataset.explorable}.js`)])
      .then(([{ mount }, { default: explorable }]) => mount(target, explorable));
  }
}, { rootMargin: "400px" });

document.querySelectorAll("[data-explorable]").forEach((figure) => near.observe(figure));
