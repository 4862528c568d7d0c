// Drag points: the widest street, what holds it, and with which force.

import { dot, fit, gaussian } from "./dual.js";
import { contour, path, plane, power } from "./plane.js";

const PLANE = plane(640, 300, 100);
const ARROW = 70, SHORTEST = 3; // pixels: the largest force, and one too small to be drawn
const CELL = 10; // of the grid on which curved kerbs are looked for
const POINTS = [
  [501, 228, 1], [56, 121, -1], [53, 276, -1], [410, 83, 1], [281, 269, -1], [555, 237, 1], [256, 148, -1],
  [425, 39, 1], [353, 92, 1], [545, 40, 1], [426, 243, 1], [159, 250, -1], [144, 106, -1], [501, 104, 1],
  [112, 200, -1], [290, 225, -1], [498, 152, 1], [75, 237, -1], [463, 194, 1], [429, 141, 1], [155, 186, -1],
  [249, 204, -1], [611, 206, 1], [212, 125, -1], [571, 106, 1], [609, 71, 1], [26, 73, -1], [226, 258, -1],
  [551, 145, 1], [317, 37, 1],
];

/** Return the machine of a state, beginning at the multipliers that it has. */
export function solve({ points, kernel, logC, logGamma, alpha }) {
  const places = points.map(PLANE.from), labels = points.map(([, , label]) => label);
  return fit(places, labels, {
    C: 10 ** logC, kernel: kernel === "Gaussian" ? gaussian(10 ** logGamma) : dot, start: alpha,
  });
}

/** Return an arrow for each force: it presses from its point towards the street. */
function arrows(points, { alpha, w, held }) {
  const size = Math.hypot(...w), largest = Math.max(...alpha);
  return held.map((i) => {
    const [x, y, label] = points[i], length = (ARROW * alpha[i]) / largest, head = Math.min(9, length);
    if (length < SHORTEST) return "";
    const [u, v] = [(-label * w[0]) / size, (label * w[1]) / size];
    const along = (far, aside) => [x + (16 + far) * u + aside * v, y + (16 + far) * v - aside * u];
    const tip = along(length, 0), wings = [along(length - head, head / 2), tip, along(length - head, -head / 2)];
    return `<path class="force" d="${path([along(0, 0), tip])}${path(wings)}"/>`;
  }).join("");
}

const hasStreet = ({ norm }) => norm > 1e-18; // else the forces cancel at each place

function curves(machine) {
  const values = PLANE.grid(machine.at, CELL, true);
  return `<path class="kerb" d="${contour(values, -1, CELL)}${contour(values, 1, CELL)}"/>` +
    `<path class="middle" d="${contour(values, 0, CELL)}"/>`;
}

/** Return what a certificate says. */
export const proved = (gap) => gap < 1e-7
  ? "A duality gap of zero, up to rounding, proves that there is no better one."
  : `There is none that is better by more than ${(100 * gap).toPrecision(1)} %.`;

function draw(state) {
  const machine = (state.machine = solve(state)), { alpha, C, held, norm, f, b } = machine;
  const curved = state.kernel === "Gaussian";
  const bounded = held.filter((i) => alpha[i] >= C).length;
  const wrong = state.points.filter(([, , label], i) => label * (f[i] + b) <= 0).length;
  state.alpha = alpha;
  return {
    back: curved ? curves(machine)
      : hasStreet(machine) ? PLANE.street(machine.w, b) + arrows(state.points, machine) : "",
    words: `${held.length} support vectors, ${bounded} of them at the bound C; ${wrong} points on the wrong side. ` +
      (hasStreet(machine) ? `The street is ${(2 / Math.sqrt(norm)).toFixed(2)} wide${curved ? " in the feature space" : ""}. `
        : "There is no street. ") +
      proved(machine.gap),
  };
}

export default {
  about: "Two clouds of points and the widest street between them; what touches its kerbs is ringed.",
  how: "Drag a point.",
  width: PLANE.width,
  height: PLANE.height,
  start: () => ({ points: POINTS.map((point) => [...point]), kernel: "linear", logC: 1, logGamma: 0, alpha: null }),
  draw,
  marks: ({ points, machine: { alpha } }) => points.map(([x, y, label], i) => ({
    x, y, label, held: alpha[i] > 0, told: `multiplier ${alpha[i].toPrecision(2)}`,
  })),
  move: ({ points }, k, x, y) => { points[k].splice(0, 2, x, y); },
  controls: [
    { name: "kernel", label: "Kernel", choices: ["linear", "Gaussian"] },
    { name: "logC", label: "C", min: -2, max: 3, step: 0.1, tell: power },
    { name: "logGamma", label: "γ", min: -1.5, max: 1.5, step: 0.1, tell: power, shown: ({ kernel }) => kernel === "Gaussian" },
  ],
  changed: (state) => { state.alpha = null; }, // what was feasible may not be
};
