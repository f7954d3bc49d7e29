// What the server is asked, with the token of the address.

const TOKEN = "evaltest-token";

// It goes out of the address, which stands in the history, and stays with this tab.
const token = (() => {
  const given = /^#token=([0-9a-f]{32})$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(TOKEN, given[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(TOKEN) || "";
})();

// What is answered, and how; nobody may be there any more.
const ask = async (path, sent) => {
  const headers = { [TOKEN]: token };
  if (sent) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method: sent ? "POST" : "GET", headers, body: sent ? JSON.stringify(sent) : undefined, cache: "no-store" });
    const text = await answer.text();
    const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
    return { status: answer.status, said: isJson ? JSON.parse(text) : { error: text.trim() } };
  } catch {
    return { status: 0, said: { error: "the server does not answer" } };
  }
};
