// The substring rule as people write it in JavaScript: a yardstick for speed, no part of evaltest.
const fs = require("fs");

const norm = (text) =>
  text.toLowerCase().trim().replace(/\s+/g, " ").replace(/[^\w\s]/g, "");

const scored = [];
for (const line of fs.readFileSync(process.argv[2], "utf8").split("\n")) {
  if (!line) continue;
  const row = JSON.parse(line);
  const prediction = norm(row.prediction ?? "");
  const truth = norm(row.ground_truth);
  const correct = row.ground_truth
    ? prediction.includes(truth) || truth.includes(prediction)
    : false;
  row.score = { correct };
  scored.push(JSON.stringify(row));
}
fs.writeSync(1, scored.join("\n") + "\n");
