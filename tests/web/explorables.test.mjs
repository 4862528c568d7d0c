// The explorables against numbers of svmbook, which test_explorables.py writes to $SVMBOOK_NUMBERS.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { COSTS, objective, solve as solveCosts } from "../../book/_static/explorables/costs.js";
import { certify, dot, fit, gaussian, gram, solveDual } from "../../book/_static/explorables/dual.js";
import margin from "../../book/_static/explorables/margin.js";
import { pricePath } from "../../book/_static/explorables/path.js";
import { contour, plane, positive } from "../../book/_static/explorables/plane.js";
import prototypes, { begin, shifted, vote } from "../../book/_static/explorables/prototypes.js";
import { crowdMachine, drawn, stump } from "../../book/_static/explorables/stumps.js";
import { NAMES, stillOf } from "../../tools/stills.mjs";

const numbers = JSON.parse(readFileSync(process.env.SVMBOOK_NUMBERS, "utf-8"));
const near = (a, b, tol, what = "") => assert.ok(Math.abs(a - b) <= tol * Math.max(1, Math.abs(b)), `${what}: ${a} is not ${b}`);

test("the dual has svmbook's objective and outputs, and proves it", () => {
  for (const { X, y, C, gamma, objective, outputs } of numbers.duals) {
    const machine = fit(X, y, { C, kernel: gamma ? gaussian(gamma) : dot });
    assert.ok(machine.gap <= 1e-6 && machine.gap > -1e-9, `gap ${machine.gap}`);
    near(machine.primal, objective, 2e-6, "objective");
    X.forEach((x, i) => near(machine.at(x), outputs[i], 2e-3, "output"));
    assert.ok(machine.alpha.every((a) => a >= 0 && a <= C));
    near(machine.alpha.reduce((sum, a, i) => sum + a * y[i], 0), 0, 1e-9 * C * y.length, "balance");
  }
});

test("a start that is feasible leads to the same end", () => {
  const { X, y, C } = numbers.duals[0], K = gram(X, dot), bounds = y.map(() => C);
  const cold = solveDual(K, y, bounds), warm = solveDual(K, y, bounds, { start: cold.alpha });
  assert.equal(warm.rounds, 0);
  near(warm.primal, cold.primal, 1e-9);
  assert.ok(certify(K, y, bounds, new Float64Array(y.length)).gap > 0.1); // nought proves nothing
});

test("the path has svmbook's multipliers", () => {
  const { X, y, logCs, alphas } = numbers.path;
  pricePath(X, y, logCs).forEach(({ alpha, C }, k) => alpha.forEach((a, i) => near(a / C, alphas[k][i] / C, 1e-5)));
});

test("costs are svmbook's, and so are the minima", () => {
  numbers.costs.margins.forEach((m, i) => {
    for (const name of ["hinge", "logistic", "unbiased"]) near(COSTS[name].at(m), numbers.costs[name][i], 1e-9, name);
    const h = 1e-6, slope = (COSTS.unbiased.at(m + h) - COSTS.unbiased.at(m - h)) / (2 * h);
    if (Math.abs(m - 1) > 2 * h) near(-COSTS.unbiased.slope(m), slope, 1e-4, "slope");
  });
  for (const { X, y, C, ...best } of numbers.costs.problems) {
    const found = solveCosts(X, y, C);
    for (const name of ["hinge", "logistic"]) near(objective(name, X, y, C, found[name]), best[name], 1e-5, name);
    // Both walk downhill from the same street; neither may end above the other.
    near(objective("unbiased", X, y, C, found.unbiased), best.unbiased, 1e-3, "unbiased");
  }
});

test("stumps: the kernel is svmbook's, and crowds tend to it", () => {
  const { X, y, K, objective } = numbers.stumps;
  X.forEach((x, i) => X.forEach((z, j) => near(stump(x, z), K[i][j], 1e-9)));
  near(fit(X, y, { C: 1, kernel: stump }).primal, objective, 1e-5);
  const apart = [50, 5000].map((count) => {
    const crowd = crowdMachine(X, y, 1, drawn(count, 7)), n = X.length;
    let worst = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) worst = Math.max(worst, Math.abs(crowd.K[i * n + j] - K[i][j]));
    X.forEach((x, i) => near(crowd.curve(0, x[0]) + crowd.curve(1, x[1]), crowd.f[i], 1e-8, "additive form"));
    return worst;
  });
  assert.ok(apart[1] < 0.15 && apart[1] < apart[0] / 3, `${apart}`);
});

test("prototypes shift as svmbook's do", () => {
  const { X, y, C, rounds, votes } = numbers.prototypes;
  let members = begin(X, y, C);
  rounds.forEach(({ exemplars, coef, intercept }, k) => {
    assert.deepEqual(members.map(({ exemplar }) => exemplar), exemplars, `exemplars after ${k} shifts`);
    members.forEach(({ w, b }, i) => {
      [w[0], w[1], b].forEach((value, j) => near(value, [...coef[i], intercept[i]][j], 1e-3, `member ${i} after ${k}`));
    });
    if (k + 1 < rounds.length) members = shifted(X, y, members, C);
  });
  votes.places.forEach((x, i) => assert.equal(Math.sign(vote(X, y, members, x)), votes.answers[i]));
});

test("each explorable begins as the page shows it, and moving a point changes it", async () => {
  for (const name of NAMES) {
    const { fresh, kept } = await stillOf(name);
    assert.equal(kept(), fresh, `${name}.html is old: node tools/stills.mjs`);
    const { default: explorable } = await import(`../../book/_static/explorables/${name}.js`);
    const state = explorable.start(), before = explorable.draw(state);
    explorable.move(state, state.chosen ?? 6, 300, 150);
    assert.notEqual(explorable.draw(state).back, before.back, name);
    assert.notEqual(explorable.start().points, state.points);
  }
});

test("each control changes the drawing, from end to end", async () => {
  for (const name of NAMES) {
    const { default: explorable } = await import(`../../book/_static/explorables/${name}.js`);
    for (const { name: key, choices, min, max, tell } of explorable.controls) {
      const seen = (choices ?? [min, max]).map((value) => {
        const state = { ...explorable.start(), ...(key === "logGamma" ? { kernel: "Gaussian" } : {}), [key]: value };
        explorable.changed?.(state, key);
        const { back, words } = explorable.draw(state);
        assert.ok(!/NaN|undefined|Infinity/.test(back + words), `${name}, ${key} = ${value}`);
        if (tell) assert.equal(typeof tell(value), "string");
        return back;
      });
      assert.equal(new Set(seen).size, seen.length, `${name}, ${key}`);
    }
  }
});

test("the prototypes begin as the chapter says, and shifts move them", () => {
  const state = prototypes.start();
  prototypes.draw(state);
  const rejected = state.rounds[0].filter(({ claims, exemplar }) => !claims[exemplar]).length;
  assert.deepEqual([rejected, state.rounds[0].length], [31, 37]);
  prototypes.draw({ ...state, shifts: 1 });
  assert.ok(state.rounds[1].length < 37 && state.rounds[1].some(({ positives }) => positives.length > 5));
});

test("points in one place do no harm", () => {
  const state = margin.start();
  state.points.forEach((_, k) => margin.move(state, k, 300, 150));
  for (const kernel of ["linear", "Gaussian"]) {
    const { back, words } = margin.draw({ ...state, kernel, alpha: null });
    assert.ok(!/NaN|Infinity/.test(back + words), words);
  }
});

test("contours and areas lie where the function says", () => {
  const panel = plane(100, 60, 10), values = panel.grid(([x]) => x - 2, 10, true);
  for (const [, x] of contour(values, 0, 10).matchAll(/[ML](\S+) /g)) near(Number(x), 70, 1e-9);
  const area = [...positive(panel.grid(([x]) => x, 10), 10).matchAll(/h(\d+)v/g)];
  assert.equal(area.reduce((sum, [, across]) => sum + Number(across), 0), 50 * 6);
  assert.deepEqual(panel.from(panel.to([1.5, -2])), [1.5, -2]);
});
