// The page of `view`: what its server has, asked for with the token of the address, and again while a run goes on.

const TOKEN = "evaltest-token";
const RUNNING_MS = 2000;
const OVER_MS = 10000;

// It goes out of the address, which stands in the history, and stays with this tab.
const token = (() => {
  const given = /^#token=([0-9a-f]{32})$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(TOKEN, given[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(TOKEN) || "";
})();

const ask = async (path) => {
  const answer = await fetch(path, { headers: { [TOKEN]: token }, cache: "no-store" });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim());
  return text;
};

const content = document.getElementById("content");
const told = make("p", { class: "told", role: "status" });
content.before(told);
let version = null;

// What is being typed goes on in the new page.
const replaced = (html) => {
  const { id, selectionStart, selectionEnd } = document.activeElement || {};
  const [open, at] = [[...content.querySelectorAll("details")].map((it) => it.open), window.scrollY];
  content.innerHTML = html;
  content.querySelectorAll("details").forEach((it, place) => place in open && (it.open = open[place]));
  enliven();
  const field = id ? document.getElementById(id) : null;
  if (field) field.focus({ preventScroll: true });
  if (field && typeof selectionStart === "number") field.setSelectionRange(selectionStart, selectionEnd);
  if (version !== null) window.scrollTo(0, at);
  const title = content.querySelector("h1, h2");
  document.title = title ? title.textContent : "evaltest";
};

const refresh = async () => {
  let wait = OVER_MS;
  try {
    const state = JSON.parse(await ask("/state"));
    if (state.running) wait = RUNNING_MS;
    const looked = document.getElementById("sample");
    if (state.version !== version && looked) told.textContent = "There is more by now: it is shown in the list.";
    else {
      if (state.version !== version) {
        replaced(await ask("/runs"));
        version = state.version;
      }
      told.textContent = state.running ? "A run is going on." : "";
    }
  } catch (error) {
    // `fetch` says so where nobody listens any more.
    told.textContent = error instanceof TypeError ? "The server has ended: this is what it showed last." : visible(error.message);
  }
  setTimeout(refresh, wait);
};
window.addEventListener("hashchange", () => {
  // A whole address that is opened in the same tab is another server's.
  if (/^#token=/.test(location.hash)) location.reload();
});
refresh();
