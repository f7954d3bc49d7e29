// One item at a time: asked for, shown, judged, submitted.

let state = null;
let item = null;
let draft = null;
let asSource = false;
let isBusy = false;
// What was submitted last in this tab, for `undo`.
let last = null;
// Which item is asked for: what comes late of another one is not shown.
let wanted = -1;

const tell = (text) => (at("told").textContent = text);
const alarm = (text) => (at("alarm").textContent = text);
const failed = (text) => {
  tell("");
  alarm(text);
};
const dimensions = () => state.rubric.dimensions;

const keep = () => {
  if (isSame(draft, item.mine) || (item.mine === null && isEmpty(draft))) drafts.delete(item.id);
  else drafts.set(item.id, draft);
  keepDrafts();
};

const showProgress = () => {
  const text = `${state.reviewed} of ${state.count} reviewed`;
  at("count").textContent = text;
  at("progress").max = state.count || 1;
  at("progress").value = state.reviewed;
};

const give = (field, value) => {
  const before = field === "status" ? draft.status : draft.scores[field];
  draft.steps.push([field, before === undefined ? null : before]);
  if (field === "status") draft.status = value;
  else draft.scores[field] = value;
  fillForm(dimensions(), draft);
  tell(`${visible(field).replaceAll("_", " ")}: ${STATUSES[value] || value}`);
  keep();
};

const giveScore = (number) => {
  const place = dimensions().findIndex((dimension, place) => at(`score-${place}`).contains(document.activeElement));
  const open = dimensions().findIndex((dimension) => draft.scores[dimension.name] === undefined);
  const to = place < 0 ? open : place;
  if (to < 0) return tell("All scores are set: u undoes the last one.");
  give(dimensions()[to].name, number);
  // From field to field, as one goes on.
  if (place >= 0 && at(`score-${place + 1}`)) at(`score-${place + 1}`).querySelector("input").focus();
};

const showTexts = () => {
  const all = [...item.fields, ...item.facts];
  const whole = async (field) => {
    const answer = await ask(`/item?index=${item.index}&whole=${all.indexOf(field)}`);
    if (answer.status !== 200) alarm(`The full text cannot be shown: ${visible(answer.said.error)}.`);
    else Object.assign(field, answer.said, { cut: 0 });
    return answer.status === 200;
  };
  at("texts").replaceChildren(...all.map((field) => fieldOf(field, asSource, whole)));
  at("source").setAttribute("aria-pressed", String(asSource));
};

// What others said, which nobody sees before having said something.
const showOthers = (agreement) => {
  const shown = [];
  if (item.mine !== null) {
    const when = item.mine.verified_at ? `, ${visible(item.mine.verified_at)}` : "";
    if (item.changed) shown.push(make("p", { class: "box" }, "The item changed since then: submit your review again."));
    shown.push(make("p", {}, `You submitted: ${STATUSES[item.mine.status] || ""}${when}.`));
    const columns = [["you", item.mine]];
    if (item.judge) columns.push(["judge", { scores: item.judge.scores }]);
    for (const other of agreement ? agreement.others : []) columns.push([other.reviewer, other]);
    if (columns.length > 1) shown.push(compared("Scores of all", columns));
    if (agreement) shown.push(make("p", {}, agreement.same_status ? "All gave the same status." : "Not all gave the same status."));
  }
  if (item.others > 0) shown.push(make("p", { class: "soft" }, item.others === 1 ? "1 other reviewer has submitted this." : `${item.others} other reviewers have submitted this.`));
  at("after").replaceChildren(...shown);
};

const showItem = () => {
  const listed = state.items[item.index];
  const place = `Item ${item.index + 1} of ${state.count}`;
  document.title = `${place} – evaltest review`;
  at("name").replaceChildren(`${place}: `, make("bdi", {}, visible(item.id)));
  const tags = [listed.reviewed ? "reviewed" : "not reviewed", item.changed ? "changed since" : null, listed.slice, listed.tag].filter(Boolean);
  at("tags").replaceChildren(...tags.map((tag) => make("bdi", { class: "tag" }, visible(tag))));
  at("number").value = item.index + 1;
  at("both").replaceChildren();
  showTexts();
  fillForm(dimensions(), draft);
  showOthers(null);
};

const go = async (index, told) => {
  if (index < 0 || index >= state.count) return tell(index < 0 ? "This is the first item." : "This is the last item.");
  wanted = index;
  const answer = await ask(`/item?index=${index}`);
  if (wanted !== index) return;
  if (answer.status !== 200) {
    if (item !== null) at("number").value = item.index + 1;
    return failed(`The item cannot be shown: ${visible(answer.said.error)}.`);
  }
  alarm("");
  item = answer.said;
  draft = draftOf(item.id, item.mine);
  showItem();
  window.scrollTo(0, 0);
  at("review").scrollTop = 0;
  if (told !== null) at("name").focus({ preventScroll: true });
  tell(told || "");
};

const nextUnreviewed = () => {
  const from = item === null ? 0 : item.index + 1;
  const order = state.items.map((listed, place) => (from + place) % state.items.length);
  return order.find((place) => !state.items[place].reviewed);
};

const savedWords = (said) => `Saved to ${visible(said.saved_to)}: ${said.reviewed} of ${said.count}.${said.warning ? ` ${visible(said.warning)}` : ""}`;

// What an answer says of this item.
const taken = (said) => {
  item.version = said.version;
  item.mine = said.mine || null;
  item.judge = said.judge || null;
  item.changed = false;
  state.reviewed = said.reviewed;
  state.count = said.count;
  state.items[item.index].reviewed = item.mine !== null;
  draft.steps = [];
  drafts.delete(item.id);
  keepDrafts();
  showProgress();
};

const showConflict = (said) => {
  item.version = said.version;
  item.mine = said.mine || null;
  const theirs = item.mine ? compared("Both are kept; the one that is submitted last counts.", [["other", item.mine], ["yours", draft]]) : null;
  at("both").replaceChildren(make("div", { class: "box", id: "conflict", role: "group", "aria-label": "Two reviews of one item", tabindex: "-1" }, make("p", { class: "strong" }, item.mine ? "Not saved: another window submitted this item meanwhile." : "Not saved: another window undid its review of this item meanwhile."), theirs, make("p", {}, "Submit again to make yours count, or press j to move on.")));
  tell("");
  alarm("Not saved: there is another review of this item. Submit again to make yours count.");
  at("conflict").focus();
};

const posted = async (path, sent) => {
  isBusy = true;
  at("submit").setAttribute("aria-disabled", "true");
  const answer = await ask(path, sent);
  isBusy = false;
  at("submit").removeAttribute("aria-disabled");
  return answer;
};

const submit = async () => {
  if (isBusy || item === null) return;
  draft.comments = at("comment").value;
  draft.answer = at("answer").value;
  const lacks = missing(dimensions(), draft);
  if (lacks.length > 0) {
    tell("");
    at("missing").textContent = `Missing: ${lacks.map(([, name]) => visible(name).replaceAll("_", " ")).join(", ")}.`;
    document.querySelector(`#${lacks[0][0]} :is(input, textarea)`).focus();
    return;
  }
  at("missing").textContent = "";
  const to = nextUnreviewed();
  if (isSame(draft, item.mine) && !item.changed) {
    const told = "No changes to submit.";
    if (to === undefined) tell(told);
    else await go(to, told);
    return;
  }
  const of = item;
  const answer = await posted("/submit", { id: of.id, version: of.version, scores: draft.scores, status: draft.status, comments: draft.comments, answer: draft.answer });
  if (answer.status === 409) return showConflict(answer.said);
  if (answer.status !== 200) return failed(`Not saved: ${visible(answer.said.error)}. Your entries are kept; Enter tries again.`);
  alarm("");
  taken(answer.said);
  last = { index: of.index };
  const judged = of.judge ? ` The judge gave ${visible(of.id)}: ${words(of.judge.scores)}.` : "";
  const agreed = answer.said.agreement ? (answer.said.agreement.same_status ? " Other reviewers gave the same status." : " Other reviewers gave another status.") : "";
  const told = savedWords(answer.said) + judged + agreed;
  const next = nextUnreviewed();
  if (next !== undefined) return go(next, told);
  // It is shown again, with what was not to be known before.
  await go(of.index, `${told} All items are reviewed.`);
  showOthers(answer.said.agreement || null);
};

// Takes back what was given last, or what was submitted last.
const undo = async () => {
  if (isBusy || item === null) return;
  const step = draft.steps.pop();
  if (step) {
    const [field, before] = step;
    if (field === "status") draft.status = before;
    else if (before === null) delete draft.scores[field];
    else draft.scores[field] = before;
    fillForm(dimensions(), draft);
    keep();
    return tell(`Undone: ${visible(field).replaceAll("_", " ")}.`);
  }
  if (item.mine === null && last !== null && last.index !== item.index) {
    const from = item.index;
    await go(last.index, "");
    if (item.index === from) return;
  }
  if (item.mine === null) return tell("Nothing to undo.");
  const was = item.mine;
  const answer = await posted("/undo", { id: item.id, version: item.version });
  if (answer.status === 409) return showConflict(answer.said);
  if (answer.status !== 200) return failed(`Not undone: ${visible(answer.said.error)}.`);
  last = null;
  taken(answer.said);
  // It is there to be changed.
  draft = { scores: { ...was.scores }, status: was.status, comments: was.comments, answer: was.answer || "", steps: [] };
  keep();
  showItem();
  tell(`Undone, and kept in the form: ${state.reviewed} of ${state.count} reviewed.`);
};

const toggleSource = () => {
  asSource = !asSource;
  showTexts();
  tell(asSource ? "Formulas are shown as source." : "Formulas are typeset.");
};

const start = async () => {
  if (token === "") return alarm("Open the whole printed address, including the part after the #.");
  const answer = await ask("/state");
  if (answer.status !== 200) return alarm(`The items cannot be shown: ${visible(answer.said.error)}.`);
  state = answer.said;
  openDrafts(JSON.stringify([state.source, state.saved_to, state.reviewer, state.items.length > 0 ? state.items[0].id : ""]));
  at("title").textContent = visible(state.title);
  const chosen = { random: "sampled at random", picked: "picked", all: "all of them" }[state.chosen] || "";
  const seed = state.seed === undefined ? "" : `, seed ${state.seed}`;
  at("about").replaceChildren(`${state.count} items, ${chosen}${seed} · reviewer `, make("bdi", {}, visible(state.reviewer)), " · saved to ", make("bdi", {}, visible(state.saved_to)));
  at("of").textContent = `of ${state.count}`;
  at("number").max = state.count;
  at("scores").replaceChildren(...dimensions().map((dimension, place) => scoreField(dimension, place, (number) => give(dimension.name, number))));
  document.querySelector("#status .choices").replaceChildren(...statusFields(state.statuses, (status) => give("status", status)));
  at("expected").hidden = !state.asks_answers;
  at("scale").hidden = dimensions().length === 0;
  showProgress();
  at("columns").hidden = false;
  const first = nextUnreviewed();
  await go(first === undefined ? 0 : first, null);
  tell(first === undefined ? `All ${state.count} are reviewed.` : "");
};
