// Elements, and what the editor says about itself.

const BRUSHES = [["F", "forward"], ["B", "backward"], [IDLE, "idle"], ["", "erase"]];
const ABOUT_KEYS = "Arrow keys move. F forward, B backward, a digit for the micro-batch, period for idle, "
  + "Delete for not marked. Tab goes on to the buttons.";
const KEYS = [
  ["F, B", "forward, backward: the row's next micro-batch, then on to the next slot"],
  ["0 – 9", "change the micro-batch just written"], [".", "idle, then on to the next slot"],
  ["~", "the operation on the left goes on"],
  ["Delete, Backspace", "not marked"], ["← ↑ → ↓ Home End", "move"], ["Space, Enter", "mark as a click does"],
  ["Ctrl+Z, Ctrl+Y", "undo, redo"], ["Tab", "on to the buttons"],
];

const button = (words, press, more = {}) => make("button", {type: "button", onclick: press, ...more}, words);

function palette(choose) {
  const name = `lge-${Math.random().toString(36).slice(2)}`;  // radio buttons of one view belong together
  const choices = BRUSHES.map(([sign, words], index) => {
    const radio = make("input", {type: "radio", name, value: sign, onchange: () => choose(sign)});
    radio.checked = index === 0;
    return make("label", {}, radio, make("span", {class: `lge-sample ${lookOf(sign)}`, "aria-hidden": "true"}, signOf(sign)), words);
  });
  return make("div", {class: "lge-palette", role: "radiogroup", "aria-label": "What a click marks"}, ...choices);
}

const signOf = cell => cell === IDLE ? "·" : cell;
const lookOf = cell => cell === IDLE ? "lge-idle" : cell ? `lge-${kindOf(cell) || "F"}` : "lge-open";

// The look of a cell that goes on is that of what it continues.
function lookAt(row, slot) {
  while (slot > 0 && row[slot] === CONTINUED) slot--;
  return lookOf(row[slot]);
}

function tableOf(stages, slots) {
  const cells = Array.from({length: stages}, (_, stage) => Array.from({length: slots}, (_, slot) =>
    make("td", {role: "gridcell", tabindex: -1, "data-place": `${stage} ${slot}`})));
  const head = make("tr", {role: "row"}, make("th", {role: "columnheader"}, "slot"),
    ...cells[0].map((_, slot) => make("th", {role: "columnheader", scope: "col"}, String(slot))));
  const body = cells.map((row, stage) =>
    make("tr", {role: "row"}, make("th", {role: "rowheader", scope: "row"}, `stage ${stage}`), ...row));
  return {cells, parts: [make("thead", {role: "rowgroup"}, head), make("tbody", {role: "rowgroup"}, ...body)]};
}

const keyHelp = () => make("details", {}, make("summary", {}, "Keys"),
  make("dl", {}, ...KEYS.flatMap(([key, does]) => [make("dt", {}, key), make("dd", {}, does)])));
