// What a reader has read and answered, kept in this browser and nowhere else.

{
  const KEY = "svmbook-progress";
  const load = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
  const save = (all) => { try { localStorage.setItem(KEY, JSON.stringify(all)); } catch { /* a browser that keeps nothing */ } };
  const nameOf = (address) => new URL(address, location.href).pathname.match(/notebooks\/(\w+)\.html$/)?.[1];

  const change = (name, make) => {
    const all = load();
    all[name] = make({ read: false, answers: {}, ...all[name] });
    save(all);
  };
  const told = ({ read, answers = {} } = {}) => {
    const given = Object.values(answers), right = given.filter(Boolean).length;
    return [read ? "read" : "", given.length ? `${right} of ${given.length} right at once` : ""].filter(Boolean).join(", ");
  };

  const here = nameOf(location.href), article = document.querySelector(".bd-article");
  if (here && article?.querySelector("details.quiz")) {
    const line = document.createElement("p"), box = document.createElement("input"), label = document.createElement("label");
    const result = document.createElement("span");
    line.className = "reading";
    box.type = "checkbox";
    box.checked = Boolean(load()[here]?.read);
    label.append(box, " I have read this chapter. ");
    const show = () => { result.textContent = told({ ...load()[here], read: false }); };
    box.addEventListener("change", () => change(here, (was) => ({ ...was, read: box.checked })));
    document.addEventListener("answered", ({ detail: { number, right } }) => {
      change(here, (was) => ({ ...was, answers: { [number]: right, ...was.answers } }));
      show();
    });
    line.append(label, result);
    article.append(line);
    show();
  }

  // The map of the book shows it.
  const map = document.querySelector(".map-of-chapters");
  if (map && Object.keys(load()).length) {
    const all = load();
    for (const link of map.querySelectorAll("a[href]")) {
      const words = told(all[nameOf(link.href)]);
      if (!words) continue;
      const mark = document.createElement("span");
      mark.className = "reading";
      mark.textContent = ` ✓ ${words}`;
      link.after(mark);
    }
    const forget = document.createElement("button");
    Object.assign(forget, { type: "button", textContent: "Forget my progress" });
    forget.addEventListener("click", () => { localStorage.removeItem(KEY); location.reload(); });
    map.after(forget);
  }
}
