// Turn the questions of "Check yourself" into interactive choices with immediate feedback.
//
// Without scripts, and in a notebook, a question is a folded list of choices with the right one first.
// Here the choices become buttons in a shuffled order. The result of the first try is sent to
// progress.js.

{
  const hash = (text) => [...text].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 9973, 7);

  /** Give a button with only a formula a name in words, since some screen readers skip formulas. */
  function nameInWords(button, number) {
    const copy = button.cloneNode(true), name = document.createElement("span");
    copy.querySelectorAll(".math").forEach((formula) => formula.remove());
    if (copy.textContent.trim()) return;
    Object.assign(name, { className: "visually-hidden", textContent: `Choice ${number}, a formula: ` });
    button.prepend(name);
  }

  function choice(term, reason, isRight, onAnswer) {
    const item = document.createElement("li"), button = document.createElement("button");
    const feedback = document.createElement("div"), verdict = document.createElement("strong");
    button.type = "button";
    term.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes)); // glossary links
    button.append(...term.childNodes);
    feedback.className = "reason";
    feedback.hidden = true;
    verdict.textContent = isRight ? "Right. " : "Wrong. ";
    feedback.append(...reason.childNodes);
    (feedback.querySelector("p") ?? feedback).prepend(verdict);
    button.addEventListener("click", () => {
      feedback.hidden = false;
      item.className = isRight ? "right" : "wrong";
      onAnswer(isRight);
    });
    item.append(button, feedback);
    return item;
  }

  document.querySelectorAll("details.quiz").forEach((quiz, number) => {
    const list = quiz.querySelector("dl"), choices = document.createElement("ul");
    const terms = [...list.querySelectorAll("dt")], reasons = [...list.querySelectorAll("dd")];
    let isFirst = true;
    const onAnswer = (right) => {
      if (isFirst) document.dispatchEvent(new CustomEvent("answered", { detail: { number, right } }));
      isFirst = false;
    };
    const items = terms.map((term, k) => [hash(term.textContent), choice(term, reasons[k], k === 0, onAnswer)]);
    items.sort(([a], [b]) => a - b);
    items.forEach(([, item], k) => nameInWords(item.firstChild, k + 1));
    choices.setAttribute("aria-live", "polite");
    choices.append(...items.map(([, item]) => item));
    list.replaceWith(choices);
    quiz.open = true;
  });
}
