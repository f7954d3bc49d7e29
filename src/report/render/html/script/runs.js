// The table of an eval's runs: filtered by the values of its columns and by text, and two of its runs compared.

// What was chosen stays when the page is read again.
const choices = new Map();

class RunTable {
  constructor(element, choice) {
    this.choice = choice;
    this.rows = [...element.querySelectorAll("tbody tr")];
    this.count = make("p", { class: "soft", role: "status", "aria-live": "polite" });
    const change = () => this.draw();
    const field = (name, input) => {
      input.value = this.choice.values[name] || "";
      this.choice.values[name] = input.value;
      input.addEventListener("input", () => {
        this.choice.values[name] = input.value;
        change();
      });
      return make("span", { class: "field" }, make("label", { for: input.id }, `${name} `), input);
    };
    const columns = element.dataset.filter.split(" ").map((head) => [head, [...new Set(this.rows.map((row) => this.value(row, head)))].sort()]);
    const selects = columns.filter(([, values]) => values.length > 1).map(([head, values]) => field(head, make("select", { id: `by-${head}` }, make("option", { value: "" }, "all"), ...values.map((value) => make("option", { value }, visible(value))))));
    const search = field("Search", make("input", { id: "by-text", type: "search", autocomplete: "off", spellcheck: "false" }));
    this.button = make("button", { type: "button", id: "compare", on: { click: () => this.compare() } }, "Compare two runs");
    for (const row of this.rows) {
      const id = this.id(row);
      const box = make("input", { type: "checkbox", id: `compare-${id}`, "aria-label": `Compare ${row.cells[0].textContent}`, checked: this.choice.runs.has(id) });
      box.addEventListener("change", () => {
        if (box.checked) this.choice.runs.add(id);
        else this.choice.runs.delete(id);
        change();
      });
      row.cells[0].prepend(box, " ");
    }
    element.prepend(make("div", { class: "tools" }, search, ...selects, this.button), this.count);
    this.draw();
  }

  // The run of a row, as addresses have it.
  id(row) {
    return row.cells[0].querySelector("a").getAttribute("href").slice("#run/".length);
  }

  value(row, head) {
    const cell = row.querySelector(`td[data-label="${head}"]`);
    return cell ? cell.textContent : "-";
  }

  // The older one is A. Rows begin with the newest.
  compare() {
    const [b, a] = this.rows.map((row) => this.id(row)).filter((id) => this.choice.runs.has(id));
    location.hash = `compare/${a}/${b}`;
  }

  draw() {
    const { Search: search = "", ...values } = this.choice.values;
    const wanted = search.trim().toLowerCase();
    for (const row of this.rows) {
      const fits = Object.entries(values).every(([head, value]) => value === "" || this.value(row, head) === value);
      row.hidden = !(fits && row.textContent.toLowerCase().includes(wanted));
    }
    const [shown, ticked] = [this.rows.filter((row) => !row.hidden).length, this.rows.filter((row) => this.choice.runs.has(this.id(row))).length];
    this.button.disabled = ticked !== 2;
    this.count.textContent = `${shown} of ${this.rows.length} runs${ticked === 0 ? ". Tick two to compare them." : `, ${ticked} ticked.`}`;
  }
}

const enlivenRuns = (page) => {
  for (const element of document.querySelectorAll("[data-filter]")) {
    if (!choices.has(page)) choices.set(page, { values: {}, runs: new Set() });
    new RunTable(element, choices.get(page));
  }
};
