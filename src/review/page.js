"use strict";
(() => {
  const TOKEN = "evaltest-token";
  const token = (() => {
    const given = /^#token=([0-9a-f]{32})$/.exec(location.hash);
    if (given) {
      sessionStorage.setItem(TOKEN, given[1]);
      history.replaceState(null, "", location.pathname);
    }
    return sessionStorage.getItem(TOKEN) || "";
  })();
  const told = document.querySelector(".told");
  const start = async () => {
    const answer = await fetch("/state", { headers: { [TOKEN]: token }, cache: "no-store" });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text.trim());
    const state = JSON.parse(text);
    told.textContent = `${state.reviewed} of ${state.count}`;
  };
  start().catch((error) => { told.textContent = error.message; });
})();
