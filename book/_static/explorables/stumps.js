// Stumps drawn at random, one more at a time, and the machine of all stumps that their machine tends to.

import { fit, gram, solveDual } from "./dual.js";
import { panel, plane, power, text } from "./plane.js";

const PLANE = plane(310, 300, 100), RIGHT = 330, CELL = 5; // of the grid of answers
const RANGE = [[-1.55, 1.55], [-1.5, 1.5]]; // of the thresholds of each feature: the panel
const MASS = 0.5 * RANGE.reduce((sum, [low, high]) => sum + high - low, 0); // the constant of the kernel
const MOST = 5000, COUNTS = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800, 1200, 2000, 3000, MOST];
const POINTS = [
  [152, 145, 1], [120, 120, 1], [190, 170, 1], [175, 110, 1], [105, 165, 1], [215, 125, 1], [145, 195, 1],
  [225, 185, 1], [90, 135, 1], [185, 215, 1], [135, 85, 1], [200, 80, 1], [75, 175, 1], [240, 150, 1],
  [40, 40, -1], [100, 30, -1], [165, 28, -1], [230, 40, -1], [280, 75, -1], [285, 140, -1], [282, 205, -1],
  [255, 262, -1], [190, 274, -1], [120, 272, -1], [60, 255, -1], [28, 200, -1], [25, 125, -1], [50, 85, -1],
];

/** The kernel of all stumps: svmbook.kernels.stump with the panel for its box. */
export const stump = (x, z) => MASS - Math.abs(x[0] - z[0]) - Math.abs(x[1] - z[1]);

/** Return a generator of numbers between 0 and 1: mulberry32. */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Return stumps (feature, threshold); a feature is drawn in proportion to the length of its range. */
export function drawn(count, seed) {
  const next = random(seed), share = (RANGE[0][1] - RANGE[0][0]) / (2 * MASS);
  return Array.from({ length: count }, () => {
    const feature = next() < share ? 0 : 1, [low, high] = RANGE[feature];
    return [feature, low + (high - low) * next()];
  });
}

/**
 * Return the machine of a crowd of stumps. Its kernel is MASS / T times the sum over the crowd of the
 * products of answers: in the mean over crowds the kernel of all stumps.
 */
export function crowdMachine(points, labels, C, crowd) {
  const answers = points.map((x) => Int8Array.from(crowd, ([j, a]) => (x[j] > a ? 1 : -1))), n = points.length;
  const factor = MASS / crowd.length, K = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k <= i; k++) {
      let sum = 0;
      for (let t = 0; t < crowd.length; t++) sum += answers[i][t] * answers[k][t];
      K[i * n + k] = K[k * n + i] = factor * sum;
    }
  }
  const solved = solveDual(K, labels, labels.map(() => C));
  const weights = crowd.map((_, t) =>
    factor * answers.reduce((sum, one, i) => sum + solved.alpha[i] * labels[i] * one[t], 0));
  // A sum of functions of one feature each: steps at the thresholds.
  const steps = [0, 1].map((j) => crowd.map(([feature, a], t) => [a, weights[t], feature])
    .filter(([, , feature]) => feature === j).sort((p, q) => p[0] - q[0]));
  const curve = (j, value) => steps[j].reduce((sum, [a, weight]) => sum + (value > a ? weight : -weight), 0);
  return { ...solved, K, curve };
}

/** Return the outputs of an additive machine on the grid of a panel. */
function additive({ curve, b }) {
  const across = Array.from({ length: PLANE.width / CELL }, (_, k) => curve(0, PLANE.from([(k + 0.5) * CELL, 0])[0]));
  const down = Array.from({ length: PLANE.height / CELL }, (_, k) => curve(1, PLANE.from([0, (k + 0.5) * CELL])[1]));
  return down.map((second) => across.map((first) => first + second + b));
}

function draw(state) {
  const places = state.points.map(PLANE.from), labels = state.points.map(([, , label]) => label);
  const C = 10 ** state.logC, count = COUNTS[state.size];
  const crowd = drawn(MOST, state.seed).slice(0, count);
  const few = crowdMachine(places, labels, C, crowd), all = fit(places, labels, { C, kernel: stump });
  state.alpha = few.alpha;
  const [here, there] = [additive(few), PLANE.grid(all.at, CELL)];
  let same = 0, cells = 0;
  here.forEach((row, i) => row.forEach((value, k) => { cells++; same += value > 0 === there[i][k] > 0; }));
  const wrong = ({ f, b }) => labels.filter((label, i) => label * (f[i] + b) <= 0).length;
  const copy = state.points.map(([x, y, label]) => label > 0
    ? `<path class="plus" d="M${x} ${y - 7}l7 7-7 7-7-7z"/>` : `<circle class="minus" cx="${x}" cy="${y}" r="5.5"/>`);
  return {
    back: panel(0, PLANE.width, PLANE.height, PLANE.areas(here, CELL)) +
      panel(RIGHT, PLANE.width, PLANE.height, PLANE.areas(there, CELL) + copy.join("")) +
      text(8, 292, tell(state.size)) + text(RIGHT + 8, 292, "all stumps"),
    words: `${tell(state.size)} and all stumps give the same answer on ${((100 * same) / cells).toFixed(0)} % of the ` +
      `square. They err on ${wrong(few)} and ${wrong(all)} of the ${labels.length} points.`,
  };
}

const tell = (size) => (COUNTS[size] === 1 ? "one stump" : `${COUNTS[size].toLocaleString("en")} stumps`);

export default {
  about: "One class inside a ring of the other. On the left the answers of a machine on some random stumps, " +
    "in blocks; on the right those of the machine with the stump kernel.",
  how: "Let the crowd grow, or draw another one.",
  width: 640,
  height: 300,
  reach: PLANE.width,
  start: () => ({ points: POINTS.map((point) => [...point]), size: 6, logC: 0, seed: 1 }),
  draw,
  marks: ({ points, alpha }) => points.map(([x, y, label], i) => ({
    x, y, label, held: alpha[i] > 0, told: `multiplier ${alpha[i].toPrecision(2)}`,
  })),
  move: ({ points }, k, x, y) => { points[k].splice(0, 2, x, y); },
  controls: [
    { name: "size", label: "Crowd", min: 0, max: COUNTS.length - 1, step: 1, tell },
    { name: "logC", label: "C", min: -2, max: 2, step: 0.5, tell: power },
    { name: "seed", label: "Draw", min: 1, max: 20, step: 1, tell: String },
  ],
};
