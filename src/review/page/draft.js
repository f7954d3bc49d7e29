// What was given and not submitted yet: kept with this tab, so that it outlives a reload and nothing else.

const DRAFTS = "evaltest-drafts";

let drafts = new Map();
let draftsOf = "";

// Those of the same items and reviewer: another review in this tab begins with nothing.
const openDrafts = (of) => {
  draftsOf = of;
  try {
    const kept = JSON.parse(sessionStorage.getItem(DRAFTS) || "{}");
    if (kept.of === of) drafts = new Map(Object.entries(kept.drafts));
  } catch {
    drafts = new Map();
  }
};

const keepDrafts = () => {
  try {
    sessionStorage.setItem(DRAFTS, JSON.stringify({ of: draftsOf, drafts: Object.fromEntries(drafts) }));
  } catch {
    // It is full: what is typed is still here.
  }
};

// What was said of it before is where one goes on from; else there is nothing.
const draftOf = (id, mine) => {
  const known = drafts.get(id);
  if (known) return known;
  return { scores: mine ? { ...mine.scores } : {}, status: mine ? mine.status : null, comments: mine ? mine.comments : "", answer: (mine && mine.answer) || "", steps: [] };
};

const isSame = (draft, mine) => mine !== null && draft.status === mine.status && draft.comments === mine.comments && draft.answer === (mine.answer || "") && Object.keys(draft.scores).length === Object.keys(mine.scores).length && Object.entries(draft.scores).every(([name, score]) => mine.scores[name] === score);

const isEmpty = (draft) => Object.keys(draft.scores).length === 0 && draft.status === null && draft.comments === "" && draft.answer === "";
