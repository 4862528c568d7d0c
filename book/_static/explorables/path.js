// The regularisation path: each multiplier divided by C, and which are zero, free or at the bound.

import { dot, gram, solveDual, weights } from "./dual.js";
import { panel, path, plane, power, r1, text } from "./plane.js";

const PLANE = plane(310, 300, 60), LEFT = 350, WIDTH = 280, TOP = 20, BOTTOM = 265; // pixels of the plot
const MIN_LOG_C = -3, MAX_LOG_C = 2, N_STEPS = 60; // the grid of log10(C)
const POINTS = [
  [70, 213, -1], [107, 156, -1], [149, 250, -1], [60, 97, -1], [117, 230, -1], [164, 176, -1], [90, 270, -1],
  [40, 168, -1], [132, 120, -1], [186, 222, -1], [82, 128, -1], [46, 246, -1], [203, 271, -1], [141, 196, -1],
  [178, 118, -1], [196, 64, 1], [239, 99, 1], [281, 168, 1], [222, 146, 1], [261, 48, 1], [164, 43, 1],
  [250, 209, 1], [212, 187, 1], [289, 85, 1], [155, 91, 1], [271, 130, 1], [232, 27, 1], [118, 66, 1],
  [286, 244, 1], [172, 142, 1],
];

/** Return the solutions for increasing values of C, each started at the previous solution, rescaled. */
export function regularisationPath(X, y, logCs) {
  const K = gram(X, dot);
  let previous = null;
  return logCs.map((logC) => {
    const C = 10 ** logC, start = previous && previous.alpha.map((a) => a * (C / previous.C));
    previous = { ...solveDual(K, y, y.map(() => C), { start }), C };
    return previous;
  });
}

const toPixels = (logC, ratio) => [
  LEFT + (WIDTH * (logC - MIN_LOG_C)) / (MAX_LOG_C - MIN_LOG_C), BOTTOM - (BOTTOM - TOP) * ratio,
];
const group = (a, C) => (a <= 0 ? "zero" : a >= C ? "bounded" : "free");

function draw(state) {
  const X = state.points.map(PLANE.fromPixels), y = state.points.map(([, , label]) => label);
  const grid = Array.from({ length: N_STEPS + 1 }, (_, k) => MIN_LOG_C + (k * (MAX_LOG_C - MIN_LOG_C)) / N_STEPS);
  state.path ??= regularisationPath(X, y, grid);
  const svm = (state.svm = state.path[Math.round(((state.logC - MIN_LOG_C) / (MAX_LOG_C - MIN_LOG_C)) * N_STEPS)]);
  const groups = [...svm.alpha].map((a) => group(a, svm.C)), count = (name) => groups.filter((g) => g === name).length;
  const curves = state.points.map((_, i) => {
    const line = path(state.path.map(({ alpha, C }, k) => toPixels(grid[k], alpha[i] / C)));
    return `<path class="curve ${groups[i]}${i === state.chosen ? " chosen" : ""}" d="${line}"/>`;
  });
  const [currentX] = toPixels(state.logC, 0), margin = PLANE.margin(weights(X, y, svm.alpha), svm.b);
  const drawing = panel(0, PLANE.width, PLANE.height, margin) +
    `<path class="axis" d="M${LEFT} ${TOP}V${BOTTOM}H${LEFT + WIDTH}"/>` +
    `<path class="current" d="M${r1(currentX)} ${TOP}V${BOTTOM}"/>${curves.join("")}` +
    text(LEFT + 6, TOP - 4, "α / C") + text(LEFT, 288, "0.001") + text(LEFT + WIDTH, 288, "C = 100", "end");
  return {
    drawing,
    description: `At C = ${power(state.logC)}: ${count("zero")} multipliers are zero, ${count("free")} are free ` +
      `(on a margin boundary), and ${count("bounded")} are at the bound.`,
  };
}

export default {
  label: "Thirty points with the margin of their SVM, and beside it the multiplier of each point divided by C, " +
    "as a function of C: all begin at one and leave the bound in turn.",
  instructions: "Move C. Select or drag a point to highlight its curve.",
  width: 640,
  height: 300,
  maxX: PLANE.width,
  start: () => ({ points: POINTS.map((point) => [...point]), logC: 0, path: null, chosen: 24 }),
  draw,
  marks: ({ points, svm: { alpha, C } }) => points.map(([x, y, label], i) => ({
    x, y, label, isSupport: alpha[i] > 0, kind: group(alpha[i], C),
    description: `multiplier ${alpha[i].toPrecision(2)} of ${C.toPrecision(2)}`,
  })),
  move: (state, k, x, y) => {
    state.points[k].splice(0, 2, x, y);
    state.path = null;
  },
  controls: [{ name: "logC", label: "C", min: MIN_LOG_C, max: MAX_LOG_C, step: (MAX_LOG_C - MIN_LOG_C) / N_STEPS, format: power }],
};
