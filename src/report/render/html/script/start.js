// A page comes alive: each run gets its list, and the address says which sample is looked at.

const lists = new Map();

// Lists of a page that was there before keep what was chosen in them.
const enliven = () => {
  const before = new Map([...lists].map(([place, list]) => [place, list.state]));
  lists.clear();
  for (const [place, samples] of read(document)) {
    const section = document.querySelector(`#run-${CSS.escape(place)}`);
    if (!section || samples.rows.length === 0) continue;
    for (const element of section.querySelectorAll(".without")) element.classList.add("on-paper");
    const list = new List(samples, place);
    lists.set(place, list);
    list.home = make("section", { class: "by-script", "aria-label": "Samples" }, make("h3", {}, "Samples"), list.element);
    list.home.id = `samples-${place}`;
    (section.querySelector(":scope > details.run") || section).append(list.home);
    if (samples.rows.some((row) => row[FLIP] === 1)) list.state.filter = "worse";
    else if (samples.rows.some((row) => row[STANDING] === 1 || row[STANDING] === 2)) list.state.order = "failing";
    list.restore(before.get(place));
    list.draw();
    linked(section, list);
  }
  look();
};

// Names of samples in the overview lead to them.
const linked = (section, list) => {
  const numbers = new Map();
  list.samples.rows.forEach((row, number) => numbers.has(row[ID]) || numbers.set(row[ID], number));
  for (const cell of section.querySelectorAll("table.words tbody th")) {
    const number = numbers.get(cell.textContent);
    if (number !== undefined) cell.replaceChildren(make("a", { href: address(list.place, list.samples.rows[number]) }, ...cell.childNodes));
  }
};

let left = null;

// Shows the sample that the address names, or the page.
const look = () => {
  const content = document.getElementById("content");
  const old = document.getElementById("sample");
  if (old) old.remove();
  const [kind, place, epoch, id] = location.hash.slice(1).split("/");
  const list = kind === "sample" ? lists.get(place) : undefined;
  let number = -1;
  try {
    number = list ? list.samples.find(decodeURIComponent(id || ""), Number(epoch)) : -1;
  } catch {
    number = -1;
  }
  if (number < 0) {
    content.hidden = false;
    if (left !== null) window.scrollTo(0, left);
    left = null;
    return;
  }
  if (left === null) left = window.scrollY;
  const samples = list.samples;
  const among = list.found.includes(number) ? list.found : samples.rows.map((row, number) => number);
  const at = among.indexOf(number);
  const to = (label, other) => (other === undefined ? null : make("a", { class: "button", href: address(place, samples.rows[other]) }, label));
  const row = samples.rows[number];
  const title = make("h1", { tabindex: "-1" }, visible(row[ID]), row[EPOCH] > 0 ? `, epoch ${row[EPOCH]}` : "");
  const bar = make("nav", { class: "tools", "aria-label": "Samples" }, make("a", { class: "button", href: `#samples-${place}` }, "Back to the list"), to("Previous", among[at - 1]), to("Next", among[at + 1]));
  const panel = make("main", { id: "sample" }, bar, make("p", { class: "soft" }, `${visible(samples.about.eval)} · ${visible(samples.about.id)}`), title, ...sample(samples, number));
  content.hidden = true;
  content.after(panel);
  window.scrollTo(0, 0);
  title.focus({ preventScroll: true });
};

window.addEventListener("hashchange", look);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.getElementById("sample")) location.hash = document.querySelector("#sample nav a").getAttribute("href").slice(1);
});
