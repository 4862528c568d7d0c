// The maximum-margin classifier of movable points, with its support vectors and multipliers.

import { dot, fit, gaussian } from "./dual.js";
import { contour, path, plane, power } from "./plane.js";

const PLANE = plane(640, 300, 100);
const LONGEST_ARROW = 70, SHORTEST_ARROW = 3; // pixels; shorter arrows are not drawn
const CELL = 10; // pixels: the grid on which curved boundaries are computed
const POINTS = [
  [501, 228, 1], [56, 121, -1], [53, 276, -1], [410, 83, 1], [281, 269, -1], [555, 237, 1], [256, 148, -1],
  [425, 39, 1], [353, 92, 1], [545, 40, 1], [426, 243, 1], [159, 250, -1], [144, 106, -1], [501, 104, 1],
  [112, 200, -1], [290, 225, -1], [498, 152, 1], [75, 237, -1], [463, 194, 1], [429, 141, 1], [155, 186, -1],
  [249, 204, -1], [611, 206, 1], [212, 125, -1], [571, 106, 1], [609, 71, 1], [26, 73, -1], [226, 258, -1],
  [551, 145, 1], [317, 37, 1],
];

/** Return the SVM of a state, started at its current multipliers. */
export function solve({ points, kernel, logC, logGamma, alpha }) {
  const X = points.map(PLANE.fromPixels), y = points.map(([, , label]) => label);
  return fit(X, y, { C: 10 ** logC, kernel: kernel === "Gaussian" ? gaussian(10 ** logGamma) : dot, start: alpha });
}

/** Return an arrow for each multiplier, from its point towards the decision boundary. */
function arrows(points, { alpha, w, support }) {
  const norm = Math.hypot(...w), largest = Math.max(...alpha);
  return support.map((i) => {
    const [x, y, label] = points[i], length = (LONGEST_ARROW * alpha[i]) / largest, head = Math.min(9, length);
    if (length < SHORTEST_ARROW) return "";
    const [u, v] = [(-label * w[0]) / norm, (label * w[1]) / norm];
    const at = (along, across) => [x + (16 + along) * u + across * v, y + (16 + along) * v - across * u];
    const tip = at(length, 0), barbs = [at(length - head, head / 2), tip, at(length - head, -head / 2)];
    return `<path class="arrow" d="${path([at(0, 0), tip])}${path(barbs)}"/>`;
  }).join("");
}

const hasMargin = ({ norm }) => norm > 1e-18; // w = 0 if all terms of its sum cancel

function curves({ decision }) {
  const values = PLANE.grid(decision, CELL, true);
  return `<path class="margin-boundary" d="${contour(values, -1, CELL)}${contour(values, 1, CELL)}"/>` +
    `<path class="decision-boundary" d="${contour(values, 0, CELL)}"/>`;
}

/** Return the meaning of a relative duality gap in words. */
export const certificate = (gap) => gap < 1e-7
  ? "The duality gap is zero, up to rounding, which proves that this solution is optimal."
  : `The objective is within ${(100 * gap).toPrecision(1)} % of the optimum.`;

function draw(state) {
  const svm = (state.svm = solve(state)), { alpha, C, support, norm, f, b } = svm;
  const isCurved = state.kernel === "Gaussian";
  const bounded = support.filter((i) => alpha[i] >= C).length;
  const wrong = state.points.filter(([, , label], i) => label * (f[i] + b) <= 0).length;
  const width = (2 / Math.sqrt(norm)).toFixed(2);
  state.alpha = alpha;
  return {
    drawing: isCurved ? curves(svm) : hasMargin(svm) ? PLANE.margin(svm.w, b) + arrows(state.points, svm) : "",
    description: `${support.length} support vectors, ${bounded} of them at the bound C; ${wrong} points on the wrong side. ` +
      (hasMargin(svm) ? `The margin boundaries are ${width} apart${isCurved ? " in the feature space" : ""}. ` : "There is no margin. ") +
      certificate(svm.gap),
  };
}

export default {
  label: "Two clouds of points and the maximum-margin classifier that separates them; support vectors are ringed.",
  instructions: "Drag a point.",
  width: PLANE.width,
  height: PLANE.height,
  start: () => ({ points: POINTS.map((point) => [...point]), kernel: "linear", logC: 1, logGamma: 0, alpha: null }),
  draw,
  marks: ({ points, svm: { alpha } }) => points.map(([x, y, label], i) => ({
    x, y, label, isSupport: alpha[i] > 0, description: `multiplier ${alpha[i].toPrecision(2)}`,
  })),
  move: ({ points }, k, x, y) => { points[k].splice(0, 2, x, y); },
  controls: [
    { name: "kernel", label: "Kernel", choices: ["linear", "Gaussian"] },
    { name: "logC", label: "C", min: -2, max: 3, step: 0.1, format: power },
    { name: "logGamma", label: "γ", min: -1.5, max: 1.5, step: 0.1, format: power, isVisible: ({ kernel }) => kernel === "Gaussian" },
  ],
  onChange: (state) => { state.alpha = null; }, // the multipliers may no longer be feasible
};
