// The grid: a table of role grid with one stop for Tab, a palette for the mouse, keys for all of it.

function render({model, el}) {
  const say = make("div", {class: "lge-say lw-note", role: "status"});
  const state = make("span", {class: "lge-state"}), count = make("span");
  const table = make("table", {role: "grid", "aria-description": ABOUT_KEYS});
  const preview = make("pre");
  const asText = make("details", {}, make("summary", {}, "The drawing as text"), preview);
  const tell = words => { say.textContent = words; };

  let cells = [], focus = [0, 0];   // the table's cells, and the one that Tab comes to
  let brush = BRUSHES[0][0];
  let typed = null;                 // {place, digits}: the operation that the next digit belongs to
  let drag = null;                  // {last, before, places, stroke} while the mouse paints; `places` once it has moved
  let fresh = "";                   // the cell that the first click of a double click marked: the second leaves it
  const drawing = followDrawing(model, paint);

  // ---- marking

  function put(place, cell) {
    drawing.put(place, cell);
    tell(`Stage ${place[0]}, slot ${place[1]}: ${inWords(cell)}.`);
  }

  const tellFull = (stage, kind) => tell(`The row of stage ${stage} has all ${drawing.microBatches} micro-batches `
    + `${inWords(kind)} already: erase one first, or change its number.`);

  function putNext(place, kind) {
    const row = drawing.rows[place[0]], left = leftNumber(row, place[1], kind);
    const number = nextNumber(row, place[1], kind, drawing.microBatches);
    if (number < 0) tellFull(place[0], kind);
    else put(place, kind + number);
    if (number >= 0 && left !== undefined && Math.abs(number - left) > 1) {
      tell(`${say.textContent} It is the next one left, and comes after micro-batch ${left}.`);
    }
    return number >= 0;
  }

  // What a click does; a second click on an operation turns its number, a stroke over it does not.
  function mark(place) {
    const row = drawing.rows[place[0]];
    if (brush === IDLE || !brush) put(place, brush);
    else if (kindOf(row[place[1]]) !== brush) putNext(place, brush);
    else {
      const number = turnNumber(row, place[1], drawing.microBatches);
      if (number >= 0) put(place, brush + number);
    }
  }

  function digit(key) {
    const place = typed ? typed.place : focus, cell = drawing.rows[place[0]][place[1]];
    if (!kindOf(cell)) return tell("A digit changes the micro-batch of a forward or backward: press F or B first.");
    const most = drawing.microBatches - 1;
    // where no number has two digits, a second digit is another number
    const number = typed?.digits && most > 9 ? Number(`${numberOf(cell)}${key}`) : Number(key);
    typed = {place, digits: false};
    if (number > most) return tell(`There is no micro-batch ${number}: they are numbered 0 to ${most}. ${cell} stays.`);
    put(place, cell.replace(/\d+$/, number));
    typed = {place, digits: true};
  }

  // ---- keys

  function go(stage, slot, keepTyped = false) {
    if (!keepTyped) typed = null;
    cells[Math.min(Math.max(stage, 0), drawing.stages - 1)][Math.min(Math.max(slot, 0), drawing.slots - 1)].focus();
  }

  function onward() {
    const [stage, slot] = focus;
    if (slot < drawing.slots - 1) go(stage, slot + 1, true);
    else if (stage < drawing.stages - 1) go(stage + 1, 0, true);
  }

  function type(cell) {
    put(focus, cell);
    typed = null;
    onward();
  }

  function typeNext(kind) {
    const place = focus;
    if (!putNext(place, kind)) return;
    typed = {place, digits: false};
    onward();
  }

  function erase(back) {
    if (back && !drawing.rows[focus[0]][focus[1]]) go(focus[0], focus[1] - 1);
    put(focus, "");
    typed = null;
  }

  const undo = () => tell(drawing.undo() ? "Undone." : "There is nothing to undo.");
  const redo = () => tell(drawing.redo() ? "Done again." : "There is nothing to do again.");

  function action(event) {
    const [stage, slot] = focus, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const end = drawing.slots - 1;
    if (event.altKey) return undefined;
    if (event.ctrlKey || event.metaKey) {
      return {z: event.shiftKey ? redo : undo, y: redo, Home: () => go(0, 0), End: () => go(drawing.stages - 1, end)}[key];
    }
    if (/^\d$/.test(key)) return () => digit(key);
    if (key === "Enter" && event.shiftKey) return undefined;
    return {
      f: () => typeNext("F"), b: () => typeNext("B"), [IDLE]: () => type(IDLE), [CONTINUED]: () => type(CONTINUED),
      Delete: () => erase(false), Backspace: () => erase(true), " ": () => mark(focus), Enter: () => mark(focus),
      ArrowLeft: () => go(stage, slot - 1), ArrowRight: () => go(stage, slot + 1), ArrowUp: () => go(stage - 1, slot),
      ArrowDown: () => go(stage + 1, slot), Home: () => go(stage, 0), End: () => go(stage, end),
    }[key];
  }

  function press(event) {
    const act = action(event);
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- mouse

  const placeOf = event => event.target.closest("td")?.dataset.place.split(" ").map(Number);

  function settleFocus(event) {
    const place = placeOf(event);
    if (!place) return;
    cells[focus[0]][focus[1]].tabIndex = -1;
    focus = place;
    cells[focus[0]][focus[1]].tabIndex = 0;
  }

  function hold(event) {
    typed = null;
    drag = placeOf(event) ? {last: placeOf(event), before: drawing.rows, places: null, stroke: Symbol("stroke")} : null;
  }

  function stroke(event) {
    const place = placeOf(event);
    if (!drag || !place || !(event.buttons & 1) || String(place) === String(drag.last)) return;
    drag.places ??= new Map([[String(drag.last), drag.last]]);
    between(drag.last, place).forEach(crossed => drag.places.set(String(crossed), crossed));  // a fast mouse leaves cells out
    drag.last = place;
    const {rows, full} = stroked(drag.before, drag.places.values(), brush, drawing.microBatches);
    drawing.draw(rows, drag.stroke);
    if (full >= 0) tellFull(full, brush);
    else tell(`Stage ${place[0]}, slot ${place[1]}: ${inWords(drawing.rows[place[0]][place[1]])}.`);
  }

  function click(event) {  // also what assistive technology sends, without any pointer
    const place = placeOf(event);
    if (place && !drag?.places && !(event.detail > 1 && fresh === String(place))) {
      if (event.detail <= 1) fresh = kindOf(drawing.rows[place[0]][place[1]]) === brush ? "" : String(place);
      mark(place);
    }
    drag = null;
  }

  // ---- buttons

  async function write() {
    const text = drawing.text || "...";
    const trouble = await writeIntoCell(el, text, model.get("source"));
    if (trouble) return tell(`${trouble} Press “Copy as text” and paste it between the quotes of your answer.`);
    drawing.settle(text);
    tell("Written. Now run this cell (Shift+Enter), then the check below.");
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(drawing.text);
      tell("Copied. Paste it between the quotes of your answer.");
    } catch {
      asText.open = true;
      getSelection().selectAllChildren(preview);
      tell("The browser did not allow it. The text is selected below: press Ctrl+C.");
    }
  }

  function clear() {
    drawing.clear();
    tell("Cleared. Undo brings it back.");
  }

  function resize(step) {
    if (step < 0 && drawing.used === drawing.slots) return tell("The last slot is in use: erase its cells first.");
    tell(drawing.resize(drawing.slots + step) ? `${drawing.slots} slots now.` : `A drawing has 1 to ${MOST_SLOTS} slots.`);
  }

  // ---- the page

  function build() {
    const made = tableOf(drawing.stages, drawing.slots);
    cells = made.cells;
    table.replaceChildren(...made.parts);
    table.setAttribute("aria-label", `Drawing, ${drawing.stages} stages, ${drawing.slots} slots`);
    focus = [focus[0], Math.min(focus[1], drawing.slots - 1)];
    cells[focus[0]][focus[1]].tabIndex = 0;
  }

  function paint() {
    if (cells[0]?.length !== drawing.slots) build();
    drawing.rows.forEach((row, stage) => row.forEach((cell, slot) => {
      const td = cells[stage][slot];
      td.className = lookAt(row, slot);
      if (td.dataset.cell === cell) return;
      td.dataset.cell = cell;
      td.textContent = signOf(cell);
      td.setAttribute("aria-label", `stage ${stage}, slot ${slot}: ${inWords(cell)}`);
    }));
    preview.textContent = drawing.text || "(nothing drawn yet)";
    count.textContent = drawing.slots;
    state.textContent = (drawing.used
        ? `${drawing.open} of ${drawing.stages * drawing.used} cells not marked yet, up to the last slot in use` : "nothing drawn yet")
      + (drawing.written ? "" : " · not written into the cell yet");
  }

  for (const [event, does] of Object.entries({keydown: press, focusin: settleFocus, pointerdown: hold, pointerover: stroke, click})) {
    table.addEventListener(event, does);
  }
  el.classList.add("lw", "lge");
  el.replaceChildren(
    make("div", {class: "lge-bar"}, palette(sign => { brush = sign; }),
      make("div", {class: "lge-tools"}, button("Undo", undo), button("Clear", clear)),
      make("div", {class: "lge-tools", role: "group", "aria-label": "slots"}, "slots",
        button("−", () => resize(-1), {"aria-label": "one slot less"}), count,
        button("+", () => resize(1), {"aria-label": "one slot more"}))),
    make("div", {class: "lge-scroll"}, table),
    make("div", {class: "lge-bar"}, button("Write into the cell", write, {class: "lge-main"}), button("Copy as text", copy), state),
    say,
    make("div", {class: "lge-bar"}, keyHelp(), asText));
  paint();
  tell(model.get("note") || (drawing.text ? "This is the drawing in the cell. Change it here, then write it into the cell again."
    : "Choose forward, backward or idle, then click cells, or drag over them."));
  return drawing.forget;
}

export default {render};
