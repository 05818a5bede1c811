// The drawing of one view, its history, and its tie to the widget's model, which Python and other views share.

const MOST_SLOTS = 200;

function followDrawing(model, changed) {
  const stages = model.get("stages");
  let past = [], future = [];  // drawings as {text, slots}

  const drawing = {
    rows: readRows(model.get("text"), stages, model.get("slots")),
    stages,
    microBatches: model.get("micro_batches"),
    get slots() { return drawing.rows[0].length; },
    get text() { return writeRows(drawing.rows); },
    get written() { return drawing.text === model.get("saved"); },
    // Cells not marked yet, up to the last slot that is in use.
    get used() { return Math.max(...drawing.rows.map(row => row.findLastIndex(cell => cell) + 1)); },
    get open() { return drawing.rows.flatMap(row => row.slice(0, drawing.used)).filter(cell => !cell).length; },

    put([stage, slot], cell) { change(rows => rows.map((row, at) => at === stage ? row.with(slot, cell) : row)); },
    // All that is marked in one stroke of the mouse is one step for undo.
    draw(rows, stroke) { change(() => rows, stroke); },
    clear() { change(rows => rows.map(row => row.map(() => ""))); },
    resize(slots) {
      if (slots < 1 || slots > MOST_SLOTS) return false;
      change(rows => rows.map(row => Array.from({length: slots}, (_, slot) => row[slot] || "")));
      return true;
    },
    undo() { return travel(past, future); },
    redo() { return travel(future, past); },

    // The cell now holds this text.
    settle(source) {
      model.set("saved", drawing.text);
      model.set("source", source);
      model.save_changes();
      changed();
    },
  };

  const now = () => ({text: drawing.text, slots: drawing.slots});

  function change(update, stroke) {
    const before = now();
    drawing.rows = update(drawing.rows);
    for (const row of drawing.rows) {  // what goes on needs something on its left
      row.forEach((cell, at) => { if (cell === CONTINUED && [undefined, "", IDLE].includes(row[at - 1])) row[at] = ""; });
    }
    if (drawing.text !== before.text || drawing.slots !== before.slots) {
      if (!stroke || past.at(-1)?.stroke !== stroke) past.push({...before, stroke});
      future = [];
    }
    publish();
  }

  function travel(from, to) {
    if (!from.length) return false;
    to.push(now());
    const {text, slots} = from.pop();
    drawing.rows = readRows(text, stages, slots);
    publish();
    return true;
  }

  function publish() {
    model.set("slots", drawing.slots);
    model.set("text", drawing.text);
    model.save_changes();
    changed();
  }

  function follow() {  // another view or Python changed it
    if (model.get("text") !== drawing.text || model.get("slots") !== drawing.slots) {
      drawing.rows = readRows(model.get("text"), stages, Math.max(1, model.get("slots")));
    }
    changed();
  }
  const events = ["change:text", "change:slots", "change:saved"];
  events.forEach(event => model.on(event, follow));
  drawing.forget = () => events.forEach(event => model.off(event, follow));
  return drawing;
}
