// The list of samples: filtered, searched, sorted, a hundred rows at a time.

const ROWS = 100;
// Key, label (or the place of its word), and which rows it has.
const FILTERS = [
  ["all", "All", () => true],
  ["flipped", "Flipped", (row) => row[FLIP] > 0],
  ["worse", 5, (row) => row[FLIP] === 1],
  ["wrong", 1, (row) => row[STANDING] === 1],
  ["error", "Errors", (row) => row[STANDING] === 2],
  ["correct", 0, (row) => row[STANDING] === 0],
  ["other", "Not scored", (row) => row[STANDING] > 2],
];
const ORDERS = [
  ["dataset", "as in the dataset", null],
  ["failing", "failing first", (row) => [3, 1, 0, 4, 5][row[STANDING]] - (row[FLIP] === 1 ? 2 : 0)],
  ["slow", "slowest first", (row) => -(row[SECONDS] || 0)],
  ["dear", "most expensive first", (row) => -(row[COST] || 0)],
  ["tokens", "most tokens first", (row) => -(row[TOKENS] || 0)],
  ["score", "lowest score first", (row) => (row[SCORE] === null ? 2 : row[SCORE])],
  ["id", "by name", (row) => row[ID]],
];

const asked = (texts) => (texts.f ? texts.q.slice(texts.f[0], texts.f[0] + texts.f[1]) : texts.q || "");
const answered = (row, texts) => (texts.x && row[STANDING] === 2 ? texts.x.message : texts.p !== undefined ? texts.p : texts.a);
// A reason that is a name, such as part_wrong, in words.
const worded = (why) => visible(/[ :]/.test(why) ? why : why.replaceAll("_", " "));
const short = (value) => (value === undefined ? null : cut(shown(value), 140));
const verdict = (row, texts, words) => [make("span", { class: CLASSES[row[STANDING]] }, words[row[STANDING]]), row[FLIP] ? " " : null, changed(row, words), row[WHY] ? make("span", { class: "soft" }, ` ${worded(row[WHY])}`) : null];
const hasTexts = (samples) => !samples.about.masked;
// Where items are judged, nothing was expected, and the text that is judged is the item.
const hasAnswers = (samples) => hasTexts(samples) && samples.words === WORDS;
const titled = (word) => word[0].toUpperCase() + word.slice(1);
const has = (column) => (samples) => samples.rows.some((row) => row[column] !== null);
// Columns after the name of a sample: head, class, content, and whether there is any.
const COLUMNS = [
  ["question", "", (row, texts) => short(asked(texts)), hasTexts],
  ["expected", "", (row, texts) => short(texts.e), hasAnswers],
  ["got", "", (row, texts) => short(answered(row, texts)), hasAnswers],
  ["verdict", "", verdict, () => true],
  ["time", "n", (row) => duration(row[SECONDS]), has(SECONDS)],
  ["cost", "n", (row) => price(row[COST]), has(COST)],
];

class List {
  constructor(samples, place) {
    this.samples = samples;
    this.place = place;
    this.state = { filter: "all", slice: "", search: "", order: "dataset", from: 0 };
    this.found = [];
    this.element = this.built();
  }

  built() {
    const name = (what) => `${what}-${this.place}`;
    this.buttons = new Map();
    const buttons = FILTERS.filter(([key, , holds]) => key === "all" || this.samples.rows.some(holds)).map(([key, label, holds]) => {
      const count = this.samples.rows.reduce((sum, row) => sum + (holds(row) ? 1 : 0), 0);
      const button = make("button", { type: "button", "aria-pressed": String(key === "all"), on: { click: () => this.change({ filter: key }) } }, `${typeof label === "number" ? titled(this.samples.words[label]) : label} ${count}`);
      this.buttons.set(key, button);
      return button;
    });
    const options = (values) => values.map(([key, label]) => make("option", { value: key }, visible(label)));
    const slices = this.samples.about.slices;
    this.slice = make("select", { id: name("slice"), on: { change: () => this.change({ slice: this.slice.value }) } }, ...options([["", "all"], ...slices.map((slice, number) => [String(number), slice])]));
    this.order = make("select", { id: name("order"), on: { change: () => this.change({ order: this.order.value }) } }, ...options(ORDERS));
    let waits;
    const searched = () => {
      clearTimeout(waits);
      waits = setTimeout(() => this.change({ search: this.search.value }), 150);
    };
    this.search = make("input", { id: name("search"), type: "search", autocomplete: "off", spellcheck: "false", on: { input: searched } });
    this.count = make("p", { class: "soft", role: "status", "aria-live": "polite" });
    this.body = make("tbody");
    this.pager = make("p", { class: "pager" });
    const field = (label, input) => make("span", { class: "field" }, make("label", { for: input.id }, `${label} `), input);
    this.columns = COLUMNS.filter(([, , , has]) => has(this.samples));
    const heads = [["sample", ""], ...this.columns].map(([head, kind]) => make("th", { scope: "col", class: kind || null }, head));
    return make("div", { class: "list" }, make("div", { class: "tools", role: "group", "aria-label": "Which samples" }, ...buttons), make("div", { class: "tools" }, field("Search", this.search), slices.length ? field("Slice", this.slice) : null, field("Order", this.order)), this.count, make("div", { class: "wide" }, make("table", { class: "samples" }, make("thead", {}, make("tr", {}, ...heads)), this.body)), this.pager);
  }

  restore(state) {
    if (state) this.state = state;
    if (!this.buttons.has(this.state.filter)) this.state.filter = "all";
    [this.order.value, this.search.value, this.slice.value] = [this.state.order, this.state.search, this.state.slice];
  }

  change(what) {
    this.state = { ...this.state, from: 0, ...what };
    this.draw();
  }

  // Every text of a sample, of which a search finds any.
  has(number, wanted) {
    const row = this.samples.rows[number];
    const contains = (value) => {
      if (typeof value === "string") return value.toLowerCase().includes(wanted);
      if (Array.isArray(value)) return value.some(contains);
      if (value && typeof value === "object") return Object.values(value).some(contains);
      return typeof value === "number" && String(value) === wanted;
    };
    return contains(row[ID]) || contains(row[WHY]) || contains(this.samples.texts(number));
  }

  choose() {
    const { filter, slice, search, order } = this.state;
    const [, , holds] = FILTERS.find(([key]) => key === filter) || FILTERS[0];
    const wanted = search.trim().toLowerCase();
    const rows = this.samples.rows;
    const found = [];
    for (let number = 0; number < rows.length; number += 1) {
      if (!holds(rows[number])) continue;
      if (slice !== "" && !rows[number][SLICES].includes(Number(slice))) continue;
      if (wanted !== "" && !this.has(number, wanted)) continue;
      found.push(number);
    }
    const [, , by] = ORDERS.find(([key]) => key === order) || ORDERS[0];
    if (by) {
      const keys = new Map(found.map((number) => [number, by(rows[number])]));
      found.sort((a, b) => (keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : a - b));
    }
    this.found = found;
  }

  draw() {
    this.choose();
    for (const [key, button] of this.buttons) button.setAttribute("aria-pressed", String(key === this.state.filter));
    if (this.state.from >= this.found.length) this.state.from = 0;
    const { from } = this.state;
    const until = Math.min(from + ROWS, this.found.length);
    const noun = this.samples.rows.some((row) => row[EPOCH] > 0) ? "answers" : "samples";
    this.count.textContent = this.found.length === 0 ? "No matching samples." : `${from + 1} to ${until} of ${this.found.length} ${noun}`;
    this.body.replaceChildren(...this.found.slice(from, until).map((number) => this.row(number)));
    const turn = (label, to, can) => make("button", { type: "button", disabled: !can, on: { click: () => { this.state.from = to; this.draw(); this.element.scrollIntoView(); } } }, label);
    const several = this.found.length > ROWS;
    this.pager.replaceChildren(...(several ? [turn("Previous", from - ROWS, from > 0), " ", turn("Next", from + ROWS, until < this.found.length)] : []));
  }

  row(number) {
    const row = this.samples.rows[number];
    const texts = this.samples.texts(number);
    const name = row[EPOCH] > 0 ? `${row[ID]}, epoch ${row[EPOCH]}` : row[ID];
    const link = make("a", { href: address(this.place, row) }, make("code", {}, visible(name)));
    const cells = this.columns.map(([head, kind, of]) => make("td", { class: kind || null, dir: kind ? null : "auto", "data-label": head }, ...[of(row, texts, this.samples.words)].flat().filter((part) => part !== null)));
    return make("tr", {}, make("th", { scope: "row" }, link), ...cells);
  }
}

// Where a sample is looked at: an address that can be sent.
const address = (place, row) => `#sample/${place}/${row[EPOCH]}/${encodeURIComponent(row[ID])}`;
