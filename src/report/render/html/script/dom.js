// Elements and texts. What anybody said becomes text by `textContent` alone, never markup.

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

// Control characters, marks that turn the direction of a text, and what has no width are shown, as in the rest of the page.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff]|(?<![^\u0000-\u007f])[\u200d\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]/gu;
const visible = (text) => String(text).replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
const cut = (text, most) => {
  const all = String(text).trim();
  return visible(all.length > most ? `${all.slice(0, most).trimEnd()}…` : all).replace(/\s+/g, " ");
};
const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1));
// As in the rest of the page; null if unknown.
const price = (usd) => (typeof usd === "number" ? `${Number(usd.toFixed(6))} USD` : null);
const duration = (seconds) => {
  if (typeof seconds !== "number") return null;
  if (seconds < 0.001) return `${(seconds * 1e3).toFixed(1)} ms`;
  if (seconds < 0.0995) return `${(seconds * 1e3).toFixed(0)} ms`;
  if (seconds < 99.95) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
};
const pre = (value) => make("pre", { dir: "auto" }, visible(shown(value)));
const block = (title, value) => {
  if (value === undefined || value === null || value === "") return null;
  return make("div", {}, make("h4", {}, title), pre(value));
};
// What is long is folded, for who looks at something else.
const folded = (title, value) => {
  if (value === undefined || value === null) return null;
  if (typeof value === "object" && !(value instanceof Node) && Object.keys(value).length === 0) return null;
  return make("details", {}, make("summary", {}, title), value instanceof Node ? value : pre(value));
};
