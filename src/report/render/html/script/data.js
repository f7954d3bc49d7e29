// The samples of a run: rows at once, texts when somebody looks at them.

const WORDS = ["correct", "wrong", "error", "unscored", "skipped", "became wrong", "became correct"];
const CLASSES = ["good", "bad", "warn", "soft", "soft"];
const [ID, EPOCH, STANDING, FLIP, SECONDS, COST, TOKENS, SCORE, SLICES, WHY] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

class Samples {
  constructor(about) {
    this.about = about;
    this.words = about.words || WORDS;
    this.rows = [];
    // Where the texts of a row are: a block, and the place in it.
    this.blocks = [];
    this.places = [];
  }

  add(rows, texts) {
    const block = this.blocks.push(texts) - 1;
    for (let place = 0; place < rows.length; place += 1) {
      this.rows.push(rows[place]);
      this.places.push([block, place]);
    }
  }

  texts(number) {
    const [block, place] = this.places[number];
    const found = this.blocks[block];
    if (found instanceof Element) this.blocks[block] = JSON.parse(found.textContent);
    return this.blocks[block][place] || {};
  }

  find(id, epoch) {
    return this.rows.findIndex((row) => row[ID] === id && row[EPOCH] === epoch);
  }
}

// Whether it flipped since the baseline: red became wrong, green became correct.
const changed = (row, words) => (row[FLIP] > 0 ? make("span", { class: `tag ${["bad", "good"][row[FLIP] - 1]}` }, words[4 + row[FLIP]]) : null);

// All runs of a page, in its order.
const read = (root) => {
  const runs = new Map();
  let rows = null;
  for (const element of root.querySelectorAll("script[data-part]")) {
    const [place, part] = element.dataset.part.split(":");
    if (part === "run") runs.set(place, new Samples(JSON.parse(element.textContent)));
    else if (part === "rows") rows = JSON.parse(element.textContent);
    else if (part === "texts" && runs.has(place)) runs.get(place).add(rows, element);
  }
  return runs;
};
