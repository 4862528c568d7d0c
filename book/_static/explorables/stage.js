// The common part of all explorables: a drawing with movable points, its controls and its description.
//
// An explorable is { label, instructions, width, height, marks(state), draw(state), controls, start() }.
// `start` returns the initial state, `draw` returns its { drawing, description }, `marks` lists the movable
// points, `move` moves one. `maxX`, if given, limits the points on the right. The page already contains the
// initial state.

import { r1 } from "./plane.js";

const STEP = 6, LARGE_STEP = 30; // of an arrow key, without and with Shift, in units of the drawing
const READ_DELAY = 700; // milliseconds without a change until screen readers read the description

const classes = ({ isSupport, kind = "" }) => ["mark", isSupport ? "support" : "", kind].filter(Boolean).join(" ");

/** Return the markup of a point: a disc or a diamond, by its class, a ring, and a touch target. */
function markup(mark) {
  const shape = mark.label > 0 ? '<path class="plus" d="M0-9l9 9-9 9-9-9z"/>' : '<circle class="minus" r="7"/>';
  const ring = `<circle class="ring" r="14"/>`;
  return `<g class="${classes(mark)}" transform="translate(${r1(mark.x)} ${r1(mark.y)})">` +
    `<circle class="touch-target" r="20"/>${ring}${shape}</g>`;
}

/** Return the HTML of the initial state: the drawing and its description. */
export function still(explorable) {
  const state = explorable.start(), { drawing, description } = explorable.draw(state);
  return `<svg viewBox="0 0 ${explorable.width} ${explorable.height}" role="group" aria-label="${explorable.label}">
<g class="background">${drawing}</g>
<g class="marks">${explorable.marks(state).map(markup).join("\n")}</g>
</svg>
<div class="controls" hidden></div>
<p class="description">${description}</p>
`;
}

function control(spec, state, onChange) {
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = spec.label;
  label.append(name);
  if (spec.choices) {
    const select = document.createElement("select");
    for (const choice of spec.choices) select.add(new Option(choice, choice));
    select.value = state[spec.name];
    select.addEventListener("change", () => onChange(spec.name, select.value));
    label.append(select);
    return { label, show: () => { select.value = state[spec.name]; } };
  }
  const slider = document.createElement("input"), output = document.createElement("output");
  Object.assign(slider, { type: "range", min: spec.min, max: spec.max, step: spec.step });
  const show = () => {
    if (spec.isVisible) label.hidden = !spec.isVisible(state);
    slider.value = state[spec.name];
    output.value = spec.format(state[spec.name]);
    slider.setAttribute("aria-valuetext", output.value);
  };
  slider.addEventListener("input", () => onChange(spec.name, Number(slider.value)));
  label.append(slider, output);
  return { label, show };
}

/** Make a figure interactive. */
export function mount(figure, explorable) {
  const svg = figure.querySelector("svg"), state = explorable.start();
  const text = figure.querySelector(".description"), panel = figure.querySelector(".controls");
  const status = document.createElement("p"); // the same text for screen readers, updated after a drag
  const maxX = explorable.maxX ?? explorable.width;
  let isScheduled = false, timer;

  const redraw = () => {
    isScheduled = false;
    const { drawing, description } = explorable.draw(state);
    svg.querySelector(".background").innerHTML = drawing;
    explorable.marks(state).forEach((mark, k) => {
      const group = nodes[k];
      group.setAttribute("transform", `translate(${r1(mark.x)} ${r1(mark.y)})`);
      group.setAttribute("class", classes(mark));
      group.setAttribute("aria-label", `Point ${k + 1}, class ${mark.label > 0 ? "+1" : "\u22121"}`);
      group.setAttribute("aria-valuetext", `at ${Math.round(mark.x)}, ${Math.round(mark.y)}; ${mark.description}`);
      group.setAttribute("aria-valuenow", Math.round(mark.x));
    });
    controls.forEach(({ show }) => show());
    text.textContent = description;
    clearTimeout(timer);
    timer = setTimeout(() => { status.textContent = description; }, READ_DELAY);
  };
  const scheduleRedraw = () => {
    if (!isScheduled) requestAnimationFrame(redraw);
    isScheduled = true;
  };
  const move = (k, x, y) => {
    const clamp = (value, limit) => Math.min(limit - 8, Math.max(8, value));
    explorable.move(state, k, clamp(x, maxX), clamp(y, explorable.height));
    scheduleRedraw();
  };

  const nodes = [...svg.querySelectorAll(".mark")];
  const controls = explorable.controls.map((spec) =>
    control(spec, state, (name, value) => { state[name] = value; explorable.onChange?.(state, name); scheduleRedraw(); }));
  panel.replaceChildren(...controls.map(({ label }) => label));
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Reset";
  reset.addEventListener("click", () => {
    Object.assign(state, explorable.start());
    setTabStop(state.chosen ?? 0);
    scheduleRedraw();
  });
  panel.append(reset);
  panel.hidden = false;
  const instructions = document.createElement("p");
  instructions.className = "instructions";
  instructions.textContent = `${explorable.instructions} Press Tab to reach a point, the arrow keys to move it, ` +
    "and n or p for the next or previous point.";
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  text.after(instructions, status);

  // The Tab key reaches only one point; from there the keys n and p lead to the others.
  let current = 0;
  const setTabStop = (k) => {
    nodes[current].tabIndex = -1;
    current = (k + nodes.length) % nodes.length;
    nodes[current].tabIndex = 0;
  };
  const focus = (k) => {
    setTabStop(k);
    nodes[current].focus();
    state.chosen = current;
    scheduleRedraw();
  };
  nodes.forEach((group, k) => {
    group.setAttribute("role", "slider");
    group.setAttribute("aria-valuemin", "0");
    group.setAttribute("aria-valuemax", String(maxX));
    group.tabIndex = -1;
    group.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      group.setPointerCapture(event.pointerId);
      focus(k);
      event.preventDefault();
    });
    group.addEventListener("pointermove", (event) => {
      if (!group.hasPointerCapture(event.pointerId)) return;
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      move(k, x, y);
    });
    group.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? LARGE_STEP : STEP, mark = explorable.marks(state)[k];
      const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (direction) move(k, mark.x + step * direction[0], mark.y + step * direction[1]);
      else if (event.key === "n" || event.key === "p") focus(k + (event.key === "n" ? 1 : -1));
      else return;
      event.preventDefault();
    });
  });
  setTabStop(state.chosen ?? 0);
  redraw();
}
