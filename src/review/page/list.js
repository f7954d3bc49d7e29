// All items, for whoever looks for one: by what is still to do, by slice, by what is to be seen to.

const MOST_LISTED = 200;

const listed = (box) => {
  const labels = new Map([["all", "all"], ["open", "not reviewed"], ["done", "reviewed"]]);
  for (const one of state.items) {
    if (one.tag) labels.set(`tag ${one.tag}`, one.tag);
    if (one.slice) labels.set(`slice ${one.slice}`, one.slice);
  }
  const isShown = (one, by) => by === "all" || by === (one.reviewed ? "done" : "open") || by === `tag ${one.tag}` || by === `slice ${one.slice}`;
  const list = make("ol");
  const more = make("button", { type: "button", hidden: true }, "Show more");
  const count = make("p", { class: "soft" });
  let most = MOST_LISTED;
  const fill = () => {
    const found = state.items.map((one, place) => [one, place]).filter(([one]) => isShown(one, select.value));
    const entry = ([one, place]) => make("li", { value: place + 1 }, make("button", { type: "button", on: { click: () => go(place, "") } }, make("bdi", {}, visible(one.id))), [one.reviewed ? " reviewed" : "", one.tag ? ` · ${visible(one.tag)}` : "", one.slice ? ` · ${visible(one.slice)}` : ""].join(""));
    list.replaceChildren(...found.slice(0, most).map(entry));
    count.textContent = `${found.length} of ${state.items.length} items`;
    more.hidden = found.length <= most;
  };
  const options = [...labels].map(([value, label]) => make("option", { value }, visible(label)));
  const select = make("select", { on: { change: () => { most = MOST_LISTED; fill(); } } }, ...options);
  more.addEventListener("click", () => { most += MOST_LISTED; fill(); });
  box.replaceChildren(make("label", {}, "Show ", select), count, list, more);
  fill();
};
