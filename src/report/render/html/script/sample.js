// One sample: what was asked, what was answered and expected, the difference, and how the answer came about.

const figures = (row, texts) => {
  const facts = [];
  const add = (name, value) => value !== null && value !== undefined && facts.push(make("li", {}, make("span", { class: "soft" }, `${name} `), make("b", {}, String(value))));
  add("score", row[SCORE]);
  add("time", duration(row[SECONDS]));
  add("cost", price(row[COST]));
  add("tokens read", texts.u && texts.u[0]);
  add("tokens written", texts.u && texts.u[1]);
  if (texts.t > 1) add("attempts", texts.t);
  if (texts.k) add("from the cache", "yes");
  if (texts.w) add("redacted places", texts.w);
  return make("ul", { class: "facts" }, ...facts);
};

const failure = (error) => {
  if (!error) return null;
  const more = { ...error };
  delete more.message;
  delete more.stderr_tail;
  for (const [name, value] of Object.entries(more)) if (value === null) delete more[name];
  return make("div", { class: "box inconclusive" }, make("h4", {}, "Error"), pre(error.message), block("stderr (end)", error.stderr_tail), folded("More", more));
};

const judge = (calls) => {
  if (!Array.isArray(calls) || calls.length === 0) return null;
  const each = calls.map((asked) => make("li", {}, make("code", {}, visible(asked.scorer)), asked.repeat ? ` repeat ${asked.repeat}` : "", asked.again ? ", asked again" : "", asked.why ? pre(asked.why) : asked.said ? said(asked.said) : " (reply not stored)"));
  return make("div", {}, make("h4", {}, "Judges"), make("ul", {}, ...each));
};

const sample = (samples, number) => {
  const row = samples.rows[number];
  const texts = samples.texts(number);
  const got = texts.p !== undefined ? texts.p : texts.a;
  const nodes = [];
  const slices = row[SLICES].map((slice) => make("span", { class: "tag" }, visible(samples.about.slices[slice])));
  nodes.push(make("p", {}, make("strong", { class: CLASSES[row[STANDING]] }, samples.words[row[STANDING]]), row[WHY] ? ` ${worded(row[WHY])} ` : " ", changed(row, samples.words), " ", ...slices.flatMap((tag) => [tag, " "])));
  nodes.push(figures(row, texts));
  if (samples.about.masked) nodes.push(make("p", { class: "warn" }, "Texts are hidden: this eval masks its snapshots."));
  nodes.push(failure(texts.x));
  const isAnswer = samples.words === WORDS;
  nodes.push(block(isAnswer ? "Question" : "Item", texts.q));
  const expected = texts.e === undefined || !isAnswer ? null : shown(texts.e);
  if (got !== undefined || expected !== null) {
    nodes.push(make("div", { class: "sides" }, block(!isAnswer ? "What is judged" : texts.p !== undefined ? "Answer, as extracted" : "Answer", got), block("Expected", expected)));
  }
  if (typeof got === "string" && typeof expected === "string" && row[STANDING] === 1 && got !== expected) {
    const changes = diff(expected, got);
    if (changes) nodes.push(make("h4", {}, "Difference: ", make("mark", { class: "right" }, "expected"), " ", make("mark", { class: "wrong" }, "answered")), changes);
  }
  if (texts.n) nodes.push(make("div", { class: "sides" }, block("Answer, as compared", texts.n[0]), block("Expected, as compared", texts.n[1])));
  if (texts.p !== undefined && texts.a !== undefined) nodes.push(make("h4", {}, "Whole answer"), said(texts.a));
  nodes.push(trace(texts));
  nodes.push(judge(texts.j));
  nodes.push(folded("Details of the score", texts.d), folded("All scorers", texts.s), folded("Other output of the agent", texts.o), folded("Other columns of the dataset", texts.i));
  return nodes.filter((node) => node !== null);
};
