// A panel of a drawing that shows the plane, with conversions between pixels and data units.

/** Round a coordinate to one decimal. */
export const r1 = (value) => String(Math.round(value * 10) / 10);

/** Return a power of ten as a label with two significant digits. */
export const power = (logarithm) => String(Number((10 ** logarithm).toPrecision(2)));

/** Return path data through points of the drawing. */
export const path = (points) => "M" + points.map(([x, y]) => `${r1(x)} ${r1(y)}`).join("L");

/**
 * Return a contour of values on a grid as path data (marching squares).
 *
 * Each grid cell contains zero, one or two line segments; `cell` is the distance between grid points.
 */
export function contour(values, level, cell) {
  const segments = [];
  for (let i = 0; i + 1 < values.length; i++) {
    for (let j = 0; j + 1 < values[i].length; j++) {
      const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]], crossings = [];
      for (let k = 0; k < 4; k++) {
        const [p, q] = [corners[k], corners[(k + 1) % 4]];
        const [a, b] = [values[p[0]][p[1]] - level, values[q[0]][q[1]] - level];
        if (a > 0 === b > 0) continue;
        const t = a / (a - b);
        crossings.push([cell * (p[1] + t * (q[1] - p[1])), cell * (p[0] + t * (q[0] - p[0]))]);
      }
      for (let k = 0; k + 1 < crossings.length; k += 2) segments.push(path([crossings[k], crossings[k + 1]]));
    }
  }
  return segments.join("");
}

/** Return the grid cells with positive values as path data, row by row. */
export function positive(values, cell) {
  const runs = [];
  values.forEach((row, i) => {
    for (let j = 0; j < row.length; j++) {
      if (row[j] <= 0) continue;
      const first = j;
      while (j < row.length && row[j] > 0) j++;
      runs.push(`M${first * cell} ${i * cell}h${(j - first) * cell}v${cell}h${-(j - first) * cell}z`);
    }
  });
  return runs.join("");
}

/** A panel of `width` by `height` pixels, with the origin in the centre and `unit` pixels per unit. */
export function plane(width, height, unit) {
  const toPixels = ([x, y]) => [width / 2 + unit * x, height / 2 - unit * y];
  const fromPixels = ([x, y]) => [(x - width / 2) / unit, (height / 2 - y) / unit];

  /** Return the line w'x + b = level, long enough to cross the panel; empty if w is zero. */
  const line = (w, b, level = 0) => {
    const norm = Math.hypot(...w);
    if (norm < 1e-9) return "";
    const normal = w.map((part) => part / norm), reach = (2 * (width + height)) / unit;
    const foot = normal.map((part) => (part * (level - b)) / norm);
    return path([-reach, reach].map((t) => toPixels([foot[0] - t * normal[1], foot[1] + t * normal[0]])));
  };

  /** Return the margin of a linear classifier as a band, with its boundaries and the decision boundary. */
  const margin = (w, b) => {
    const norm = Math.hypot(...w);
    if (norm < 1e-9) return "";
    return `<path class="margin-band" d="${line(w, b)}" stroke-width="${r1((2 * unit) / norm)}"/>` + boundaries(w, b);
  };
  const boundaries = (w, b) => `<path class="margin-boundary" d="${line(w, b, -1)}${line(w, b, 1)}"/>` +
    `<path class="decision-boundary" d="${line(w, b)}"/>`;

  /** Return the areas of both classes from the outputs at the centres of grid cells. */
  const areas = (outputs, cell) =>
    `<rect class="minus-area" width="${width}" height="${height}"/><path class="plus-area" d="${positive(outputs, cell)}"/>`;

  /** Return the values of a function at the centres of grid cells, or at their corners, row by row. */
  const grid = (f, cell, corners = false) => {
    const offset = corners ? 0 : 0.5, extra = corners ? 1 : 0;
    const coordinates = (length) =>
      Array.from({ length: Math.ceil(length / cell) + extra }, (_, k) => (k + offset) * cell);
    return coordinates(height).map((y) => coordinates(width).map((x) => f(fromPixels([x, y]))));
  };
  return { width, height, fromPixels, toPixels, line, margin, boundaries, areas, grid };
}

/** Return a panel that starts at a pixel column of the drawing and clips its content. */
export const panel = (left, width, height, content) =>
  `<svg x="${left}" y="0" width="${width}" height="${height}">${content}</svg>`;

/** Return a text of the drawing. */
export const text = (x, y, words, anchor = "start") =>
  `<text x="${r1(x)}" y="${r1(y)}" text-anchor="${anchor}">${words}</text>`;
