// Three costs of one mistake: the lines that hinge, logistic and unbiased cost fit, and what an outlier pays.

import { dot, eliminate, fit } from "./dual.js";
import { panel, path, plane, power, r1, text } from "./plane.js";

const PLANE = plane(350, 300, 50), LEFT = 385, WIDE = 245, TOP = 25, BOTTOM = 265; // of the costs
const MARGINS = [-4, 2], MOST = 4; // what is drawn of the costs
const KAPPA = Math.sqrt(1e-6), ROUNDS = 500, ENOUGH = 1e-10;
const POINTS = [
  [69, 237, 1], [60, 62, -1], [96, 143, -1], [127, 87, -1], [91, 197, -1], [145, 178, -1], [52, 132, -1],
  [150, 118, -1], [116, 48, -1], [225, 86, 1], [262, 150, 1], [212, 193, 1], [298, 98, 1], [243, 222, 1],
  [310, 182, 1], [271, 46, 1], [201, 135, 1],
];

/** Cost, slope in the margin, and the weight of the parabola that lies above the cost and touches it. */
export const COSTS = {
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
  C * X.reduce((sum, x, i) => sum + COSTS[name].at(y[i] * (b + dot(w, x))), 0);

/** Return the minimum of 1/2 |w|^2 + 1/2 sum_i a_i (t_i - b - w x_i)^2. */
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

/** Go round by round to the minimum of a parabola that stands for the cost, halving steps that go up. */
function rounds(name, X, y, C, parabola, theta) {
  let value = objective(name, X, y, C, theta);
  for (let round = 0; round < ROUNDS; round++) {
    const margins = X.map((x, i) => y[i] * (theta[0] + dot(theta.slice(1), x)));
    const touching = margins.map(parabola);
    const best = leastSquares(X, touching.map(({ a }) => C * a), touching.map(({ to }, i) => y[i] * to));
    let step = 1, next, lower;
    do {
      next = theta.map((part, k) => part + step * (best[k] - part));
      lower = objective(name, X, y, C, next);
      step /= 2;
    } while (lower > value && step > 1e-9);
    if (!(value - lower > ENOUGH * value)) return lower < value ? next : theta;
    [theta, value] = [next, lower];
  }
  return theta;
}

/** Return intercept and weights of the three machines; the unbiased one begins at the hinge's. */
export function solve(X, y, C) {
  const street = fit(X, y, { C }), hinge = [street.b, ...street.w];
  const logistic = rounds("logistic", X, y, C, (m) => {
    const p = 1 / (1 + Math.exp(m)), a = Math.max(p * (1 - p), 1e-8);
    return { a, to: m + p / a };
  }, [0, 0, 0]);
  const unbiased = rounds("unbiased", X, y, C, (m) => {
    const xi = Math.max(0, 1 - m);
    return { a: xi > 0 ? COSTS.unbiased.slope(m) / Math.max(xi, 1e-7) : 0, to: 1 };
  }, hinge);
  return { hinge, logistic, unbiased };
}

const at = (m, cost) => [
  LEFT + (WIDE * (m - MARGINS[0])) / (MARGINS[1] - MARGINS[0]), BOTTOM - ((BOTTOM - TOP) * Math.min(cost, MOST)) / MOST,
];

function draw(state) {
  const X = state.points.map(PLANE.from), y = state.points.map(([, , label]) => label), C = 10 ** state.logC;
  const lines = solve(X, y, C), k = state.chosen;
  let inside = "", curves = "", dots = "";
  const told = Object.entries(lines).map(([name, [b, ...w]]) => {
    inside += `<path class="${name}" d="${PLANE.line(w, b)}"/>`;
    const margins = Array.from({ length: 61 }, (_, i) => MARGINS[0] + (i * (MARGINS[1] - MARGINS[0])) / 60);
    curves += `<path class="${name}" d="${path(margins.filter((m) => COSTS[name].at(m) <= MOST).map((m) => at(m, COSTS[name].at(m))))}"/>`;
    const m = y[k] * (b + dot(w, X[k])), cost = COSTS[name].at(m);
    if (m >= MARGINS[0] && m <= MARGINS[1] && cost <= MOST) {
      const [px, py] = at(m, cost);
      dots += `<circle class="dot ${name}" cx="${r1(px)}" cy="${r1(py)}" r="6"/>`;
    }
    const wrong = X.filter((x, i) => y[i] * (b + dot(w, x)) <= 0).length;
    return `${name} ${cost.toFixed(2)} (${wrong} wrong)`;
  });
  const [zero] = at(0, 0), back = panel(0, PLANE.width, PLANE.height, inside) +
    `<path class="axis" d="M${LEFT} ${BOTTOM}H${LEFT + WIDE}M${r1(zero)} ${TOP}V${BOTTOM}"/>${curves}${dots}` +
    text(LEFT + WIDE, 288, "margin", "end") + text(zero, 288, "0", "middle") +
    text(zero + 6, TOP + 8, "cost") + text(...at(-1.9, 3.2), "hinge") + text(...at(-4, 2.1), "logistic") +
    text(...at(-4, 0.55), "unbiased");
  return { back, words: `The chosen point costs, by each: ${told.join(", ")} of all ${X.length}.` };
}

export default {
  about: "Two clouds with one point of the second deep among the first; the lines that the hinge, the logistic " +
    "and the unbiased cost fit; and beside them the three costs against the margin.",
  how: "Drag the point that lies among the others, and see who follows it.",
  width: 640,
  height: 300,
  reach: PLANE.width,
  start: () => ({ points: POINTS.map((point) => [...point]), logC: 0, chosen: 0 }),
  draw,
  marks: ({ points, chosen }) => points.map(([x, y, label], i) => ({ x, y, label, kind: i === chosen ? "chosen" : "", told: "" })),
  move: ({ points }, k, x, y) => { points[k].splice(0, 2, x, y); },
  controls: [
    { name: "logC", label: "C", min: -1, max: 2, step: 0.1, tell: power },
  ],
};
