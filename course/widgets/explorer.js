// Controls, and below them what the kernel answers. One setting is on its way at most; what is chosen meanwhile goes next.
// What there is to choose and what an answer says, Python alone knows: this page is that of every Explorer.

const QUIET = 600;  // milliseconds without a new answer

function render({model, el}) {
  const words = model.get("words");
  const picture = make("div", {class: "lex-picture"}), numbers = make("div", {class: "lex-numbers"});
  const remarks = make("div", {class: "lex-remarks"}), grid = make("pre", {class: "lex-grid", tabindex: "0", "aria-label": words.grid});
  const below = make("div", {class: "lex-below", tabindex: "-1"}, remarks, picture, numbers, grid);
  const said = make("div", {class: "lex-said", role: "status"});
  const name = `lex-${Math.random().toString(36).slice(2)}`;  // radio buttons of one view belong together
  const waiting = patience(words => { said.textContent = words; said.classList.add("lex-late"); });
  let quiet;

  const send = changed => {
    const wanted = {...model.get("wanted"), ...changed};
    wanted.turn += 1;
    model.set("wanted", wanted);
    model.save_changes();
    waiting.ask();
  };

  // ---- what is chosen

  // A slider of whole numbers, or one along `values`: pairs of a value and its words.
  const sliders = model.get("sliders").map(([key, words, min, max, values]) => {
    const valueAt = place => values.length ? values[place][0] : place;
    const written = place => values.length ? values[place][1] : String(place);
    const placeOf = value => values.length ? values.findIndex(([other]) => other === value) : value;
    const value = make("output", {"aria-hidden": "true"});
    const input = make("input", {type: "range", min, max, step: 1, "aria-label": words});
    input.addEventListener("input", () => {
      tell();
      send({[key]: valueAt(Number(input.value))});
    });
    const tell = () => {
      value.textContent = written(input.value);
      input.setAttribute("aria-valuetext", written(input.value));
    };
    return {part: make("label", {}, make("span", {}, words), input, value), put: wanted => {
      const place = placeOf(wanted[key]);
      if (Number(input.value) !== place) input.value = place;
      tell();
    }};
  });

  const choices = model.get("choices").map(([key, label]) => {
    const input = make("input", {type: "radio", name, value: key, onchange: () => send({[words.key]: key})});
    return {part: make("label", {}, input, label), put: wanted => { input.checked = wanted[words.key] === key; }};
  });

  const boxes = model.get("boxes").map(([key, label]) => {
    const input = make("input", {type: "checkbox", onchange: () => send({[key]: input.checked})});
    return {part: make("label", {}, input, label), put: wanted => { input.checked = wanted[key]; }};
  });

  const follow = () => [...sliders, ...choices, ...boxes].forEach(({put}) => put(model.get("wanted")));

  // What is shown may be chosen as well: its data say what then changes.
  const takes = event => {
    const chosen = event.target.closest("[data-take]");
    if (chosen) send(JSON.parse(chosen.dataset.take));
  };

  // ---- what is shown

  const remark = said => {
    const [words, take, label] = [said].flat();
    return make("p", {class: "lw-note"}, words, ...(take ? [" ", make("button", {type: "button", "data-take": take}, label)] : []));
  };

  function show() {
    const shown = model.get("shown"), focused = below.contains(document.activeElement) && document.activeElement;
    // a size without a schedule must not move what stands below it
    if (!shown.picture) below.style.minHeight = `${below.offsetHeight}px`;
    picture.innerHTML = shown.picture;
    numbers.innerHTML = shown.numbers;
    remarks.replaceChildren(...shown.remarks.map(remark));
    grid.textContent = shown.grid;
    grid.hidden = !shown.grid;
    if (shown.picture) below.style.minHeight = "";
    if (focused && !focused.isConnected) {  // it was a button of the last answer: go on at its like, or from here
      const like = [...below.querySelectorAll("button")].find(button => button.dataset.take === focused.dataset.take
        && button.textContent === focused.textContent);
      (like || below).focus({preventScroll: true});
    }
    if (shown.turn === model.get("wanted").turn) waiting.stop();
    clearTimeout(quiet);
    said.classList.remove("lex-late");
    if (shown.turn) quiet = setTimeout(() => { said.textContent = shown.summary; }, QUIET);
  }

  el.classList.add("lw", "lex");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", words.group);
  below.addEventListener("click", takes);
  below.dataset.lmSuppressShortcuts = "true";
  el.replaceChildren(
    ...(choices.length ? [make("div", {class: "lex-choices", role: "radiogroup", "aria-label": words.choice},
      ...choices.map(({part}) => part))] : []),
    make("div", {class: "lex-sliders"}, ...sliders.map(({part}) => part)),
    make("div", {class: "lex-boxes"}, ...boxes.map(({part}) => part)),
    below, said);
  follow();
  show();
  model.on("change:wanted", follow);
  model.on("change:shown", show);
  return () => {
    waiting.stop();
    clearTimeout(quiet);
    model.off("change:wanted", follow);
    model.off("change:shown", show);
  };
}

export default {render};
