// Write the initial state of each explorable beside its module, for print and for readers without scripts.
//
// Usage: node tools/stills.mjs

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { still } from "../book/_static/explorables/stage.js";

const FOLDER = fileURLToPath(new URL("../book/_static/explorables/", import.meta.url));
export const NAMES = ["margin", "costs", "path", "stumps", "prototypes"];

/** Return the path and the new HTML of the still of a module. */
export async function renderStill(name) {
  const { default: explorable } = await import(`${FOLDER}${name}.js`);
  return { file: `${FOLDER}${name}.html`, html: still(explorable) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of NAMES) {
    const { file, html } = await renderStill(name);
    writeFileSync(file, html);
  }
}
