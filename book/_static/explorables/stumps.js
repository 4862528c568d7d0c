// An SVM on random decision stumps, and its limit: the SVM with the stump kernel, on all stumps.

import { fit, gram, solveDual } from "./dual.js";
import { panel, plane, power, text } from "./plane.js";

const PLANE = plane(310, 300, 100), RIGHT = 330, CELL = 5; // pixels: the grid of predictions
const RANGE = [[-1.55, 1.55], [-1.5, 1.5]]; // of the thresholds of each feature: the whole panel
const DELTA = 0.5 * RANGE.reduce((sum, [low, high]) => sum + high - low, 0); // the constant of the kernel
const MAX_STUMPS = 5000, STUMP_COUNTS = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1200, 2000, 3000, MAX_STUMPS];
const POINTS = [
  [152, 145, 1], [120, 120, 1], [190, 170, 1], [175, 110, 1], [105, 165, 1], [215, 125, 1], [145, 195, 1],
  [225, 185, 1], [90, 135, 1], [185, 215, 1], [135, 85, 1], [200, 80, 1], [75, 175, 1], [240, 150, 1],
  [40, 40, -1], [100, 30, -1], [165, 28, -1], [230, 40, -1], [280, 75, -1], [285, 140, -1], [282, 205, -1],
  [255, 262, -1], [190, 274, -1], [120, 272, -1], [60, 255, -1], [28, 200, -1], [25, 125, -1], [50, 85, -1],
];

/** The stump kernel: svmbook.kernels.stump with the panel as its box. */
export const stump = (x, z) => DELTA - Math.abs(x[0] - z[0]) - Math.abs(x[1] - z[1]);

/** Return a generator of random numbers between 0 and 1 (mulberry32). */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Return random stumps [feature, threshold], with features in proportion to the lengths of their ranges. */
export function randomStumps(count, seed) {
  const next = random(seed), probability = (RANGE[0][1] - RANGE[0][0]) / (2 * DELTA);
  return Array.from({ length: count }, () => {
    const feature = next() < probability ? 0 : 1, [low, high] = RANGE[feature];
    return [feature, low + (high - low) * next()];
  });
}

/**
 * Return the SVM on T random stumps. Its kernel is DELTA / T times the sum over the stumps of the products
 * of their predictions; its expectation is the stump kernel.
 */
export function ensembleSvm(X, y, C, stumps) {
  const predictions = X.map((x) => Int8Array.from(stumps, ([j, a]) => (x[j] > a ? 1 : -1))), n = X.length;
  const factor = DELTA / stumps.length, K = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k <= i; k++) {
      let sum = 0;
      for (let t = 0; t < stumps.length; t++) sum += predictions[i][t] * predictions[k][t];
      K[i * n + k] = K[k * n + i] = factor * sum;
    }
  }
  const solution = solveDual(K, y, y.map(() => C));
  const weights = stumps.map((_, t) =>
    factor * predictions.reduce((sum, row, i) => sum + solution.alpha[i] * y[i] * row[t], 0));
  // The decision function is a sum of one step function per feature, with steps at the thresholds.
  const steps = [0, 1].map((j) => stumps.map(([feature, a], t) => [a, weights[t], feature])
    .filter(([, , feature]) => feature === j).sort((p, q) => p[0] - q[0]));
  const shape = (j, value) => steps[j].reduce((sum, [a, weight]) => sum + (value > a ? weight : -weight), 0);
  return { ...solution, K, shape };
}

/** Return the outputs of an additive model on the grid of a panel. */
function additiveGrid({ shape, b }) {
  const first = Array.from({ length: PLANE.width / CELL }, (_, k) => shape(0, PLANE.fromPixels([(k + 0.5) * CELL, 0])[0]));
  const second = Array.from({ length: PLANE.height / CELL }, (_, k) => shape(1, PLANE.fromPixels([0, (k + 0.5) * CELL])[1]));
  return second.map((g) => first.map((f) => f + g + b));
}

function draw(state) {
  const X = state.points.map(PLANE.fromPixels), y = state.points.map(([, , label]) => label);
  const C = 10 ** state.logC;
  const randomSvm = ensembleSvm(X, y, C, randomStumps(MAX_STUMPS, state.seed).slice(0, STUMP_COUNTS[state.size]));
  const limitSvm = fit(X, y, { C, kernel: stump });
  state.alpha = randomSvm.alpha;
  const outputs = additiveGrid(randomSvm), limit = PLANE.grid(limitSvm.decision, CELL);
  let same = 0, cells = 0;
  outputs.forEach((row, i) => row.forEach((value, k) => { cells++; same += value > 0 === limit[i][k] > 0; }));
  const wrong = ({ f, b }) => y.filter((label, i) => label * (f[i] + b) <= 0).length;
  const copy = state.points.map(([x, y, label]) => label > 0
    ? `<path class="plus" d="M${x} ${y - 7}l7 7-7 7-7-7z"/>` : `<circle class="minus" cx="${x}" cy="${y}" r="5.5"/>`);
  return {
    drawing: panel(0, PLANE.width, PLANE.height, PLANE.areas(outputs, CELL)) +
      panel(RIGHT, PLANE.width, PLANE.height, PLANE.areas(limit, CELL) + copy.join("")) +
      text(8, 292, format(state.size)) + text(RIGHT + 8, 292, "all stumps"),
    description: `${format(state.size)} and all stumps predict the same class on ${((100 * same) / cells).toFixed(0)} % ` +
      `of the square. They err on ${wrong(randomSvm)} and ${wrong(limitSvm)} of the ${y.length} points.`,
  };
}

const format = (size) => (STUMP_COUNTS[size] === 1 ? "one stump" : `${STUMP_COUNTS[size].toLocaleString("en")} stumps`);

export default {
  label: "One class inside a ring of the other. Left: the predictions of an SVM on some random stumps, " +
    "in blocks. Right: those of the SVM with the stump kernel.",
  instructions: "Add more stumps, or draw others.",
  width: 640,
  height: 300,
  maxX: PLANE.width,
  start: () => ({ points: POINTS.map((point) => [...point]), size: 6, logC: 0, seed: 1 }),
  draw,
  marks: ({ points, alpha }) => points.map(([x, y, label], i) => ({
    x, y, label, isSupport: alpha[i] > 0, description: `multiplier ${alpha[i].toPrecision(2)}`,
  })),
  move: ({ points }, k, x, y) => { points[k].splice(0, 2, x, y); },
  controls: [
    { name: "size", label: "Stumps", min: 0, max: STUMP_COUNTS.length - 1, step: 1, format },
    { name: "logC", label: "C", min: -2, max: 2, step: 0.5, format: power },
    { name: "seed", label: "Seed", min: 1, max: 20, step: 1, format: String },
  ],
};
