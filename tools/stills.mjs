// Write the first state of each explorable beside its module, for readers without scripts and for paper.
//
// Usage: node tools/stills.mjs

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { still } from "../book/_static/explorables/stage.js";

const FOLDER = fileURLToPath(new URL("../book/_static/explorables/", import.meta.url));
export const NAMES = ["margin", "costs", "path", "stumps", "prototypes"];

/** Return the still of a module as the text of its file, and the text that stands there. */
export async function stillOf(name) {
  const { default: explorable } = await import(`${FOLDER}${name}.js`);
  const file = `${FOLDER}${name}.html`;
  const kept = () => readFileSync(file, "utf-8");
  return { file, fresh: still(explorable), kept };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of NAMES) {
    const { file, fresh } = await stillOf(name);
    writeFileSync(file, fresh);
  }
}
