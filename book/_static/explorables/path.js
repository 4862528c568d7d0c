// The path of prices: each multiplier as a share of C, and who is free, who is bounded.

import { dot, gram, solveDual, weights } from "./dual.js";
import { panel, path, plane, power, r1, text } from "./plane.js";

const PLANE = plane(310, 300, 60), LEFT = 350, WIDE = 280, TOP = 20, BOTTOM = 265; // of the curves
const LOWEST = -3, HIGHEST = 2, STEPS = 60; // of the logarithm of C
const POINTS = [
  [70, 213, -1], [107, 156, -1], [149, 250, -1], [60, 97, -1], [117, 230, -1], [164, 176, -1], [90, 270, -1],
  [40, 168, -1], [132, 120, -1], [186, 222, -1], [82, 128, -1], [46, 246, -1], [203, 271, -1], [141, 196, -1],
  [178, 118, -1], [196, 64, 1], [239, 99, 1], [281, 168, 1], [222, 146, 1], [261, 48, 1], [164, 43, 1],
  [250, 209, 1], [212, 187, 1], [289, 85, 1], [155, 91, 1], [271, 130, 1], [232, 27, 1], [118, 66, 1],
  [286, 244, 1], [172, 142, 1],
];

/** Return the multipliers of each price, from the smallest on; each begins at the one before. */
export function pricePath(points, labels, logCs) {
  const K = gram(points, dot);
  let before = null;
  return logCs.map((logC) => {
    const C = 10 ** logC, start = before && before.alpha.map((a) => a * (C / before.C));
    const solved = solveDual(K, labels, labels.map(() => C), { start });
    before = { alpha: solved.alpha, C };
    return { ...solved, C };
  });
}

const at = (logC, share) => [
  LEFT + (WIDE * (logC - LOWEST)) / (HIGHEST - LOWEST), BOTTOM - (BOTTOM - TOP) * share,
];
const group = (a, C) => (a <= 0 ? "idle" : a >= C ? "bounded" : "free");

function draw(state) {
  const places = state.points.map(PLANE.from), labels = state.points.map(([, , label]) => label);
  const grid = Array.from({ length: STEPS + 1 }, (_, k) => LOWEST + (k * (HIGHEST - LOWEST)) / STEPS);
  state.path ??= pricePath(places, labels, grid);
  const now = (state.machine = state.path[Math.round(((state.logC - LOWEST) / (HIGHEST - LOWEST)) * STEPS)]);
  const groups = [...now.alpha].map((a) => group(a, now.C)), count = (name) => groups.filter((one) => one === name).length;
  const curves = state.points.map((_, i) => {
    const line = path(state.path.map(({ alpha, C }, k) => at(grid[k], alpha[i] / C)));
    return `<path class="curve ${groups[i]}${i === state.chosen ? " chosen" : ""}" d="${line}"/>`;
  });
  const here = at(state.logC, 0)[0], street = PLANE.street(weights(places, labels, now.alpha), now.b);
  const back = panel(0, PLANE.width, PLANE.height, street) +
    `<path class="axis" d="M${LEFT} ${TOP}V${BOTTOM}H${LEFT + WIDE}"/><path class="here" d="M${r1(here)} ${TOP}V${BOTTOM}"/>` +
    curves.join("") + text(LEFT + 6, TOP - 4, "α / C") + text(LEFT, 288, "0.001") +
    text(LEFT + WIDE, 288, "C = 100", "end");
  return {
    back,
    words: `At C = ${power(state.logC)}: ${count("idle")} points without a force, ${count("free")} free on a kerb, ` +
      `${count("bounded")} at the bound.`,
  };
}

export default {
  about: "Thirty points with a street, and beside it the multiplier of each as a share of the price C, " +
    "drawn against C: all begin at one and leave the bound in turn.",
  how: "Move C. Drag a point, or reach it, and its curve stands out.",
  width: 640,
  height: 300,
  reach: PLANE.width,
  start: () => ({ points: POINTS.map((point) => [...point]), logC: 0, path: null, chosen: 24 }),
  draw,
  marks: ({ points, machine: { alpha, C } }) => points.map(([x, y, label], i) => ({
    x, y, label, held: alpha[i] > 0, kind: group(alpha[i], C), told: `multiplier ${alpha[i].toPrecision(2)} of ${C.toPrecision(2)}`,
  })),
  move: (state, k, x, y) => {
    state.points[k].splice(0, 2, x, y);
    state.path = null;
  },
  controls: [{ name: "logC", label: "C", min: LOWEST, max: HIGHEST, step: (HIGHEST - LOWEST) / STEPS, tell: power }],
};
