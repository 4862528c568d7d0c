// Questions of "Check yourself" become choices: each is answered at once, with a reason.
//
// Without scripts, and in a notebook, a question is a fold with its answers, the right one first. Here
// the answers become buttons, the right one anywhere among them. What was answered at the first try
// is told to progress.js.

{
  const order = (text) => [...text].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 9973, 7);

  /** A button wants words for its name: not every reader of screens makes one of a formula. */
  function nameInWords(button, number) {
    const copy = button.cloneNode(true), word = document.createElement("span");
    copy.querySelectorAll(".math").forEach((formula) => formula.remove());
    if (copy.textContent.trim()) return;
    Object.assign(word, { className: "visually-hidden", textContent: `Choice ${number}, a formula: ` });
    button.prepend(word);
  }

  function choice(term, reason, right, answered) {
    const item = document.createElement("li"), button = document.createElement("button");
    const told = document.createElement("div"), verdict = document.createElement("strong");
    button.type = "button";
    term.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes)); // of the glossary
    button.append(...term.childNodes);
    told.className = "reason";
    told.hidden = true;
    verdict.textContent = right ? "Right. " : "Not so. ";
    told.append(...reason.childNodes);
    (told.querySelector("p") ?? told).prepend(verdict);
    button.addEventListener("click", () => {
      told.hidden = false;
      item.className = right ? "right" : "wrong";
      answered(right);
    });
    item.append(button, told);
    return item;
  }

  document.querySelectorAll("details.quiz").forEach((quiz, number) => {
    const list = quiz.querySelector("dl"), choices = document.createElement("ul");
    const terms = [...list.querySelectorAll("dt")], reasons = [...list.querySelectorAll("dd")];
    let first = true;
    const answered = (right) => {
      if (first) document.dispatchEvent(new CustomEvent("answered", { detail: { number, right } }));
      first = false;
    };
    const items = terms.map((term, k) => [order(term.textContent), choice(term, reasons[k], k === 0, answered)]);
    items.sort((one, other) => one[0] - other[0]);
    items.forEach(([, item], k) => nameInWords(item.firstChild, k + 1));
    choices.setAttribute("aria-live", "polite");
    choices.append(...items.map(([, item]) => item));
    list.replaceWith(choices);
    quiz.open = true;
  });
}
