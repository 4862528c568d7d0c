// The search of the book: it ranks sections by where the words stand (see _ext/sections.py).
{
  const query = new URLSearchParams(location.search).get("q")?.trim() ?? "";
  const fold = (text) => text.toLowerCase();
  // A word is found with other endings as well: "margins" for "margin", "machine" for "machines".
  const stem = (word) => word.replace(/(?<=\w{3})(?:es|s|ing|ed)$/, "");
  const terms = fold(query).split(/\.*[^\p{L}\p{N}_.]+|\.+$/u).filter(Boolean).map(stem);
  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const begins = (word) => `(?<![\\p{L}\\p{N}_])${escape(word)}`; // \b knows no Greek
  const phrase = new RegExp(terms.map((word) => `${begins(word)}[\\p{L}\\p{N}_]*`).join("[\\s-]+"), "gu");
  const each = terms.map((word) => new RegExp(begins(word), "u"));

  const score = ([, , , title, rank, text]) => {
    const head = fold(title), body = fold(text);
    if (!each.every((word) => word.test(head) || word.test(body))) return -Infinity;
    const inTitle = phrase.test(head) ? 12 : each.every((word) => word.test(head)) ? 8 : 0;
    phrase.lastIndex = 0;
    const times = [...body.matchAll(phrase)].length;
    const name = head.split(".").pop() === fold(query) ? 10 : 0; // svmbook.DualSVC for DualSVC
    return inTitle + name + 4 * Math.min(times, 3) + 10 * rank + each.filter((word) => word.test(head)).length;
  };

  const excerpt = (text) => {
    const hit = fold(text).search(phrase);
    const at = hit < 0 ? fold(text).search(each[0]) : hit;
    const start = at < 90 ? 0 : text.indexOf(" ", at - 90) + 1;
    const end = text.length < start + 260 ? text.length : text.lastIndexOf(" ", start + 260);
    return `${start ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  };

  window.findIn = (sections) => {
    for (const field of document.querySelectorAll('input[name="q"]')) field.value = query;
    if (!terms.length) return;
    const found = sections.map((one) => [score(one), one]).filter(([points]) => points > -Infinity);
    found.sort(([a], [b]) => b - a);
    const results = document.getElementById("search-results");
    const count = document.createElement("p");
    count.setAttribute("role", "status");
    count.textContent = found.length ? `${found.length} places found.` : "Nothing found.";
    const list = document.createElement("ol");
    list.className = "found";
    for (const [, [page, anchor, chapter, title, , text]] of found.slice(0, 30)) {
      const entry = list.appendChild(document.createElement("li"));
      const link = entry.appendChild(document.createElement("a"));
      link.href = `${page}.html${anchor ? `#${anchor}` : ""}`;
      link.textContent = chapter === title ? title : `${chapter}: ${title}`;
      entry.appendChild(document.createElement("p")).textContent = excerpt(text);
    }
    results.replaceChildren(count, list);
  };
}
