// Compare the explorables with results of svmbook, which test_explorables.py writes to $SVMBOOK_EXPECTED_RESULTS.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { LOSSES, objective, solve as solveLosses } from "../../book/_static/explorables/costs.js";
import { certify, dot, fit, gaussian, gram, solveDual } from "../../book/_static/explorables/dual.js";
import margin from "../../book/_static/explorables/margin.js";
import { regularisationPath } from "../../book/_static/explorables/path.js";
import { contour, plane, positive } from "../../book/_static/explorables/plane.js";
import prototypes, { initialMembers, iterate, vote } from "../../book/_static/explorables/prototypes.js";
import { ensembleSvm, randomStumps, stump } from "../../book/_static/explorables/stumps.js";
import { NAMES, renderStill } from "../../tools/stills.mjs";

const expected = JSON.parse(readFileSync(process.env.SVMBOOK_EXPECTED_RESULTS, "utf-8"));
const assertClose = (a, b, tol, what = "") => assert.ok(Math.abs(a - b) <= tol * Math.max(1, Math.abs(b)), `${what}: ${a} is not ${b}`);

test("the dual solution has svmbook's objective and outputs, and a certificate", () => {
  for (const { X, y, C, gamma, objective, outputs } of expected.duals) {
    const svm = fit(X, y, { C, kernel: gamma ? gaussian(gamma) : dot });
    assert.ok(svm.gap <= 1e-6 && svm.gap > -1e-9, `gap ${svm.gap}`);
    assertClose(svm.primal, objective, 2e-6, "objective");
    X.forEach((x, i) => assertClose(svm.decision(x), outputs[i], 2e-3, "output"));
    assert.ok(svm.alpha.every((a) => a >= 0 && a <= C));
    assertClose(svm.alpha.reduce((sum, a, i) => sum + a * y[i], 0), 0, 1e-9 * C * y.length, "balance");
  }
});

test("a warm start at the solution returns it without iterations", () => {
  const { X, y, C } = expected.duals[0], K = gram(X, dot), bounds = y.map(() => C);
  const cold = solveDual(K, y, bounds), warm = solveDual(K, y, bounds, { start: cold.alpha });
  assert.equal(warm.iterations, 0);
  assertClose(warm.primal, cold.primal, 1e-9);
  assert.ok(certify(K, y, bounds, new Float64Array(y.length)).gap > 0.1); // alpha = 0 is far from optimal
});

test("the regularisation path has svmbook's multipliers", () => {
  const { X, y, logCs, alphas } = expected.path;
  regularisationPath(X, y, logCs).forEach(({ alpha, C }, k) => alpha.forEach((a, i) => assertClose(a / C, alphas[k][i] / C, 1e-5)));
});

test("losses and minima agree with svmbook's", () => {
  expected.costs.margins.forEach((m, i) => {
    for (const name of ["hinge", "logistic", "unbiased"]) assertClose(LOSSES[name].at(m), expected.costs[name][i], 1e-9, name);
    const h = 1e-6, slope = (LOSSES.unbiased.at(m + h) - LOSSES.unbiased.at(m - h)) / (2 * h);
    if (Math.abs(m - 1) > 2 * h) assertClose(-LOSSES.unbiased.slope(m), slope, 1e-4, "slope");
  });
  for (const { X, y, C, ...best } of expected.costs.problems) {
    const found = solveLosses(X, y, C);
    for (const name of ["hinge", "logistic"]) assertClose(objective(name, X, y, C, found[name]), best[name], 1e-5, name);
    // Both descend from the same SVM solution and must reach the same local minimum.
    assertClose(objective("unbiased", X, y, C, found.unbiased), best.unbiased, 1e-3, "unbiased");
  }
});

test("the stump kernel is svmbook's, and kernels of random stumps converge to it", () => {
  const { X, y, K, objective } = expected.stumps;
  X.forEach((x, i) => X.forEach((z, j) => assertClose(stump(x, z), K[i][j], 1e-9)));
  assertClose(fit(X, y, { C: 1, kernel: stump }).primal, objective, 1e-5);
  const errors = [50, 5000].map((count) => {
    const svm = ensembleSvm(X, y, 1, randomStumps(count, 7)), n = X.length;
    let error = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) error = Math.max(error, Math.abs(svm.K[i * n + j] - K[i][j]));
    X.forEach((x, i) => assertClose(svm.shape(0, x[0]) + svm.shape(1, x[1]), svm.f[i], 1e-8, "additive form"));
    return error;
  });
  assert.ok(errors[1] < 0.15 && errors[1] < errors[0] / 3, `${errors}`);
});

test("iterations of prototypes agree with svmbook's", () => {
  const { X, y, C, iterations, queries, predictions } = expected.prototypes;
  let members = initialMembers(X, y, C);
  iterations.forEach(({ exemplars, coef, intercept }, k) => {
    assert.deepEqual(members.map(({ exemplar }) => exemplar), exemplars, `exemplars after ${k} iterations`);
    members.forEach(({ w, b }, i) => {
      [w[0], w[1], b].forEach((value, j) => assertClose(value, [...coef[i], intercept[i]][j], 1e-3, `member ${i} after ${k}`));
    });
    if (k + 1 < iterations.length) members = iterate(X, y, members, C);
  });
  queries.forEach((x, i) => assert.equal(Math.sign(vote(X, y, members, x)), predictions[i]));
});

test("stored stills are up to date, and moving a point changes the drawing", async () => {
  for (const name of NAMES) {
    const { file, html } = await renderStill(name);
    assert.equal(readFileSync(file, "utf-8"), html, `${name}.html is out of date: node tools/stills.mjs`);
    const { default: explorable } = await import(`../../book/_static/explorables/${name}.js`);
    const state = explorable.start(), before = explorable.draw(state);
    explorable.move(state, state.chosen ?? 6, 300, 150);
    assert.notEqual(explorable.draw(state).drawing, before.drawing, name);
    assert.notEqual(explorable.start().points, state.points);
  }
});

test("every control changes the drawing, and both ends of its range work", async () => {
  for (const name of NAMES) {
    const { default: explorable } = await import(`../../book/_static/explorables/${name}.js`);
    for (const { name: key, choices, min, max, format } of explorable.controls) {
      const drawings = (choices ?? [min, max]).map((value) => {
        const state = { ...explorable.start(), ...(key === "logGamma" ? { kernel: "Gaussian" } : {}), [key]: value };
        explorable.onChange?.(state, key);
        const { drawing, description } = explorable.draw(state);
        assert.ok(!/NaN|undefined|Infinity/.test(drawing + description), `${name}, ${key} = ${value}`);
        if (format) assert.equal(typeof format(value), "string");
        return drawing;
      });
      assert.equal(new Set(drawings).size, drawings.length, `${name}, ${key}`);
    }
  }
});

test("the initial prototypes agree with the chapter, and iterations change them", () => {
  const state = prototypes.start();
  prototypes.draw(state);
  const [initial] = state.iterations, rejecting = initial.filter(({ covers, exemplar }) => !covers[exemplar]).length;
  assert.deepEqual([rejecting, initial.length], [31, 37]);
  prototypes.draw({ ...state, shifts: 1 });
  const [, left] = state.iterations, grown = left.filter(({ positives }) => positives.length > 1);
  assert.deepEqual([grown.length, left.length], [14, 23]);
  assert.ok(left.some(({ positives }) => positives.length > 5));
  for (const [logC, count] of [[1.8, 1], [1.9, 0]]) { // C = 63 and C = 79
    const larger = { ...prototypes.start(), logC };
    prototypes.draw(larger);
    assert.equal(larger.iterations[0].filter(({ covers, exemplar }) => !covers[exemplar]).length, count);
  }
});

test("coinciding points produce no NaN", () => {
  const state = margin.start();
  state.points.forEach((_, k) => margin.move(state, k, 300, 150));
  for (const kernel of ["linear", "Gaussian"]) {
    const { drawing, description } = margin.draw({ ...state, kernel, alpha: null });
    assert.ok(!/NaN|Infinity/.test(drawing + description), description);
  }
});

test("contours and areas lie where the function has their values", () => {
  const panel = plane(100, 60, 10), values = panel.grid(([x]) => x - 2, 10, true);
  for (const [, x] of contour(values, 0, 10).matchAll(/[ML](\S+) /g)) assertClose(Number(x), 70, 1e-9);
  const area = [...positive(panel.grid(([x]) => x, 10), 10).matchAll(/h(\d+)v/g)];
  assert.equal(area.reduce((sum, [, width]) => sum + Number(width), 0), 50 * 6);
  assert.deepEqual(panel.fromPixels(panel.toPixels([1.5, -2])), [1.5, -2]);
});
