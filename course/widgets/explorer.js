// Sliders, and below them what the kernel answers. One setting is on its way at most; what is chosen meanwhile goes next.

const PATIENCE = 3000, QUIET = 600;  // milliseconds: without an answer, without a new answer
const NO_ANSWER = "No answer from the kernel yet. It may be busy with another cell; if it was restarted, run this cell again.";

function render({model, el}) {
  const picture = make("div", {class: "lex-picture"}), numbers = make("div", {class: "lex-numbers"});
  const remarks = make("div", {class: "lex-remarks"}), grid = make("pre", {class: "lex-grid", tabindex: "0", "aria-label": "timeline as text"});
  const below = make("div", {class: "lex-below"}, remarks, picture, numbers, grid);
  const said = make("div", {class: "lex-said", role: "status"});
  const name = `lex-${Math.random().toString(36).slice(2)}`;  // radio buttons of one view belong together
  let late, quiet;

  const send = changed => {
    const wanted = {...model.get("wanted"), ...changed};
    wanted.turn += 1;
    model.set("wanted", wanted);
    model.save_changes();
    clearTimeout(late);
    late = setTimeout(() => { said.textContent = NO_ANSWER; said.classList.add("lex-late"); }, PATIENCE);
  };

  // ---- what is chosen

  const sliders = model.get("sliders").map(([key, words, min, max]) => {
    const written = value => key === "backward" ? `${value} : 1` : String(value);
    const value = make("output", {"aria-hidden": "true"});
    const input = make("input", {type: "range", min, max, step: key === "backward" ? 0.5 : 1, "aria-label": words});
    input.addEventListener("input", () => {
      tell();
      send({[key]: Number(input.value)});
    });
    const tell = () => {
      value.textContent = written(input.value);
      input.setAttribute("aria-valuetext", written(input.value));
    };
    return {part: make("label", {}, make("span", {}, words), input, value), put: wanted => {
      if (Number(input.value) !== wanted[key]) input.value = wanted[key];
      tell();
    }};
  });

  const schedules = model.get("choices").map(([key, words]) => {
    const input = make("input", {type: "radio", name, value: key, onchange: () => send({schedule: key})});
    return {part: make("label", {}, input, words), put: wanted => { input.checked = wanted.schedule === key; }};
  });

  const boxes = [["memory", "memory under it"], ["grid", "as text"]].map(([key, words]) => {
    const input = make("input", {type: "checkbox", onchange: () => send({[key]: input.checked})});
    return {part: make("label", {}, input, words), put: wanted => { input.checked = wanted[key]; }};
  });

  const follow = () => [...sliders, ...schedules, ...boxes].forEach(({put}) => put(model.get("wanted")));

  // ---- what is shown

  function show() {
    const shown = model.get("shown");
    // a size without a schedule must not move what stands below it
    if (!shown.picture) below.style.minHeight = `${below.offsetHeight}px`;
    picture.innerHTML = shown.picture;
    numbers.innerHTML = shown.numbers;
    remarks.replaceChildren(...shown.remarks.map(words => make("p", {}, words)));
    grid.textContent = shown.grid;
    grid.hidden = !shown.grid;
    if (shown.picture) below.style.minHeight = "";
    if (shown.turn === model.get("wanted").turn) clearTimeout(late);
    clearTimeout(quiet);
    said.classList.remove("lex-late");
    if (shown.turn) quiet = setTimeout(() => { said.textContent = shown.summary; }, QUIET);
  }

  el.classList.add("lex");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", "Explorer of schedules");
  el.replaceChildren(
    make("div", {class: "lex-schedules", role: "radiogroup", "aria-label": "schedule"}, ...schedules.map(({part}) => part)),
    make("div", {class: "lex-sliders"}, ...sliders.map(({part}) => part)),
    make("div", {class: "lex-boxes"}, ...boxes.map(({part}) => part)),
    below, said);
  follow();
  show();
  model.on("change:wanted", follow);
  model.on("change:shown", show);
  return () => {
    clearTimeout(late);
    clearTimeout(quiet);
    model.off("change:wanted", follow);
    model.off("change:shown", show);
  };
}

export default {render};
