// Prototype SVMs step by step: one member per point, trained against its nearest negatives, then iterated.

import { dot, fit, squared } from "./dual.js";
import { panel, plane, power } from "./plane.js";

const PLANE = plane(640, 300, 100), CELL = 8; // pixels: the grid of predictions
const N_NEGATIVES = 7, MAX_SHIFTS = 8, ROUNDING = 1e-14;
const POINTS = [
  [70, 70, 1], [112, 52, 1], [96, 108, 1], [140, 92, 1], [60, 128, 1],
  [318, 214, 1], [358, 196, 1], [340, 244, 1], [382, 238, 1], [296, 250, 1],
  [540, 74, 1], [582, 58, 1], [566, 110, 1], [520, 116, 1], [604, 96, 1],
  [40, 30, -1], [180, 40, -1], [190, 128, -1], [118, 168, -1], [40, 190, -1], [232, 76, -1], [250, 180, -1],
  [170, 220, -1], [90, 262, -1], [230, 268, -1], [310, 130, -1], [300, 46, -1], [384, 82, -1], [420, 160, -1],
  [446, 230, -1], [410, 280, -1], [460, 60, -1], [470, 128, -1], [540, 178, -1], [600, 160, -1], [520, 256, -1],
  [606, 236, -1],
];

/** Return the initial negatives of an exemplar: the nearest ones in the half-space of the very nearest. */
export function initialNegatives(X, y, d, count = N_NEGATIVES) {
  const others = X.map((_, i) => i).filter((i) => y[i] !== y[d]);
  const distance = (i) => squared(X[d], X[i]);
  others.sort((i, k) => distance(i) - distance(k) || i - k);
  const [nearest] = others;
  return others.filter((i) => {
    const sum = distance(nearest) + distance(i); // sum - |x_nearest - x_i|^2 is twice the inner product
    return i === nearest || sum - squared(X[nearest], X[i]) > ROUNDING * sum;
  }).slice(0, count);
}

/** Return a member with its hyperplane, and whether its output is positive at each point. */
function train(X, member, C) {
  const rows = [...member.positives, ...member.negatives];
  const labels = rows.map((_, k) => (k < member.positives.length ? 1 : -1));
  const { w, b } = fit(rows.map((i) => X[i]), labels, { C });
  return { ...member, w, b, covers: X.map((x) => dot(w, x) + b > 0) };
}

/** Return the initial members: one per point. */
export const initialMembers = (X, y, C) =>
  X.map((_, d) => train(X, { exemplar: d, positives: [d], negatives: initialNegatives(X, y, d) }, C));

/** Return the members after one iteration of positive updates and removals. */
export function iterate(X, y, members, C) {
  const added = members.map(() => []);
  X.forEach((x, i) => {
    const candidates = members.map((_, k) => k).filter((k) => y[members[k].exemplar] === y[i] && members[k].covers[i]);
    if (!candidates.length) return;
    const distance = (k) => (members[k].exemplar === i ? -1 : squared(X[members[k].exemplar], x));
    const nearest = candidates.reduce((k, other) => (distance(other) < distance(k) ? other : k));
    if (!members[nearest].positives.includes(i)) added[nearest].push(i);
  });
  return members.flatMap((member, k) => {
    if (!member.covers.some(Boolean)) return [];
    if (!added[k].length) return [member];
    return [train(X, { ...member, positives: [...member.positives, ...added[k]].sort((i, j) => i - j) }, C)];
  });
}

/** Return the distance-weighted vote at a point of the members with a positive output. */
export function vote(X, y, members, x) {
  let sum = 0;
  for (const { exemplar, w, b } of members) {
    if (dot(w, x) + b > 0) sum += y[exemplar] / Math.max(squared(X[exemplar], x), 1e-12);
  }
  return sum;
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function draw(state) {
  const X = state.points.map(PLANE.fromPixels), y = state.points.map(([, , label]) => label);
  const C = 10 ** state.logC;
  state.iterations ??= [initialMembers(X, y, C)];
  while (state.iterations.length <= state.shifts) state.iterations.push(iterate(X, y, state.iterations.at(-1), C));
  const members = state.iterations[state.shifts], chosen = members.find(({ exemplar }) => exemplar === state.chosen);
  const areas = PLANE.areas(PLANE.grid((x) => vote(X, y, members, x), CELL), CELL);
  state.roles = X.map((_, i) => chosen?.positives.includes(i) ? "positive" : chosen?.negatives.includes(i) ? "negative" : "");
  const boundaries = chosen ? PLANE.boundaries(chosen.w, chosen.b) : "";
  const largest = Math.max(...members.map(({ positives }) => positives.length));
  const single = members.filter(({ positives }) => positives.length === 1).length;
  const rejecting = members.filter(({ covers, exemplar }) => !covers[exemplar]).length;
  const aboutChosen = chosen
    ? `The chosen member has ${count(chosen.positives.length, "positive")} and ${count(chosen.negatives.length, "negative")}, ` +
      `and a positive output at ${count(chosen.covers.filter(Boolean).length, "point")}. `
    : "The member of the chosen point has been removed. ";
  const right = X.filter((x, i) => vote(X, y, members, x) * y[i] > 0).length;
  return {
    drawing: panel(0, PLANE.width, PLANE.height, areas + boundaries),
    description: `After ${count(state.shifts, "iteration")}: ${count(members.length, "member")}, of which ${rejecting} ` +
      `reject${rejecting === 1 ? "s its" : " their"} exemplar and ${single} ${single === 1 ? "has" : "have"} one positive; ` +
      `the largest has ${largest}. ${aboutChosen}The vote is right on ${right} of the ${X.length} points.`,
  };
}

export default {
  label: "Three small groups of one class among points of the other, the vote of all members as areas, and one " +
    "member: its decision boundary, margin boundaries, positives and negatives.",
  instructions: "Add iterations; choose a member by its point, or drag the point.",
  width: PLANE.width,
  height: PLANE.height,
  start: () => ({ points: POINTS.map((point) => [...point]), shifts: 0, logC: 0, chosen: 0, iterations: null }),
  draw,
  marks: ({ points, roles, chosen }) => points.map(([x, y, label], i) => ({
    x, y, label, kind: i === chosen ? `${roles[i]} chosen` : roles[i], description: roles[i] || "not in this member's training set",
  })),
  move: (state, k, x, y) => {
    state.points[k].splice(0, 2, x, y);
    state.iterations = null;
  },
  controls: [
    { name: "shifts", label: "Iterations", min: 0, max: MAX_SHIFTS, step: 1, format: String },
    { name: "logC", label: "C", min: -1, max: 2, step: 0.1, format: power },
  ],
  onChange: (state, name) => { if (name === "logC") state.iterations = null; },
};
