// Keys and buttons. A key does nothing where a browser or a field has a use for it.

const KEYS = {
  j: () => go(item.index + 1, ""),
  k: () => go(item.index - 1, ""),
  u: undo,
  s: toggleSource,
  c: () => at("comment").focus(),
  "?": () => at("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  const on = event.target;
  if (on === at("comment") || on === at("answer")) {
    if (event.key === "Escape") {
      event.preventDefault();
      at("name").focus({ preventScroll: true });
    }
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented || item === null || at("help").open) return;
  if (on.closest("select, textarea, input:not([type=radio])")) return;
  if (event.key === "Enter") {
    if (on.closest("button, a, summary")) return;
    event.preventDefault();
    if (!event.repeat) submit();
    return;
  }
  // For whoever speaks or hits keys without meaning it.
  if (!at("single").checked) return;
  const number = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
  const done = number > 0 ? () => (number <= HIGHEST ? giveScore(number) : tell(`Scores go from 1 to ${HIGHEST}.`)) : STATUS_KEYS[event.key] ? () => give("status", STATUS_KEYS[event.key]) : KEYS[event.key];
  if (!done || event.repeat && !"jk".includes(event.key)) return;
  event.preventDefault();
  done();
});

at("review").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
at("comment").addEventListener("input", () => {
  draft.comments = at("comment").value;
  keep();
});
at("answer").addEventListener("input", () => {
  draft.answer = at("answer").value;
  keep();
});
at("single").checked = sessionStorage.getItem("evaltest-keys") !== "off";
at("single").addEventListener("change", () => sessionStorage.setItem("evaltest-keys", at("single").checked ? "on" : "off"));
at("number").addEventListener("change", () => {
  const index = Number(at("number").value) - 1;
  if (Number.isInteger(index) && index >= 0 && index < state.count) go(index, "");
  else at("number").value = item.index + 1;
});
at("previous").addEventListener("click", () => go(item.index - 1, ""));
at("next").addEventListener("click", () => go(item.index + 1, ""));
at("unreviewed").addEventListener("click", () => {
  const next = nextUnreviewed();
  if (next === undefined) tell("All items are reviewed.");
  else go(next, "");
});
at("source").addEventListener("click", toggleSource);
at("undo").addEventListener("click", undo);
at("keys").addEventListener("click", () => at("help").showModal());
at("all").addEventListener("toggle", () => {
  if (at("all").open && state) listed(at("all").querySelector("div"));
});
window.addEventListener("hashchange", () => {
  // A whole address that is opened in the same tab is another server's.
  if (/^#token=/.test(location.hash)) location.reload();
});
start();
