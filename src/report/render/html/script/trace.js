// A conversation as people read it: who said what, which tools were called, what they gave back.

const LONG = 1500;

const said = (text) => {
  const whole = shown(text);
  if (whole.length <= LONG) return pre(whole);
  return folded(`${cut(whole, 200)} (${whole.length} characters)`, whole);
};

// Arguments are JSON in a text, more often than not.
const parsed = (value) => {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const call = (value) => {
  const named = value && typeof value === "object" ? value.function || value : {};
  const name = typeof named.name === "string" ? named.name : "call";
  const given = named.arguments === undefined ? named.input : named.arguments;
  return make("div", { class: "call" }, make("p", {}, "calls ", make("code", {}, visible(name))), given === undefined ? pre(value) : said(shown(parsed(given))));
};

const part = (value) => {
  if (typeof value === "string") return said(value);
  if (value && typeof value.text === "string") return said(value.text);
  const kind = value && typeof value.type === "string" ? value.type : "part";
  return folded(visible(kind), shown(value).slice(0, 4000));
};

const message = (value, known, texts) => {
  const of = value && typeof value === "object" && !Array.isArray(value) ? value : { content: value };
  const content = known === 1 ? texts.q : known === 2 ? texts.a : of.content;
  const parts = [];
  if (Array.isArray(content)) parts.push(...content.map(part));
  else if (content !== undefined && content !== null && content !== "") parts.push(said(content));
  const told = ["reasoning_content", "reasoning"].filter((name) => typeof of[name] === "string" && of[name] !== "");
  for (const name of told) parts.unshift(folded(name.replace("_", " "), of[name]));
  for (const each of Array.isArray(of.tool_calls) ? of.tool_calls : []) parts.push(call(each));
  const role = typeof of.role === "string" ? of.role : "message";
  const by = typeof of.name === "string" ? ` ${of.name}` : "";
  return make("li", { class: `message ${["system", "user", "assistant", "tool"].includes(role) ? role : "other"}` }, make("p", { class: "strong" }, visible(role + by)), ...parts);
};

const trace = (texts) => {
  const messages = Array.isArray(texts.m) ? texts.m : [];
  const calls = Array.isArray(texts.c) ? texts.c : [];
  if (messages.length === 0 && calls.length === 0) return null;
  const list = make("ol", { class: "trace" }, ...messages.map(([value, known]) => message(value, known, texts)));
  return make("div", {}, messages.length ? make("h4", {}, `Messages: ${messages.length}`) : null, messages.length ? list : null, calls.length ? make("h4", {}, `Tool calls of the answer: ${calls.length}`) : null, ...calls.map(call));
};
