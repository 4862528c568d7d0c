// Live code: the cells of a page become editors, and a kernel of its own runs them.
//
// The server of `make live` adds this module to each page. Thebe (in `vendor`) draws editors and outputs
// and communicates with the kernel; this module adds buttons, waits for a kernel, and returns it.

const VENDOR = "/live/vendor/", CAPACITY = "/live/capacity", RETRY_DELAY = 3000; // milliseconds
const cells = [...document.querySelectorAll(".bd-article div.cell")].filter((cell) => cell.querySelector(".cell_input pre"));
let notebook = null, server = null, session = null, status = null, pendingKernel = null, hasLeft = false, hasDied = false;

const KERNEL_DIED = "The kernel has died and was restarted. All variables are lost: run the cells above again.";

const cookie = (name) => document.cookie.match(`(?:^|; )${name}=([^;]*)`)?.[1] ?? "";
const pause = (time) => new Promise((done) => setTimeout(done, time));
const setStatus = (message) => { status.textContent = message; };

function addButton(label, onClick, parent) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: label });
  button.addEventListener("click", onClick);
  parent.append(button);
  return button;
}

/** Load Thebe and the Markdown renderer. */
async function loadLibraries() {
  const style = document.createElement("link");
  Object.assign(style, { rel: "stylesheet", href: `${VENDOR}thebe.css` });
  document.head.prepend(style);
  await Promise.all(["thebe.js", "markdown-it.js"].map((name) => new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: VENDOR + name, onload: done, onerror: failed });
    document.head.append(script);
  })));
}

/** Render Markdown outputs, which Thebe shows as plain text, and their formulas. */
async function renderMarkdown(output) {
  for (const box of output.querySelectorAll('[data-mime-type="text/markdown"]')) {
    const formulas = [];
    const source = box.textContent.replace(/\$([^$]+)\$/g, (_, formula) => `\uE000${formulas.push(formula) - 1}\uE001`);
    const html = window.markdownit().render(source);
    box.innerHTML = html.replace(/\uE000(\d+)\uE001/g, '<span class="math">$1</span>');
    box.querySelectorAll(".math").forEach((span) => { span.textContent = `\\(${formulas[span.textContent]}\\)`; });
    box.querySelectorAll("table").forEach((table) => table.classList.add("table"));
    if (formulas.length) await window.MathJax?.typesetPromise?.([box]);
  }
}

/** Mark the code and the output of a cell for Thebe; the stored output stays until the cell runs. */
function markCell(cell) {
  const code = cell.querySelector(".cell_input pre");
  code.dataset.executable = "";
  let output = cell.querySelector(".cell_output");
  if (!output) {
    output = document.createElement("div");
    output.className = "cell_output";
    cell.append(output);
  }
  // Thebe would overwrite the stored output, so the new output gets an element of its own.
  const liveOutput = document.createElement("div");
  liveOutput.className = "live-output";
  liveOutput.dataset.output = "";
  output.after(liveOutput);
}

/** Return null if another page was faster to take the last free kernel; rethrow other errors. */
function ignoreUnavailable(error) {
  if (error.response?.status !== 503) throw error;
  return null;
}

/** Wait for a free kernel and attach it to the cells; concurrent calls share one request. */
function acquireKernel() {
  pendingKernel ??= waitForKernel().finally(() => { pendingKernel = null; });
  return pendingKernel;
}

async function waitForKernel() {
  await server.ready;
  const name = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(16)).join("");
  for (;;) {
    const response = await fetch(CAPACITY);
    if (!response.ok || response.redirected) throw new Error("you are no longer logged in: reload the page");
    const { n_kernels: nKernels, max_kernels: maxKernels } = await response.json();
    if (nKernels < maxKernels) {
      const path = `${location.pathname.slice(1)}-${name}.ipynb`;
      session = await server.startNewSession(notebook.rendermime, { kernelName: "python3", path }).catch(ignoreUnavailable);
      if (session && hasLeft) releaseKernel();
      if (session) return attach();
    }
    setStatus(`All ${maxKernels} kernels are in use. You are waiting for one.`);
    await pause(RETRY_DELAY * (0.5 + Math.random()));
  }
}

/** Attach the kernel to the cells, and report if it dies; the server then restarts it. */
function attach() {
  hasDied = false;
  session.kernel.statusChanged.connect((_, kernelStatus) => {
    if (!["autorestarting", "restarting"].includes(kernelStatus) || document.querySelector(".live-restarting")) return;
    hasDied = true;
    clearMarks();
    setStatus(KERNEL_DIED);
  });
  return notebook.attachSession(session);
}

/** Mark all cells as not run in the current kernel. */
function clearMarks() {
  for (const cell of cells) cell.classList.remove("live-ran", "live-busy");
}

/** Show why the server has ended a kernel, if it gives a reason. */
async function showReason(kernel) {
  const capacity = await fetch(CAPACITY).then((response) => response.json()).catch(() => ({}));
  const reason = capacity.end_reasons?.[kernel];
  setStatus(`The kernel was ended${reason ? `: ${reason}` : ""}. All variables are lost. The next run starts a new kernel.`);
}

/** Wrap an action so that its errors are shown in the status. */
const reportErrors = (action) => async (...args) => {
  try {
    return await action(...args);
  } catch (error) {
    cells.forEach((cell) => cell.classList.remove("live-busy"));
    setStatus(`This failed: ${error.message ?? error}. Reload the page, or check that the server is running.`);
    return false;
  }
};

/** Run cells one after the other, up to the first error. */
const run = reportErrors(async (indices) => {
  for (const k of indices) {
    const cell = cells[k];
    cell.classList.add("live-busy");
    if (!session) await acquireKernel();
    setStatus(`Running cell ${k + 1} of ${cells.length} ...`);
    hasDied = false;
    const result = await notebook.cells[k].execute(notebook.cells[k].source);
    cell.classList.remove("live-busy");
    if (hasDied) {
      setStatus(KERNEL_DIED);
      return false;
    }
    cell.classList.add("live-ran");
    await renderMarkdown(cell.querySelector(".live-output"));
    if (!result || result.error) {
      setStatus(`Cell ${k + 1} ended with an error.`);
      return false;
    }
  }
  setStatus("Ready.");
  return true;
});

const restart = reportErrors(async () => {
  setStatus("Restarting ...");
  status.classList.add("live-restarting");
  try {
    await (session ? session.restart() : acquireKernel());
  } finally {
    status.classList.remove("live-restarting");
  }
  clearMarks();
  notebook.cells.forEach((cell) => cell.clear());
  setStatus("Restarted: no cell has been run.");
});

/** Stop the running cell; the kernel keeps its variables. */
const interrupt = reportErrors(async () => {
  await session?.kernel?.interrupt();
});

/** Add the buttons of a cell and configure its editor. */
function equipCell(cell, k) {
  const bar = document.createElement("div");
  bar.className = "live-bar";
  addButton("Run", () => run([k]), bar).title = "Shift and Enter in the code";
  if (k > 0) addButton("Run all above", () => run([...Array(k).keys()]), bar);
  cell.querySelector(".thebe-cell").append(bar);
  // Tab moves the focus, as everywhere on the page; Thebe would indent the code.
  const editor = cell.querySelector(".CodeMirror").CodeMirror;
  editor.setOption("extraKeys", { Tab: false, "Shift-Tab": false, "Shift-Enter": () => { if (document.documentElement.dataset.live) run([k]); } });
  editor.getInputField().setAttribute("aria-label", `Code of cell ${k + 1}`);
}

async function start(target) {
  setStatus("Loading the editors ...");
  await loadLibraries();
  cells.forEach(markCell);
  ({ notebook, server } = await window.thebe.bootstrap({
    selector: "[data-executable]", outputSelector: "[data-output]", requestKernel: false, useBinder: false,
    useJupyterLite: false, mathjaxUrl: false, mountRunButton: false, mountRunAllButton: false,
    mountRestartButton: false, mountRestartAllButton: false, mountActivateWidget: false, mountStatusWidget: false,
    serverSettings: { baseUrl: location.origin, appendToken: false, token: "" },
    savedSessionOptions: { enabled: false },
    codeMirrorConfig: { lineNumbers: false, theme: "default" },
  }));
  cells.forEach(equipCell);
  window.thebe.on("status", (_, { subject, status: sessionStatus }) => {
    // Thebe also reports a shutdown if it does not know the state, so the kernel itself is checked.
    const isLost = !session?.kernel || session.kernel.isDisposed || ["dead", "terminating"].includes(session.kernel.status);
    if (subject !== "session" || sessionStatus !== "shutdown" || !session || !isLost) return;
    const { kernel } = session;
    session = null;
    clearMarks();
    showReason(kernel?.id);
  });
  setStatus("Waiting for a kernel ...");
  await acquireKernel();
  target.remove();
  addButton("Run all", () => run([...cells.keys()]), status.parentElement).focus();
  addButton("Stop", interrupt, status.parentElement).title = "Stops the running cell; all variables are kept";
  addButton("Restart", restart, status.parentElement);
  document.documentElement.dataset.live = "ready";
  setStatus("Ready. Change a cell and run it; run the cells above it first.");
}

async function begin({ target }) {
  target.disabled = true;
  if (await reportErrors(start)(target) === false) target.disabled = false;
}

/** Return the kernel to the server. */
function releaseKernel() {
  const headers = { "X-XSRFToken": cookie("_xsrf") };
  fetch(`/api/sessions/${session.id}`, { method: "DELETE", keepalive: true, headers });
  session = null;
}

addEventListener("pagehide", () => {
  hasLeft = true;
  if (session) releaseKernel();
});
addEventListener("pageshow", ({ persisted }) => {
  hasLeft = false;
  if (persisted && notebook) setStatus("The kernel was released. The next run starts a new kernel.");
});

if (cells.length) {
  const bar = document.createElement("div");
  bar.className = "live-head";
  addButton("Live code", begin, bar);
  status = document.createElement("span");
  status.setAttribute("role", "status");
  bar.append(status);
  document.querySelector(".bd-article h1").after(bar);
}
