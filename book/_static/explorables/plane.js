// A panel of a drawing that shows the plane: places in pixels there, and in units of a machine here.

export const r1 = (value) => String(Math.round(value * 10) / 10);

/** Return a power of ten as a label: two digits. */
export const power = (logarithm) => String(Number((10 ** logarithm).toPrecision(2)));

/** Return path data through points of the drawing. */
export const path = (points) => "M" + points.map(([x, y]) => `${r1(x)} ${r1(y)}`).join("L");

/**
 * Return the pieces of the contour of values on a grid, as path data.
 *
 * Each cell of the grid is crossed by no piece, one or two; neighbours lie `cell` apart.
 */
export function contour(values, level, cell) {
  const pieces = [];
  for (let i = 0; i + 1 < values.length; i++) {
    for (let j = 0; j + 1 < values[i].length; j++) {
      const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]], cut = [];
      for (let k = 0; k < 4; k++) {
        const [p, q] = [corners[k], corners[(k + 1) % 4]];
        const [a, b] = [values[p[0]][p[1]] - level, values[q[0]][q[1]] - level];
        if (a > 0 === b > 0) continue;
        const t = a / (a - b);
        cut.push([cell * (p[1] + t * (q[1] - p[1])), cell * (p[0] + t * (q[0] - p[0]))]);
      }
      for (let k = 0; k + 1 < cut.length; k += 2) pieces.push(path([cut[k], cut[k + 1]]));
    }
  }
  return pieces.join("");
}

/** Return path data of the cells of a grid whose values are positive, row by row. */
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

/** The plane as a panel `width` by `height` pixels large, its origin in the middle, `unit` pixels long. */
export function plane(width, height, unit) {
  const to = ([x, y]) => [width / 2 + unit * x, height / 2 - unit * y];
  const from = ([x, y]) => [(x - width / 2) / unit, (height / 2 - y) / unit];

  /** Return the line w x + b = level, long enough to leave the panel; without w there is none. */
  const line = (w, b, level = 0) => {
    const size = Math.hypot(...w);
    if (size < 1e-9) return "";
    const normal = w.map((part) => part / size), far = (2 * (width + height)) / unit;
    const foot = normal.map((part) => (part * (level - b)) / size);
    return path([-far, far].map((t) => to([foot[0] - t * normal[1], foot[1] + t * normal[0]])));
  };

  /** Return the street of a linear machine: its road, its kerbs and its middle. */
  const street = (w, b) => {
    const size = Math.hypot(...w);
    if (size < 1e-9) return "";
    return `<path class="road" d="${line(w, b)}" stroke-width="${r1((2 * unit) / size)}"/>` + kerbs(w, b);
  };
  const kerbs = (w, b) =>
    `<path class="kerb" d="${line(w, b, -1)}${line(w, b, 1)}"/><path class="middle" d="${line(w, b)}"/>`;

  /** Return the areas of both classes, of the outputs at the middles of cells. */
  const areas = (outputs, cell) =>
    `<rect class="of-minus" width="${width}" height="${height}"/><path class="of-plus" d="${positive(outputs, cell)}"/>`;

  /** Return the values of a function at the middles of cells, or at their corners, row by row. */
  const grid = (at, cell, corners = false) => {
    const rows = [], shift = corners ? 0 : 0.5, more = corners ? 1 : 0;
    for (let i = 0; i < Math.ceil(height / cell) + more; i++) {
      const row = [];
      for (let j = 0; j < Math.ceil(width / cell) + more; j++) row.push(at(from([(j + shift) * cell, (i + shift) * cell])));
      rows.push(row);
    }
    return rows;
  };
  return { width, height, from, to, line, street, kerbs, areas, grid };
}

/** Return a panel at a place of the drawing; what leaves it is cut off. */
export const panel = (left, width, height, inside) =>
  `<svg x="${left}" y="0" width="${width}" height="${height}">${inside}</svg>`;

/** Return a word of the drawing. */
export const text = (x, y, words, anchor = "start") =>
  `<text x="${r1(x)}" y="${r1(y)}" text-anchor="${anchor}">${words}</text>`;
