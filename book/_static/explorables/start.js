// Each figure comes to life when it is near the window.

import costs from "./costs.js";
import margin from "./margin.js";
import path from "./path.js";
import prototypes from "./prototypes.js";
import { mount } from "./stage.js";
import stumps from "./stumps.js";

const EXPLORABLES = { costs, margin, path, prototypes, stumps };

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    mount(target, EXPLORABLES[target.dataset.explorable]);
  }
}, { rootMargin: "400px" });

document.querySelectorAll("[data-explorable]").forEach((figure) => near.observe(figure));
