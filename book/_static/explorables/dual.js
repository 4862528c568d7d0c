// The dual of the support vector machine, as in svmbook/solvers/dual/smo.py: two multipliers at a
// time, and from there as in active_set.py: the free ones together.

// Of the mean diagonal: what stands in for a line without curvature, and what makes a face regular.
const FLOOR = 1e-12, RIDGE = 1e-9;

export const dot = (x, z) => x[0] * z[0] + x[1] * z[1];
export const squared = (x, z) => (x[0] - z[0]) ** 2 + (x[1] - z[1]) ** 2;
export const gaussian = (gamma) => (x, z) => Math.exp(-gamma * squared(x, z));

/** Return the Gram matrix of points, row by row. */
export function gram(points, kernel) {
  const n = points.length, K = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) K[i * n + j] = K[j * n + i] = kernel(points[i], points[j]);
  }
  return K;
}

/** Return the outputs of a machine at its own points, without the intercept. */
function outputs(K, y, alpha) {
  const n = y.length, f = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    if (alpha[j] > 0) for (let i = 0; i < n; i++) f[i] += alpha[j] * y[j] * K[j * n + i];
  }
  return f;
}

/** Return intercept, objectives and relative gap of multipliers that are feasible. */
export function certify(K, y, C, alpha) {
  const n = y.length, f = outputs(K, y, alpha);
  let low = -Infinity, high = Infinity, sum = 0, norm = 0;
  for (let i = 0; i < n; i++) {
    const e = y[i] - f[i], mayRise = y[i] > 0 ? alpha[i] < C[i] : alpha[i] > 0;
    const mayFall = y[i] > 0 ? alpha[i] > 0 : alpha[i] < C[i];
    if (mayRise) low = Math.max(low, e);
    if (mayFall) high = Math.min(high, e);
    sum += alpha[i];
    norm += y[i] * alpha[i] * f[i];
  }
  const b = 0.5 * (low + high);
  let slack = 0;
  for (let i = 0; i < n; i++) slack += C[i] * Math.max(0, 1 - y[i] * (f[i] + b));
  const primal = 0.5 * norm + slack, dual = sum - 0.5 * norm;
  return { alpha, b, f, norm, primal, dual, gap: primal > 0 ? (primal - dual) / primal : 0 };
}

/** Solve a square system in place by elimination with pivots; `rows` hold the right side last. */
export function eliminate(rows) {
  const n = rows.length;
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i][k] / rows[k][k];
      if (factor) for (let j = k; j <= n; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  const x = new Float64Array(n);
  for (let k = n - 1; k >= 0; k--) {
    let rest = rows[k][n];
    for (let j = k + 1; j < n; j++) rest -= rows[k][j] * x[j];
    x[k] = rest / rows[k][k];
  }
  return x;
}

/**
 * Go to the best point of the face of the free multipliers, or to where the way meets a bound, and on.
 *
 * Pairs settle soon who is free and then creep; on the face the optimum is one linear system. A ridge
 * makes it regular: along what costs nothing the step is long, and ends at a bound.
 */
function descendFace(K, y, C, alpha, ridge) {
  const n = y.length;
  for (;;) {
    const free = [...y.keys()].filter((i) => alpha[i] > 0 && alpha[i] < C[i]), m = free.length;
    if (m < 2) return;
    const f = outputs(K, y, alpha);
    const rows = free.map((i) => [
      ...free.map((j) => y[i] * y[j] * K[i * n + j] + (i === j ? ridge : 0)), y[i], 1 - y[i] * f[i],
    ]);
    rows.push([...free.map((i) => y[i]), 0, 0]);
    const way = eliminate(rows).subarray(0, m);
    let step = 1, met = -1;
    free.forEach((i, k) => {
      const room = way[k] > 0 ? (C[i] - alpha[i]) / way[k] : way[k] < 0 ? -alpha[i] / way[k] : Infinity;
      if (room < step) [step, met] = [room, k];
    });
    free.forEach((i, k) => { alpha[i] = Math.min(C[i], Math.max(0, alpha[i] + step * way[k])); });
    if (met < 0) return;
    alpha[free[met]] = way[met] > 0 ? C[free[met]] : 0;
  }
}

/**
 * Maximise sum(alpha) - 1/2 alpha' Q alpha over 0 <= alpha <= C, y' alpha = 0.
 *
 * Begins at `start`, which has to be feasible, or at zero; ends at a relative gap of `tol`, or after
 * `most` rounds of 4 n pairs each and a walk over a face.
 */
export function solveDual(K, y, C, { tol = 1e-6, start = null, most = 50 } = {}) {
  const n = y.length, alpha = start ? Float64Array.from(start) : new Float64Array(n);
  let trace = 0;
  for (let i = 0; i < n; i++) trace += K[i * n + i];
  const scale = trace / n || 1;
  let found = certify(K, y, C, alpha), rounds = 0;
  for (; found.gap > tol && rounds < most; rounds++) {
    climbInPairs(K, y, C, alpha, 4 * n, FLOOR * scale);
    descendFace(K, y, C, alpha, RIDGE * scale);
    found = certify(K, y, C, alpha);
  }
  return { ...found, rounds };
}

/** Move two multipliers at a time, `most` times, or until no pair gains. */
function climbInPairs(K, y, C, alpha, most, floor) {
  const n = y.length, f = outputs(K, y, alpha), e = y.map((label, i) => label - f[i]);
  for (let pair = 0; pair < most; pair++) {
    let i = -1, j = -1, best = 0;
    for (let k = 0; k < n; k++) {
      const mayRise = y[k] > 0 ? alpha[k] < C[k] : alpha[k] > 0;
      if (mayRise && (i < 0 || e[k] > e[i])) i = k;
    }
    if (i < 0) return;
    // Among the points it disagrees with, the one of the largest gain.
    for (let k = 0; k < n; k++) {
      const mayFall = y[k] > 0 ? alpha[k] > 0 : alpha[k] < C[k], apart = e[i] - e[k];
      if (!mayFall || apart <= 0) continue;
      const curvature = Math.max(K[i * n + i] + K[k * n + k] - 2 * K[i * n + k], floor);
      const gain = (apart * apart) / curvature;
      if (gain > best) [best, j] = [gain, k];
    }
    if (j < 0) return;
    const curvature = Math.max(K[i * n + i] + K[j * n + j] - 2 * K[i * n + j], floor);
    const roomI = y[i] > 0 ? C[i] - alpha[i] : alpha[i], roomJ = y[j] > 0 ? alpha[j] : C[j] - alpha[j];
    const step = Math.min((e[i] - e[j]) / curvature, roomI, roomJ);
    // What meets its bound takes the bound's exact value.
    alpha[i] = step === roomI ? (y[i] > 0 ? C[i] : 0) : alpha[i] + y[i] * step;
    alpha[j] = step === roomJ ? (y[j] > 0 ? 0 : C[j]) : alpha[j] - y[j] * step;
    for (let k = 0; k < n; k++) e[k] -= step * (K[i * n + k] - K[j * n + k]);
  }
}

/** Return the weights of a linear machine from its multipliers. */
export const weights = (points, y, alpha) =>
  [0, 1].map((k) => points.reduce((sum, x, i) => sum + alpha[i] * y[i] * x[k], 0));

/** Fit a machine to points; the result answers anywhere by `at`. */
export function fit(points, y, { C = 1, kernel = dot, ...options } = {}) {
  const bounds = y.map(() => C), solved = solveDual(gram(points, kernel), y, bounds, options);
  const held = points.map((_, i) => i).filter((i) => solved.alpha[i] > 0);
  const at = (x) => held.reduce((sum, i) => sum + solved.alpha[i] * y[i] * kernel(points[i], x), solved.b);
  return { ...solved, C, held, at, w: kernel === dot ? weights(points, y, solved.alpha) : null };
}
