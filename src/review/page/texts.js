// The texts of an item, with their formulas. Nothing of them is markup: text becomes text nodes, and of a formula those
// elements and attributes are copied that are known.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const ELEMENTS = new Set(["math", "mfrac", "mi", "mn", "mo", "mover", "mroot", "mrow", "mspace", "msqrt", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover"]);
const ATTRIBUTES = new Set(["class", "depth", "display", "displaystyle", "height", "largeop", "linethickness", "mathvariant", "maxsize", "minsize", "movablelimits", "scriptlevel", "stretchy", "symmetric", "width"]);
// So much is shown of a text before one asks for all of it.
const FIRST = 20000;

const copied = (element) => {
  if (element.namespaceURI !== MATHML || !ELEMENTS.has(element.localName)) return null;
  const copy = document.createElementNS(MATHML, element.localName);
  for (const { name, value } of element.attributes) if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.data);
    else if (child.nodeType === Node.ELEMENT_NODE) {
      const inner = copied(child);
      if (inner === null) return null;
      copy.append(inner);
    }
  }
  return copy;
};

const formula = (part) => {
  const read = new DOMParser().parseFromString(part.mathml, "application/xml");
  const made = read.documentElement ? copied(read.documentElement) : null;
  return made && made.localName === "math" ? made : visible(part.tex);
};

// What TeX escapes is the sign that it stands for. A line that a formula has for itself ends with it.
const line = (parts, place) => {
  const text = visible(parts[place].text).replace(/\\([$%])/g, "$1");
  const [before, behind] = [parts[place - 1], parts[place + 1]];
  const begin = before && before.display ? text.replace(/^[^\S\n]*\n?[^\S\n]*/, "") : text;
  return behind && behind.display ? begin.replace(/[^\S\n]*\n?[^\S\n]*$/, "") : begin;
};

const shownParts = (field, asSource) => {
  const parts = Array.isArray(field.parts) ? field.parts : [];
  if (asSource || !parts.some((part) => typeof part.mathml === "string")) return [visible(field.text)];
  return parts.map((part, place) => (typeof part.mathml === "string" ? formula(part) : line(parts, place)));
};

const size = (bytes) => (bytes < 2048 ? `${bytes} bytes` : bytes < 2 << 20 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 1048576).toFixed(1)} MiB`);

// A text in a box of its own, whose direction is its own affair.
const textBox = (field, asSource, whole) => {
  const box = make("div", { class: "text", dir: "auto" });
  const fill = () => box.replaceChildren(...shownParts(field, asSource));
  const isLong = field.text.length > FIRST;
  if (!isLong) fill();
  else box.replaceChildren(visible(field.text.slice(0, FIRST)), "…");
  const more = isLong || field.cut > 0;
  const all = !more ? null : make("button", { type: "button" }, `Show all of it: ${size(new TextEncoder().encode(field.text).length + (field.cut || 0))}`);
  if (all) {
    all.addEventListener("click", async () => {
      if (field.cut > 0 && !(await whole(field))) return;
      fill();
      all.remove();
      box.tabIndex = -1;
      box.focus({ preventScroll: true });
    });
  }
  return [box, all];
};

const fieldOf = (field, asSource, whole) => make("section", { class: "field" }, make("h3", {}, make("bdi", {}, visible(field.name).replaceAll("_", " "))), ...textBox(field, asSource, whole));
