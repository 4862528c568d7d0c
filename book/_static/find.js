// The search of the book: it ranks sections by the positions of the query words (see _ext/sections.py).
{
  const query = new URLSearchParams(location.search).get("q")?.trim() ?? "";
  const fold = (text) => text.toLowerCase();
  // Words match with other endings as well: "margins" for "margin", "kernel" for "kernels".
  const stem = (word) => word.replace(/(?<=\w{3})(?:es|s|ing|ed)$/, "");
  const terms = fold(query).split(/\.*[^\p{L}\p{N}_.]+|\.+$/u).filter(Boolean).map(stem);
  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const wordStart = (word) => `(?<![\\p{L}\\p{N}_])${escape(word)}`; // \b does not support Greek
  const phrase = new RegExp(terms.map((word) => `${wordStart(word)}[\\p{L}\\p{N}_]*`).join("[\\s-]+"), "gu");
  const each = terms.map((word) => new RegExp(wordStart(word), "u"));

  const score = ([, , , title, rank, text]) => {
    const head = fold(title), body = fold(text);
    if (!each.every((word) => word.test(head) || word.test(body))) return -Infinity;
    const inTitle = phrase.test(head) ? 12 : each.every((word) => word.test(head)) ? 8 : 0;
    phrase.lastIndex = 0;
    const count = [...body.matchAll(phrase)].length;
    const name = head.split(".").pop() === fold(query) ? 10 : 0; // svmbook.DualSVC for DualSVC
    return inTitle + name + 4 * Math.min(count, 3) + 10 * rank + each.filter((word) => word.test(head)).length;
  };

  const excerpt = (text) => {
    const hit = fold(text).search(phrase);
    const position = hit < 0 ? fold(text).search(each[0]) : hit;
    const start = position < 90 ? 0 : text.indexOf(" ", position - 90) + 1;
    const end = text.length < start + 260 ? text.length : text.lastIndexOf(" ", start + 260);
    return `${start ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  };

  window.findIn = (sections) => {
    for (const field of document.querySelectorAll('input[name="q"]')) field.value = query;
    if (!terms.length) return;
    const found = sections.map((section) => [score(section), section]).filter(([points]) => points > -Infinity);
    found.sort(([a], [b]) => b - a);
    const results = document.getElementById("search-results");
    const status = document.createElement("p");
    status.setAttribute("role", "status");
    status.textContent = found.length ? `${found.length} results.` : "Nothing found.";
    const list = document.createElement("ol");
    list.className = "found";
    for (const [, [page, anchor, chapter, title, , text]] of found.slice(0, 30)) {
      const entry = list.appendChild(document.createElement("li"));
      const link = entry.appendChild(document.createElement("a"));
      link.href = `${page}.html${anchor ? `#${anchor}` : ""}`;
      link.textContent = chapter === title ? title : `${chapter}: ${title}`;
      entry.appendChild(document.createElement("p")).textContent = excerpt(text);
    }
    results.replaceChildren(status, list);
  };
}
