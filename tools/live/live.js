// Live code: the cells of a page become editors, and a kernel of the page's own runs them.
//
// The server of `make live` puts this module into each page. Thebe (in `vendor`) draws editors and
// outputs and speaks with the kernel; here are the buttons, the waiting for a kernel, and the end.

const VENDOR = "/live/vendor/", ROOM = "/live/room", AGAIN = 3000; // milliseconds to the next try
const cells = [...document.querySelectorAll(".bd-article div.cell")].filter((cell) => cell.querySelector(".cell_input pre"));
let notebook = null, server = null, session = null, status = null, taking = null, left = false, died = false;

const LOST = "The kernel has died and was started again. All names are lost: run the cells above once more.";

const cookie = (name) => document.cookie.match(`(?:^|; )${name}=([^;]*)`)?.[1] ?? "";
const pause = (time) => new Promise((done) => setTimeout(done, time));
const tell = (words) => { status.textContent = words; };

function button(words, act, parent) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: words });
  made.addEventListener("click", act);
  parent.append(made);
  return made;
}

/** Fetch what draws editors and outputs, once. */
async function fetchLibraries() {
  const style = document.createElement("link");
  Object.assign(style, { rel: "stylesheet", href: `${VENDOR}thebe.css` });
  document.head.prepend(style);
  await Promise.all(["thebe.js", "markdown-it.js"].map((name) => new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: VENDOR + name, onload: done, onerror: failed });
    document.head.append(script);
  })));
}

/** Set Markdown, of which Thebe shows the text, and its formulas. */
async function setMarkdown(place) {
  for (const box of place.querySelectorAll('[data-mime-type="text/markdown"]')) {
    const formulas = [];
    const words = box.textContent.replace(/\$([^$]+)\$/g, (_, formula) => `\uE000${formulas.push(formula) - 1}\uE001`);
    const html = window.markdownit().render(words);
    box.innerHTML = html.replace(/\uE000(\d+)\uE001/g, '<span class="math">$1</span>');
    box.querySelectorAll(".math").forEach((span) => { span.textContent = `\\(${formulas[span.textContent]}\\)`; });
    box.querySelectorAll("table").forEach((table) => table.classList.add("table"));
    if (formulas.length) await window.MathJax?.typesetPromise?.([box]);
  }
}

/** Name the code and the place of the output of each cell; a stored output stays until it runs. */
function mark(cell) {
  const code = cell.querySelector(".cell_input pre");
  code.dataset.executable = "";
  let output = cell.querySelector(".cell_output");
  if (!output) {
    output = document.createElement("div");
    output.className = "cell_output";
    cell.append(output);
  }
  // Thebe would write the stored output anew; it waits beside the place of the new one instead.
  const place = document.createElement("div");
  place.className = "live-output";
  place.dataset.output = "";
  output.after(place);
}

/** Whoever waits sees a free place at the same time; one of them gets it, and the others go on waiting. */
function unlessTaken(error) {
  if (error.response?.status !== 503) throw error;
  return null;
}

/** Wait until a kernel is free, take it, and let the cells have it. Who asks meanwhile waits as well. */
function takeKernel() {
  taking ??= waitForKernel().finally(() => { taking = null; });
  return taking;
}

async function waitForKernel() {
  await server.ready;
  const name = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16)).join("");
  for (;;) {
    const answer = await fetch(ROOM);
    if (!answer.ok || answer.redirected) throw new Error("you are no longer let in: load the page again");
    const room = await answer.json();
    if (room.kernels < room.most) {
      const path = `${location.pathname.slice(1)}-${name}.ipynb`;
      session = await server.startNewSession(notebook.rendermime, { kernelName: "python3", path }).catch(unlessTaken);
      if (session && left) giveBack();
      if (session) return attach();
    }
    tell(`All ${room.most} kernels are in use. You are waiting for one.`);
    await pause(AGAIN * (0.5 + Math.random()));
  }
}

/** Let the cells have the kernel, and notice when it dies: the server then starts it again. */
function attach() {
  died = false;
  session.kernel.statusChanged.connect((_, what) => {
    if (!["autorestarting", "restarting"].includes(what) || document.querySelector(".live-restarting")) return;
    died = true;
    forget();
    tell(LOST);
  });
  return notebook.attachSession(session);
}

/** Nothing has run in the kernel that the page has now. */
function forget() {
  for (const cell of cells) cell.classList.remove("live-ran", "live-busy");
}

/** Say why the server has ended a kernel, as far as it tells. */
async function tellWhy(kernel) {
  const room = await fetch(ROOM).then((answer) => answer.json()).catch(() => ({}));
  const reason = room.ended?.[kernel];
  tell(`The kernel was ended${reason ? `: ${reason}` : ""}. All names are lost. The next run begins with a new one.`);
}

/** Do something, and say so where it fails. */
const trying = (act) => async (...given) => {
  try {
    return await act(...given);
  } catch (error) {
    cells.forEach((cell) => cell.classList.remove("live-busy"));
    tell(`That did not work: ${error.message ?? error}. Load the page again, or ask whether the server runs.`);
    return false;
  }
};

/** Run cells one after the other, up to the first error. */
const run = trying(async (numbers) => {
  for (const k of numbers) {
    const cell = cells[k], place = cell.querySelector(".live-output");
    cell.classList.add("live-busy");
    if (!session) await takeKernel();
    tell(`Running cell ${k + 1} of ${cells.length} ...`);
    died = false;
    const done = await notebook.cells[k].execute(notebook.cells[k].source);
    cell.classList.remove("live-busy");
    if (died) {
      tell(LOST);
      return false;
    }
    cell.classList.add("live-ran");
    await setMarkdown(place);
    if (!done || done.error) {
      tell(`Cell ${k + 1} ended with an error.`);
      return false;
    }
  }
  tell("Ready.");
  return true;
});

const restart = trying(async () => {
  tell("Restarting ...");
  status.classList.add("live-restarting");
  try {
    await (session ? session.restart() : takeKernel());
  } finally {
    status.classList.remove("live-restarting");
  }
  forget();
  notebook.cells.forEach((cell) => cell.clear());
  tell("Restarted: nothing has run.");
});

/** Stop what runs; the kernel and its names stay. */
const interrupt = trying(async () => {
  await session?.kernel?.interrupt();
});

/** Give each cell its buttons. */
function equip(cell, k) {
  const bar = document.createElement("div");
  bar.className = "live-bar";
  button("Run", () => run([k]), bar).title = "Shift and Enter in the code";
  if (k > 0) button("Run all above", () => run([...Array(k).keys()]), bar);
  cell.querySelector(".thebe-cell").append(bar);
  // Tab leaves the editor, as everything else on the page; Thebe would indent.
  const editor = cell.querySelector(".CodeMirror").CodeMirror;
  editor.setOption("extraKeys", { Tab: false, "Shift-Tab": false, "Shift-Enter": () => { if (document.documentElement.dataset.live) run([k]); } });
  editor.getInputField().setAttribute("aria-label", `Code of cell ${k + 1}`);
}

async function start(target) {
  tell("Fetching the editors ...");
  await fetchLibraries();
  cells.forEach(mark);
  const made = await window.thebe.bootstrap({
    selector: "[data-executable]", outputSelector: "[data-output]", requestKernel: false, useBinder: false,
    useJupyterLite: false, mathjaxUrl: false, mountRunButton: false, mountRunAllButton: false,
    mountRestartButton: false, mountRestartAllButton: false, mountActivateWidget: false, mountStatusWidget: false,
    serverSettings: { baseUrl: location.origin, appendToken: false, token: "" },
    savedSessionOptions: { enabled: false },
    codeMirrorConfig: { lineNumbers: false, theme: "default" },
  });
  ({ notebook, server } = made);
  cells.forEach(equip);
  window.thebe.on("status", (_, { subject, status: what }) => {
    // Thebe says so as well where it does not know; the kernel itself does.
    const lost = !session?.kernel || session.kernel.isDisposed || ["dead", "terminating"].includes(session.kernel.status);
    if (subject !== "session" || what !== "shutdown" || !session || !lost) return;
    const { kernel } = session;
    session = null;
    forget();
    tellWhy(kernel?.id);
  });
  tell("Waiting for a kernel ...");
  await takeKernel();
  target.remove();
  button("Run all", () => run([...cells.keys()]), status.parentElement).focus();
  button("Stop", interrupt, status.parentElement).title = "Ends the cell that runs; all names stay";
  button("Restart", restart, status.parentElement);
  document.documentElement.dataset.live = "ready";
  tell("Ready. Change a cell and run it; those above have to run first.");
}

async function begin({ target }) {
  target.disabled = true;
  if (await trying(start)(target) === false) target.disabled = false;
}

/** Let somebody else have the kernel. */
function giveBack() {
  const headers = { "X-XSRFToken": cookie("_xsrf") };
  fetch(`/api/sessions/${session.id}`, { method: "DELETE", keepalive: true, headers });
  session = null;
}

addEventListener("pagehide", () => {
  left = true;
  if (session) giveBack();
});
addEventListener("pageshow", ({ persisted }) => {
  left = false;
  if (persisted && notebook) tell("The kernel was given back. The next run begins with a new one.");
});

if (cells.length) {
  const bar = document.createElement("div");
  bar.className = "live-head";
  button("Live code", begin, bar);
  status = document.createElement("span");
  status.setAttribute("role", "status");
  bar.append(status);
  document.querySelector(".bd-article h1").after(bar);
}
