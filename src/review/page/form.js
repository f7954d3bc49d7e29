// The form: scores, a status and a comment, of which nothing is there before somebody gives it.

const at = (id) => document.getElementById(id);
const STATUSES = { approved: "approved", rejected: "rejected", needs_revision: "needs revision" };
const STATUS_KEYS = { a: "approved", r: "rejected", e: "needs_revision" };
const HIGHEST = 5;

const choice = (group, value, label, key, chosen) => {
  const radio = make("input", { type: "radio", name: group, value, "aria-keyshortcuts": key, on: { change: () => chosen(value) } });
  return make("label", { class: "choice" }, radio, make("span", {}, label));
};

// What a dimension is about, and what its points mean for whoever asks.
const described = (text, id) => {
  const [, first, rest] = /^(.*?[.!?])\s+(.+)$/s.exec(text) || [];
  if (text === "") return null;
  if (!rest) return make("p", { class: "soft", id }, text);
  return make("details", { class: "soft" }, make("summary", { id }, first), make("p", {}, rest));
};

// One row of buttons for a dimension of the rubric.
const scoreField = (dimension, place, give) => {
  const numbers = Array.from({ length: HIGHEST }, (_, number) => number + 1);
  const choices = numbers.map((number) => choice(`score-${place}`, String(number), String(number), String(number), () => give(number)));
  const about = described(visible(dimension.description || ""), `about-${place}`);
  return make("fieldset", { id: `score-${place}`, "aria-describedby": about ? `about-${place} scale` : "scale" }, make("legend", {}, make("bdi", {}, visible(dimension.name).replaceAll("_", " "))), about, make("div", { class: "choices" }, ...choices));
};

const statusFields = (statuses, give) => statuses.map((status) => choice("status", status, STATUSES[status] || visible(status), Object.keys(STATUS_KEYS).find((key) => STATUS_KEYS[key] === status), () => give(status)));

// Shows what is given.
const fillForm = (dimensions, draft) => {
  const check = (group, value) => {
    for (const radio of document.querySelectorAll(`input[name="${group}"]`)) radio.checked = radio.value === String(value);
  };
  dimensions.forEach((dimension, place) => {
    check(`score-${place}`, draft.scores[dimension.name]);
    at(`score-${place}`).classList.remove("lacks");
  });
  check("status", draft.status);
  at("status").classList.remove("lacks");
  if (at("comment").value !== draft.comments) at("comment").value = draft.comments;
  if (at("answer").value !== draft.answer) at("answer").value = draft.answer;
  at("missing").textContent = "";
};

// What is not given yet: the field, and what it is called.
const missing = (dimensions, draft) => {
  const lacks = dimensions.map((dimension, place) => [`score-${place}`, dimension.name, draft.scores[dimension.name] === undefined]);
  lacks.push(["status", "status", draft.status === null]);
  if (state.asks_answers) lacks.push(["expected", "expected answer", draft.status === "approved" && draft.answer.trim() === ""]);
  for (const [id, , isMissing] of lacks) at(id).classList.toggle("lacks", isMissing);
  return lacks.filter(([, , isMissing]) => isMissing);
};

const words = (scores) => Object.entries(scores).map(([name, score]) => `${visible(name).replaceAll("_", " ")} ${score}`).join(", ");

// Two words on one item, beside one another.
const compared = (title, columns) => {
  const names = [...new Set([...dimensions().map((dimension) => dimension.name), ...columns.flatMap(([, said]) => Object.keys(said.scores))])];
  const row = (name, value) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, visible(name).replaceAll("_", " "))), ...columns.map(([, said]) => make("td", {}, value(said))));
  const head = make("thead", {}, make("tr", {}, make("td", {}), ...columns.map(([who]) => make("th", { scope: "col" }, make("bdi", {}, visible(who))))));
  const has = (field) => columns.some(([, said]) => said[field]);
  const rows = names.map((name) => row(name, (said) => (said.scores[name] === undefined ? "–" : String(said.scores[name]))));
  if (has("status")) rows.push(row("status", (said) => STATUSES[said.status] || "–"));
  if (has("answer")) rows.push(row("expected answer", (said) => make("bdi", { class: "comment" }, visible(said.answer || "–"))));
  if (has("comments")) rows.push(row("comment", (said) => make("bdi", { class: "comment" }, visible(said.comments || "–"))));
  return make("div", { class: "wide" }, make("table", { class: "compared" }, make("caption", {}, title), head, make("tbody", {}, ...rows)));
};
