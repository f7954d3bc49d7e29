// What was expected and is not in the answer (right), and the other way round (wrong): by words, longest common part.

const MOST_WORDS = 600;

const diff = (before, after) => {
  const [a, b] = [before, after].map((text) => text.split(/(\s+|[^\p{L}\p{N}\s])/u).filter((word) => word !== ""));
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [left, right] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const parts = [["same", a.slice(0, head).join("")]];
  if (left.length > MOST_WORDS || right.length > MOST_WORDS) {
    parts.push(["right", left.join("")], ["wrong", right.join("")]);
  } else {
    const longest = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
    for (let i = left.length - 1; i >= 0; i -= 1) {
      for (let j = right.length - 1; j >= 0; j -= 1) {
        longest[i][j] = left[i] === right[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    let [i, j] = [0, 0];
    while (i < left.length || j < right.length) {
      if (i < left.length && j < right.length && left[i] === right[j]) {
        parts.push(["same", left[i]]);
        i += 1;
        j += 1;
      } else if (j === right.length || (i < left.length && longest[i + 1][j] >= longest[i][j + 1])) {
        parts.push(["right", left[i]]);
        i += 1;
      } else {
        parts.push(["wrong", right[j]]);
        j += 1;
      }
    }
  }
  parts.push(["same", a.slice(a.length - tail).join("")]);
  const joined = [];
  for (const [kind, text] of parts) {
    const last = joined[joined.length - 1];
    if (text === "") continue;
    if (last && last[0] === kind) last[1] += text;
    else joined.push([kind, text]);
  }
  // Texts without a common word have nothing to compare.
  if (!joined.some(([kind, text]) => kind === "same" && /[\p{L}\p{N}]/u.test(text))) return null;
  const nodes = joined.map(([kind, text]) => (kind === "same" ? visible(text) : make("mark", { class: kind }, visible(text))));
  return make("pre", { dir: "auto" }, ...nodes);
};
