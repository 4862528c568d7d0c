// Chapters read and questions answered, stored only in this browser.

{
  const KEY = "svmbook-progress";
  const load = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
  const save = (all) => { try { localStorage.setItem(KEY, JSON.stringify(all)); } catch { /* no storage available */ } };
  const nameOf = (address) => new URL(address, location.href).pathname.match(/notebooks\/(\w+)\.html$/)?.[1];

  const change = (name, update) => {
    const all = load();
    all[name] = update({ read: false, answers: {}, ...all[name] });
    save(all);
  };
  const summary = ({ read, answers = {} } = {}) => {
    const results = Object.values(answers), right = results.filter(Boolean).length;
    return [read ? "read" : "", results.length ? `${right} of ${results.length} right at the first try` : ""]
      .filter(Boolean).join(", ");
  };

  const chapter = nameOf(location.href), article = document.querySelector(".bd-article");
  if (chapter && article?.querySelector("details.quiz")) {
    const line = document.createElement("p"), box = document.createElement("input"), label = document.createElement("label");
    const result = document.createElement("span");
    line.className = "reading";
    box.type = "checkbox";
    box.checked = Boolean(load()[chapter]?.read);
    label.append(box, " I have read this chapter. ");
    const show = () => { result.textContent = summary({ ...load()[chapter], read: false }); };
    box.addEventListener("change", () => change(chapter, (old) => ({ ...old, read: box.checked })));
    document.addEventListener("answered", ({ detail: { number, right } }) => {
      change(chapter, (old) => ({ ...old, answers: { [number]: right, ...old.answers } }));
      show();
    });
    line.append(label, result);
    article.append(line);
    show();
  }

  // The map of the chapters shows the progress.
  const map = document.querySelector(".map-of-chapters");
  if (map && Object.keys(load()).length) {
    const all = load();
    for (const link of map.querySelectorAll("a[href]")) {
      const text = summary(all[nameOf(link.href)]);
      if (!text) continue;
      const mark = document.createElement("span");
      mark.className = "reading";
      mark.textContent = ` ✓ ${text}`;
      link.after(mark);
    }
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "Delete my progress" });
    button.addEventListener("click", () => { localStorage.removeItem(KEY); location.reload(); });
    map.after(button);
  }
}
