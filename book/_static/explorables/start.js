// Start each interactive figure when it comes near the viewport.

import costs from "./costs.js";
import margin from "./margin.js";
import path from "./path.js";
import prototypes from "./prototypes.js";
import { mount } from "./stage.js";
import stumps from "./stumps.js";

const EXPLORABLES = { costs, margin, path, prototypes, stumps };

const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    mount(target, EXPLORABLES[target.dataset.explorable]);
  }
}, { rootMargin: "400px" });

document.querySelectorAll("[data-explorable]").forEach((figure) => observer.observe(figure));
