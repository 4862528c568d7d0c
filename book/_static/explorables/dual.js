// The SVM dual, solved by updates of two multipliers, as in svmbook/solvers/dual/smo.py, alternating
// with joint steps of all free multipliers, as in active_set.py.

// Relative to the mean diagonal: the smallest curvature, and the ridge that regularises joint steps.
const CURVATURE_FLOOR = 1e-12, RIDGE = 1e-9;

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

/** Return the outputs of a classifier at its training points, without the intercept. */
function outputs(K, y, alpha) {
  const n = y.length, f = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    if (alpha[j] > 0) for (let i = 0; i < n; i++) f[i] += alpha[j] * y[j] * K[j * n + i];
  }
  return f;
}

/** Return the intercept, the objectives and the relative duality gap of feasible multipliers. */
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

/** Solve a square system in place by Gaussian elimination; each row ends with its right-hand side. */
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
    let residual = rows[k][n];
    for (let j = k + 1; j < n; j++) residual -= rows[k][j] * x[j];
    x[k] = residual / rows[k][k];
  }
  return x;
}

/**
 * Optimise all free multipliers jointly; whenever a step meets a bound, fix that multiplier and repeat.
 *
 * Pair updates soon identify the free multipliers but then converge slowly; with the others fixed, the
 * optimum solves one linear system. The ridge makes it regular: along directions of zero curvature the
 * step is long and ends at a bound.
 */
function optimiseFree(K, y, C, alpha, ridge) {
  const n = y.length;
  for (;;) {
    const free = [...y.keys()].filter((i) => alpha[i] > 0 && alpha[i] < C[i]), m = free.length;
    if (m < 2) return;
    const f = outputs(K, y, alpha);
    const rows = free.map((i) => [
      ...free.map((j) => y[i] * y[j] * K[i * n + j] + (i === j ? ridge : 0)), y[i], 1 - y[i] * f[i],
    ]);
    rows.push([...free.map((i) => y[i]), 0, 0]);
    const direction = eliminate(rows).subarray(0, m);
    let step = 1, blocking = -1;
    free.forEach((i, k) => {
      const d = direction[k], room = d > 0 ? (C[i] - alpha[i]) / d : d < 0 ? -alpha[i] / d : Infinity;
      if (room < step) [step, blocking] = [room, k];
    });
    free.forEach((i, k) => { alpha[i] = Math.min(C[i], Math.max(0, alpha[i] + step * direction[k])); });
    if (blocking < 0) return;
    alpha[free[blocking]] = direction[blocking] > 0 ? C[free[blocking]] : 0;
  }
}

/**
 * Maximise sum(alpha) - 1/2 alpha' Q alpha over 0 <= alpha <= C, y' alpha = 0.
 *
 * Starts at `start`, which must be feasible, or at zero. Stops at a relative gap of `tol`, or after
 * `maxIter` iterations of 4 n pair updates and a joint optimisation of the free multipliers.
 */
export function solveDual(K, y, C, { tol = 1e-6, start = null, maxIter = 50 } = {}) {
  const n = y.length, alpha = start ? Float64Array.from(start) : new Float64Array(n);
  let trace = 0;
  for (let i = 0; i < n; i++) trace += K[i * n + i];
  const scale = trace / n || 1;
  let solution = certify(K, y, C, alpha), iterations = 0;
  for (; solution.gap > tol && iterations < maxIter; iterations++) {
    updatePairs(K, y, C, alpha, 4 * n, CURVATURE_FLOOR * scale);
    optimiseFree(K, y, C, alpha, RIDGE * scale);
    solution = certify(K, y, C, alpha);
  }
  return { ...solution, iterations };
}

/** Update two multipliers at a time, up to `count` times, or until no pair improves the objective. */
function updatePairs(K, y, C, alpha, count, floor) {
  const n = y.length, f = outputs(K, y, alpha), e = y.map((label, i) => label - f[i]);
  for (let update = 0; update < count; update++) {
    let i = -1, j = -1, best = 0;
    for (let k = 0; k < n; k++) {
      const mayRise = y[k] > 0 ? alpha[k] < C[k] : alpha[k] > 0;
      if (mayRise && (i < 0 || e[k] > e[i])) i = k;
    }
    if (i < 0) return;
    // Among the points that violate the optimality conditions with i, select the largest gain.
    for (let k = 0; k < n; k++) {
      const mayFall = y[k] > 0 ? alpha[k] > 0 : alpha[k] < C[k], violation = e[i] - e[k];
      if (!mayFall || violation <= 0) continue;
      const curvature = Math.max(K[i * n + i] + K[k * n + k] - 2 * K[i * n + k], floor);
      const gain = (violation * violation) / curvature;
      if (gain > best) [best, j] = [gain, k];
    }
    if (j < 0) return;
    const curvature = Math.max(K[i * n + i] + K[j * n + j] - 2 * K[i * n + j], floor);
    const roomI = y[i] > 0 ? C[i] - alpha[i] : alpha[i], roomJ = y[j] > 0 ? alpha[j] : C[j] - alpha[j];
    const step = Math.min((e[i] - e[j]) / curvature, roomI, roomJ);
    // A multiplier that meets its bound takes the exact value of the bound.
    alpha[i] = step === roomI ? (y[i] > 0 ? C[i] : 0) : alpha[i] + y[i] * step;
    alpha[j] = step === roomJ ? (y[j] > 0 ? 0 : C[j]) : alpha[j] - y[j] * step;
    for (let k = 0; k < n; k++) e[k] -= step * (K[i * n + k] - K[j * n + k]);
  }
}

/** Return the weights of a linear classifier from its multipliers. */
export const weights = (points, y, alpha) =>
  [0, 1].map((k) => points.reduce((sum, x, i) => sum + alpha[i] * y[i] * x[k], 0));

/** Fit an SVM; the result has its decision function as `decision`. */
export function fit(points, y, { C = 1, kernel = dot, ...options } = {}) {
  const bounds = y.map(() => C), solution = solveDual(gram(points, kernel), y, bounds, options);
  const { alpha, b } = solution, support = points.map((_, i) => i).filter((i) => alpha[i] > 0);
  const decision = (x) => support.reduce((sum, i) => sum + alpha[i] * y[i] * kernel(points[i], x), b);
  return { ...solution, C, support, decision, w: kernel === dot ? weights(points, y, alpha) : null };
}
