// Typeset the formulas, fit the text of each slide into its frame, and start reveal.js.
const MAX_FONT_SIZE = 30, MIN_FONT_SIZE = 16; // pixels, on a slide of 1280 x 720

// Formulas reach a little beyond the height of their own box, so only boxes around them are measured.
function overflows(frame) {
  const wide = [...frame.querySelectorAll("*:not(mjx-container *)")].some(box => box.scrollWidth > box.clientWidth + 1 && box.clientWidth);
  const boxes = [frame, ...frame.querySelectorAll(".below, .beside, .shown, figure")];
  return wide || boxes.some(box => box.scrollHeight > box.clientHeight + 1);
}

function fit(frame) {
  for (let size = MAX_FONT_SIZE; size >= MIN_FONT_SIZE; size--) {
    frame.style.fontSize = `${size}px`;
    if (!overflows(frame)) return;
  }
  frame.classList.add("overflowing");
}

async function start() {
  await MathJax.startup.promise;
  await document.fonts.ready;
  await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
  document.querySelectorAll(".frame").forEach(fit);
  document.body.classList.remove("fitting");
  await Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false, hash: true, controls: false, slideNumber: "c/t",
    transition: "none", pdfMaxPagesPerSlide: 1, plugins: [RevealNotes],
  });
}

start();
