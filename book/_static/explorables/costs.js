// The lines fitted with the hinge, logistic and unbiased losses, and the loss of one outlier under each.

import { dot, eliminate, fit } from "./dual.js";
import { panel, path, plane, power, r1, text } from "./plane.js";

const PLANE = plane(350, 300, 50);
const LEFT = 385, WIDTH = 245, TOP = 25, BOTTOM = 265; // pixels: the plot of the losses
const MARGINS = [-4, 2], MAX_LOSS = 4; // its ranges
const KAPPA = Math.sqrt(1e-6); // k^(1/s) of svmbook.losses.usvc, with k = 1e-6 and s = 2
const MAX_ITER = 500, TOL = 1e-10;
const POINTS = [
  [69, 237, 1], [60, 62, -1], [96, 143, -1], [127, 87, -1], [91, 197, -1], [145, 178, -1], [52, 132, -1],
  [150, 118, -1], [116, 48, -1], [225, 86, 1], [262, 150, 1], [212, 193, 1], [298, 98, 1], [243, 222, 1],
  [310, 182, 1], [271, 46, 1], [201, 135, 1],
];

/** The losses as functions of the margin, and minus the derivative of the unbiased loss. */
export const LOSSES = {
  hinge: { at: (m) => Math.max(0, 1 - m) },
  logistic: { at: (m) => (m > 0 ? Math.log1p(Math.exp(-m)) : Math.log1p(Math.exp(m)) - m) },
  unbiased: {
    at: (m) => {
      const xi = Math.max(0, 1 - m), ratio = (xi + KAPPA) / (1 + KAPPA);
      return xi < 1 ? 0.5 * ratio ** 2 : 1 - 0.5 * ratio ** -2;
    },
    slope: (m) => {
      const xi = Math.max(0, 1 - m), ratio = (xi + KAPPA) / (1 + KAPPA);
      return xi > 0 ? (xi < 1 ? ratio : ratio ** -3) / (1 + KAPPA) : 0;
    },
  },
};

export const objective = (name, X, y, C, [b, ...w]) =>
  0.5 * dot(w, w) +
  C * X.reduce((sum, x, i) => sum + LOSSES[name].at(y[i] * (b + dot(w, x))), 0);

/** Return the minimiser of 1/2 |w|^2 + 1/2 sum_i a_i (t_i - b - w'x_i)^2. */
function leastSquares(X, a, t) {
  const rows = [0, 1, 2].map((k) => [0, 0, 0, 0].map((_, j) => (k === j && k > 0 ? 1 : 0)));
  X.forEach(([p, q], i) => {
    const z = [1, p, q];
    for (let k = 0; k < 3; k++) {
      for (let j = 0; j < 3; j++) rows[k][j] += a[i] * z[k] * z[j];
      rows[k][3] += a[i] * z[k] * t[i];
    }
  });
  return [...eliminate(rows)];
}

/** Minimise iteratively reweighted least-squares models of the loss, halving steps that increase it. */
function irwls(name, X, y, C, model, theta) {
  let value = objective(name, X, y, C, theta);
  for (let iteration = 0; iteration < MAX_ITER; iteration++) {
    const terms = X.map((x, i) => model(y[i] * (theta[0] + dot(theta.slice(1), x))));
    const best = leastSquares(X, terms.map(({ a }) => C * a), terms.map(({ target }, i) => y[i] * target));
    let step = 1, next, nextValue;
    do {
      next = theta.map((part, k) => part + step * (best[k] - part));
      nextValue = objective(name, X, y, C, next);
      step /= 2;
    } while (nextValue > value && step > 1e-9);
    if (!(value - nextValue > TOL * value)) return nextValue < value ? next : theta;
    [theta, value] = [next, nextValue];
  }
  return theta;
}

/** Return intercept and weights for each loss; the unbiased fit starts at the hinge solution. */
export function solve(X, y, C) {
  const svm = fit(X, y, { C }), hinge = [svm.b, ...svm.w];
  const logistic = irwls("logistic", X, y, C, (m) => {
    const p = 1 / (1 + Math.exp(m)), a = Math.max(p * (1 - p), 1e-8);
    return { a, target: m + p / a };
  }, [0, 0, 0]);
  const unbiased = irwls("unbiased", X, y, C, (m) => {
    const xi = Math.max(0, 1 - m);
    return { a: xi > 0 ? LOSSES.unbiased.slope(m) / Math.max(xi, 1e-7) : 0, target: 1 };
  }, hinge);
  return { hinge, logistic, unbiased };
}

const toPixels = (m, loss) => [
  LEFT + (WIDTH * (m - MARGINS[0])) / (MARGINS[1] - MARGINS[0]),
  BOTTOM - ((BOTTOM - TOP) * Math.min(loss, MAX_LOSS)) / MAX_LOSS,
];

function draw(state) {
  const X = state.points.map(PLANE.fromPixels), y = state.points.map(([, , label]) => label);
  const k = state.chosen, grid = Array.from({ length: 61 }, (_, i) => MARGINS[0] + (i * (MARGINS[1] - MARGINS[0])) / 60);
  let lines = "", curves = "", dots = "";
  const losses = Object.entries(solve(X, y, 10 ** state.logC)).map(([name, [b, ...w]]) => {
    const { at } = LOSSES[name], visible = grid.filter((m) => at(m) <= MAX_LOSS);
    lines += `<path class="${name}" d="${PLANE.line(w, b)}"/>`;
    curves += `<path class="${name}" d="${path(visible.map((m) => toPixels(m, at(m))))}"/>`;
    const m = y[k] * (b + dot(w, X[k])), loss = at(m);
    if (m >= MARGINS[0] && m <= MARGINS[1] && loss <= MAX_LOSS) {
      const [px, py] = toPixels(m, loss);
      dots += `<circle class="dot ${name}" cx="${r1(px)}" cy="${r1(py)}" r="6"/>`;
    }
    const wrong = X.filter((x, i) => y[i] * (b + dot(w, x)) <= 0).length;
    return `${name} ${loss.toFixed(2)} (${wrong} wrong)`;
  });
  const [zero] = toPixels(0, 0), drawing = panel(0, PLANE.width, PLANE.height, lines) +
    `<path class="axis" d="M${LEFT} ${BOTTOM}H${LEFT + WIDTH}M${r1(zero)} ${TOP}V${BOTTOM}"/>${curves}${dots}` +
    text(LEFT + WIDTH, 288, "margin", "end") + text(zero, 288, "0", "middle") +
    text(zero + 6, TOP + 8, "loss") + text(...toPixels(-1.9, 3.2), "hinge") +
    text(...toPixels(-4, 2.1), "logistic") + text(...toPixels(-4, 0.55), "unbiased");
  return {
    drawing,
    description: `Loss of the chosen point, and errors on all ${X.length} points: ${losses.join(", ")}.`,
  };
}

export default {
  label: "Two clouds of points, with one point of the second class deep inside the first; the lines fitted with " +
    "the hinge, logistic and unbiased losses; and the three losses as functions of the margin.",
  instructions: "Drag the point inside the other class, and watch which lines follow it.",
  width: 640,
  height: 300,
  maxX: PLANE.width,
  start: () => ({ points: POINTS.map((point) => [...point]), logC: 0, chosen: 0 }),
  draw,
  marks: ({ points, chosen }) => points.map(([x, y, label], i) => ({
    x, y, label, kind: i === chosen ? "chosen" : "", description: "",
  })),
  move: ({ points }, k, x, y) => { points[k].splice(0, 2, x, y); },
  controls: [
    { name: "logC", label: "C", min: -1, max: 2, step: 0.1, format: power },
  ],
};
