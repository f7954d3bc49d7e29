// The page of `view`: what its server has, asked for with the token of the address, and again while a run goes on.

const TOKEN = "evaltest-token";
// Which page is shown; a sample of it has an address of its own, so that it stays with this tab.
const PAGE = "evaltest-page";
const RUNNING_MS = 2000;
const OVER_MS = 10000;

// It goes out of the address, which stands in the history, and stays with this tab.
const token = (() => {
  const given = /^#token=([0-9a-f]{32})$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(TOKEN, given[1]);
    sessionStorage.removeItem(PAGE);
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
let timer = null;

const PAGES = /^#((?:index|eval\/[^/]+|run\/[^/]+|compare\/[^/]+\/[^/]+))$/;
let page = sessionStorage.getItem(PAGE) || "";
const routed = () => {
  const found = PAGES.exec(location.hash);
  if (!found && location.hash !== "") return false;
  const wanted = found ? found[1] : "";
  if (wanted === page) return false;
  page = wanted;
  sessionStorage.setItem(PAGE, page);
  version = null;
  lists.clear();
  window.scrollTo(0, 0);
  return true;
};

// What is being typed goes on in the new page.
const replaced = (html) => {
  const { id, selectionStart, selectionEnd } = document.activeElement || {};
  const [open, at] = [[...content.querySelectorAll("details")].map((it) => it.open), window.scrollY];
  content.innerHTML = html;
  content.querySelectorAll("details").forEach((it, place) => place in open && (it.open = open[place]));
  enliven();
  enlivenRuns(page);
  const field = id ? document.getElementById(id) : null;
  if (field) field.focus({ preventScroll: true });
  if (field && typeof selectionStart === "number") field.setSelectionRange(selectionStart, selectionEnd);
  if (version !== null) window.scrollTo(0, at);
  const title = content.querySelector("h1, h2");
  document.title = title ? title.textContent : "evaltest";
};

const refresh = async () => {
  clearTimeout(timer);
  let wait = OVER_MS;
  const wanted = page;
  try {
    const state = JSON.parse(await ask(`/state/${wanted}`));
    if (wanted !== page) return;
    if (state.running) wait = RUNNING_MS;
    const looked = document.getElementById("sample");
    if (state.version !== version && looked) told.textContent = "New results are in the list.";
    else {
      if (state.version !== version) {
        const html = await ask(`/runs/${wanted}`);
        if (wanted !== page) return;
        replaced(html);
        version = state.version;
      }
      told.textContent = state.running ? "A run is in progress." : "";
    }
  } catch (error) {
    // `fetch` says so where nobody listens any more.
    told.textContent = error instanceof TypeError ? "The server has stopped: this page shows its last state." : visible(error.message);
  }
  if (wanted === page) timer = setTimeout(refresh, wait);
};
window.addEventListener("hashchange", () => {
  // A whole address that is opened in the same tab is another server's.
  if (/^#token=/.test(location.hash)) location.reload();
  else if (routed()) refresh();
});
routed();
refresh();
