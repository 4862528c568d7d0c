// What all explorables have in common: a drawing with points that move, its controls and its words.
//
// An explorable is { about, how, width, height, marks(state), draw(state), controls, start() }: `start`
// returns a state, `draw` returns { back, words } for it, `marks` lists what can be moved; `about` says
// what is seen, `how` what can be done, and `reach` how far to the right a point may go. The first state
// stands in the page already.

import { r1 } from "./plane.js";

const STEP = 6, FAR = 30; // of an arrow key, and with Shift, in units of the drawing
const REST = 700; // milliseconds without a change until the words are read aloud

const classes = ({ held, kind = "" }) => ["mark", held ? "held" : "", kind].filter(Boolean).join(" ");

/** Return what a mark shows: a disc of one class or a diamond of the other, and a place for a finger. */
function markup(mark) {
  const shape = mark.label > 0 ? '<path class="plus" d="M0-9l9 9-9 9-9-9z"/>' : '<circle class="minus" r="7"/>';
  const ring = `<circle class="ring" r="14"/>`;
  return `<g class="${classes(mark)}" transform="translate(${r1(mark.x)} ${r1(mark.y)})">` +
    `<circle class="finger" r="20"/>${ring}${shape}</g>`;
}

/** Return what stands in the page before anything moves: the first state, drawn and in words. */
export function still(explorable) {
  const state = explorable.start(), { back, words } = explorable.draw(state);
  return `<svg viewBox="0 0 ${explorable.width} ${explorable.height}" role="group" aria-label="${explorable.about}">
<g class="back">${back}</g>
<g class="marks">${explorable.marks(state).map(markup).join("\n")}</g>
</svg>
<div class="controls" hidden></div>
<p class="told">${words}</p>
`;
}

function control(spec, state, changed) {
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = spec.label;
  label.append(name);
  if (spec.choices) {
    const select = document.createElement("select");
    for (const choice of spec.choices) select.add(new Option(choice, choice));
    select.value = state[spec.name];
    select.addEventListener("change", () => changed(spec.name, select.value));
    label.append(select);
    return { label, show: () => { select.value = state[spec.name]; } };
  }
  const slider = document.createElement("input"), told = document.createElement("output");
  Object.assign(slider, { type: "range", min: spec.min, max: spec.max, step: spec.step });
  const show = () => {
    if (spec.shown) label.hidden = !spec.shown(state);
    slider.value = state[spec.name];
    told.value = spec.tell(state[spec.name], state);
    slider.setAttribute("aria-valuetext", told.value);
  };
  slider.addEventListener("input", () => changed(spec.name, Number(slider.value)));
  label.append(slider, told);
  return { label, show };
}

/** Bring a figure to life. */
export function mount(figure, explorable) {
  const svg = figure.querySelector("svg"), state = explorable.start();
  const words = figure.querySelector(".told"), panel = figure.querySelector(".controls");
  const heard = document.createElement("p"); // the same words for who listens, once a drag has come to rest
  let waiting = false, resting;

  const redraw = () => {
    waiting = false;
    const { back, words: told } = explorable.draw(state);
    svg.querySelector(".back").innerHTML = back;
    explorable.marks(state).forEach((mark, k) => {
      const group = nodes[k];
      group.setAttribute("transform", `translate(${r1(mark.x)} ${r1(mark.y)})`);
      group.setAttribute("class", classes(mark));
      group.setAttribute("aria-label", `Point ${k + 1}, class ${mark.label > 0 ? "+1" : "\u22121"}`);
      group.setAttribute("aria-valuetext", `at ${Math.round(mark.x)}, ${Math.round(mark.y)}; ${mark.told}`);
      group.setAttribute("aria-valuenow", Math.round(mark.x));
    });
    controls.forEach((one) => one.show());
    words.textContent = told;
    clearTimeout(resting);
    resting = setTimeout(() => { heard.textContent = told; }, REST);
  };
  const soon = () => {
    if (!waiting) requestAnimationFrame(redraw);
    waiting = true;
  };
  const move = (k, x, y) => {
    const inside = (value, most) => Math.min(most - 8, Math.max(8, value));
    explorable.move(state, k, inside(x, explorable.reach ?? explorable.width), inside(y, explorable.height));
    soon();
  };

  const nodes = [...svg.querySelectorAll(".mark")];
  const controls = explorable.controls.map((spec) =>
    control(spec, state, (name, value) => { state[name] = value; explorable.changed?.(state, name); soon(); }));
  panel.replaceChildren(...controls.map((one) => one.label));
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Begin again";
  again.addEventListener("click", () => {
    Object.assign(state, explorable.start());
    stop(state.chosen ?? 0);
    soon();
  });
  panel.append(again);
  panel.hidden = false;
  const how = document.createElement("p");
  how.className = "how";
  how.textContent = `${explorable.how} The Tab key reaches a point, arrows move it, n and p lead to others.`;
  heard.className = "visually-hidden";
  heard.setAttribute("role", "status");
  words.after(how, heard);

  // One mark is a stop of the Tab key; from it the keys n and p lead to the others.
  let current = 0;
  const stop = (k) => {
    nodes[current].tabIndex = -1;
    current = (k + nodes.length) % nodes.length;
    nodes[current].tabIndex = 0;
  };
  const focus = (k) => {
    stop(k);
    nodes[current].focus();
    state.chosen = current;
    soon();
  };
  nodes.forEach((group, k) => {
    group.setAttribute("role", "slider");
    group.setAttribute("aria-valuemin", "0");
    group.setAttribute("aria-valuemax", String(explorable.reach ?? explorable.width));
    group.tabIndex = -1;
    group.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      group.setPointerCapture(event.pointerId);
      focus(k);
      event.preventDefault();
    });
    group.addEventListener("pointermove", (event) => {
      if (!group.hasPointerCapture(event.pointerId)) return;
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      move(k, place.x, place.y);
    });
    group.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? FAR : STEP, mark = explorable.marks(state)[k];
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (way) move(k, mark.x + step * way[0], mark.y + step * way[1]);
      else if (event.key === "n" || event.key === "p") focus(k + (event.key === "n" ? 1 : -1));
      else return;
      event.preventDefault();
    });
  });
  stop(state.chosen ?? 0);
  redraw();
}
