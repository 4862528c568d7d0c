// The search of the book: it ranks sections by their words (see _ext/section_index.py and words.js).
{
  const { WORD, plain, stem, stems } = window.words;
  // How much a word in a title counts, compared with one in the text, and the other sections of a page.
  const TITLE_WEIGHT = 5, PAGE_TITLE_WEIGHT = 1.5, PAGE_WEIGHT = 0.3;
  const MAX_RESULTS = 30;
  // Other names for what the book calls differently, separated by commas, by their stems.
  const SYNONYMS = new Map(Object.entries({
    anomaly: "outlier, one-class", auc: "roc", cv: "cross-validation", derivative: "gradient, subgradient, slope",
    gam: "additive model", imbalanced: "unequal", interpretable: "read", knn: "nearest neighbour",
    novelty: "outlier, one-class", ovo: "one-vs-one", ovr: "one-vs-rest", qp: "quadratic program", rbf: "gaussian",
    slow: "time", unbalanced: "unequal", which: "choose",
  }).map(([name, others]) => [plain(name), others.split(", ").map((other) => stems(other).join(" "))]));
  const field = (words) => ` ${words.join(" ")} `; // in which a phrase is a substring
  let sections = [], vocabulary = new Set();

  const count = (text, phrase) => {
    let found = 0;
    for (let at = text.indexOf(` ${phrase} `); at >= 0; at = text.indexOf(` ${phrase} `, at + 1)) found++;
    return found;
  };

  /** Return a word, or its two parts if only these are in the book: crossvalidation. */
  const parts = (word) => {
    const text = plain(word);
    if (!stem(word) || vocabulary.has(stem(word))) return [word];
    for (let cut = 3; cut <= text.length - 3; cut++) {
      const two = [text.slice(0, cut), text.slice(cut)], phrase = two.map(stem).join(" ");
      if (sections.some((section) => count(section.text, phrase))) return two;
    }
    return [word];
  };

  /** Return the words of the book that begin like a word that it does not contain. */
  const completions = (word) => {
    const start = plain(word);
    return start.length < 3 ? [] : [...vocabulary].filter((other) => other.startsWith(start));
  };

  /** Return the phrases that count as each word of a query. */
  const alternatives = (query) => {
    const queryWords = (query.match(WORD) ?? []).flatMap(parts).filter((word) => stem(word) || SYNONYMS.has(plain(word)));
    const units = queryWords.map((word) => {
      const phrases = new Set([stem(word), ...SYNONYMS.get(plain(word)) ?? []].filter(Boolean));
      if (![...phrases].some((phrase) => vocabulary.has(phrase.split(" ")[0]))) {
        for (const other of completions(word)) phrases.add(other);
      }
      return phrases;
    });
    queryWords.slice(1).forEach((word, k) => { // over-fitting, predict proba
      const joined = stem(queryWords[k] + word);
      if (vocabulary.has(joined)) for (const unit of [units[k], units[k + 1]]) unit.add(joined);
    });
    return units.map((phrases) => [...phrases]);
  };

  /** Return how often a section contains one of several phrases, with more weight for its titles. */
  const frequency = ({ title, pageTitle, text }, phrases) => phrases.reduce((sum, phrase) => sum
    + TITLE_WEIGHT * count(title, phrase) + PAGE_TITLE_WEIGHT * count(pageTitle, phrase) + count(text, phrase), 0);

  /** Return the sections that contain the words of a query, best first (BM25 with pairs of words). */
  const rank = (query, units) => {
    const pairs = units.slice(1).map((unit, k) => units[k].flatMap((a) => unit.map((b) => `${a} ${b}`)));
    const terms = [...units, ...pairs].map((phrases) => {
      const found = sections.map((section) => frequency(section, phrases));
      const share = (found.filter(Boolean).length + 0.5) / (sections.length + 1);
      return { found, information: -Math.log(share) };
    });
    const total = terms.slice(0, units.length).reduce((sum, { information }) => sum + information, 0);
    const sentence = query.trim().toLowerCase(), isSentence = sentence.split(" ").length > units.length;
    const name = field(units.map(([first]) => first));
    const scored = sections.map((section, k) => {
      let points = 0, covered = 0;
      terms.forEach(({ found, information }, number) => {
        if (!found[k]) return;
        points += information * found[k] / (found[k] + section.damping);
        if (number < units.length) covered += information / total;
      });
      const inTitle = units.filter((phrases) => phrases.some((phrase) => count(section.title, phrase))).length;
      points += 2 * inTitle / Math.max(section.titleLength, units.length);
      if (section.name === name) points += 10;
      if (isSentence && section.entry[3].toLowerCase().includes(sentence)) points += 4; // with stop words: what is a support vector
      return { section, covered, points: points * covered ** 2 * section.weight };
    });
    // A section counts more if its page has other sections about the query.
    const pages = new Map();
    for (const { section, points } of scored) pages.set(section.page, (pages.get(section.page) ?? 0) + points);
    const maxPoints = Math.max(...pages.values());
    for (const item of scored) item.points *= 1 + PAGE_WEIGHT * pages.get(item.section.page) / maxPoints;
    const minCovered = Math.max(...scored.map(({ covered }) => covered)) / 2;
    return scored.filter(({ covered }) => covered > minCovered).sort((a, b) => b.points - a.points).map(({ section }) => section);
  };

  /** Return the words in a text that a query found, as pairs of position and word. */
  const hits = (text, wanted) => [...text.matchAll(WORD)].filter(([word]) => wanted.has(stem(word)));

  const excerpt = (text, wanted) => {
    const starts = hits(text, wanted).map(({ index }) => index), LENGTH = 260, BEFORE = 90;
    const nearbyCounts = starts.map((at) => new Set(
      hits(text.slice(at, at + LENGTH - BEFORE), wanted).map(([word]) => stem(word))).size);
    const position = starts[nearbyCounts.indexOf(Math.max(...nearbyCounts))] ?? 0;
    const start = position < BEFORE ? 0 : text.indexOf(" ", position - BEFORE) + 1;
    const end = text.length < start + LENGTH ? text.length : text.lastIndexOf(" ", start + LENGTH);
    return `${start ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  };

  /** Append a text with the found words marked. */
  const appendMarked = (parent, text, wanted) => {
    let end = 0;
    for (const { 0: word, index } of hits(text, wanted)) {
      parent.append(text.slice(end, index));
      parent.appendChild(document.createElement("mark")).textContent = word;
      end = index + word.length;
    }
    parent.append(text.slice(end));
  };

  const result = ({ entry: [page, anchor, pageTitle, title, , text] }, wanted) => {
    const item = document.createElement("li"), link = item.appendChild(document.createElement("a"));
    const found = new Set(hits(`${title} ${text}`, wanted).map(([word]) => word.toLowerCase()));
    link.href = `${page}.html?${new URLSearchParams({ found: [...found].join(" ") })}${anchor ? `#${anchor}` : ""}`;
    appendMarked(link, pageTitle === title ? title : `${pageTitle}: ${title}`, wanted);
    appendMarked(item.appendChild(document.createElement("p")), excerpt(text, wanted), wanted);
    return item;
  };

  const show = (query) => {
    const units = alternatives(query), results = document.getElementById("search-results");
    if (!units.length) return results.replaceChildren();
    const found = rank(query, units), wanted = new Set(units.flat().flatMap((phrase) => phrase.split(" ")));
    const status = document.createElement("p"), list = document.createElement("ol");
    status.setAttribute("role", "status");
    status.textContent = !found.length ? "Nothing found."
      : found.length > MAX_RESULTS ? `The first ${MAX_RESULTS} of ${found.length} results.` : `Results: ${found.length}.`;
    list.className = "found";
    list.append(...found.slice(0, MAX_RESULTS).map((section) => result(section, wanted)));
    results.replaceChildren(status, list);
  };

  /** Split the entries of the index into words, which takes some time. */
  const prepare = (entries) => {
    sections = entries.map((entry) => {
      const [page, , pageTitle, title, weight, text] = entry, inTitle = stems(title), inText = stems(text);
      return {
        entry, weight, page, title: field(inTitle), pageTitle: field(stems(pageTitle)), text: field(inText),
        name: field(stems(title.split(".").pop())), // DualSVC for svmbook.DualSVC
        titleLength: inTitle.length, length: inText.length,
      };
    });
    const mean = sections.reduce((sum, { length }) => sum + length, 0) / sections.length;
    for (const section of sections) section.damping = 1.2 * (0.4 + 0.6 * section.length / mean);
    vocabulary = new Set(sections.flatMap(({ title, text }) => `${title}${text}`.split(" ")));
    vocabulary.delete("");
  };

  window.searchIn = (entries) => {
    const search = (query) => {
      if (query && !sections.length) prepare(entries);
      show(query);
    };
    const query = new URLSearchParams(location.search).get("q")?.trim() ?? "";
    for (const input of document.querySelectorAll('input[name="q"]')) {
      input.value = query;
      input.addEventListener("input", () => {
        search(input.value);
        history.replaceState(null, "", `?${new URLSearchParams({ q: input.value })}`);
      });
    }
    search(query);
  };
}
