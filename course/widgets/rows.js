// The drawing as rows of cells: "F0", "." idle, "~" the operation on the left goes on, "" not marked yet.

const IDLE = ".", CONTINUED = "~", UNMARKED = "?";
const kindOf = cell => (/[FBIW]/.exec(cell) || [""])[0];
const numberOf = cell => Number(/\d+$/.exec(cell)[0]);

function readRows(text, stages, slots) {
  const lines = text.split("\n").map(line => line.trim().split(/\s+/));
  return Array.from({length: stages}, (_, stage) => Array.from({length: slots}, (_, slot) => {
    const cell = (lines[stage] || [])[slot] || "";
    return cell === UNMARKED ? "" : cell;
  }));
}

function writeRows(rows) {
  const marked = rows.map(row => row.slice(0, Math.max(1, row.findLastIndex(cell => cell) + 1)));
  if (marked.every(row => row.every(cell => !cell))) return "";
  const width = Math.max(...marked.flat().map(cell => cell.length || 1));
  return marked.map(row => row.map(cell => (cell || UNMARKED).padEnd(width)).join(" ").trimEnd()).join("\n");
}

// The micro-batch of the last operation of this kind before a slot, undefined where there is none.
const leftNumber = (row, slot, kind) => row.slice(0, slot).filter(cell => kindOf(cell) === kind).map(numberOf).at(-1);

// The micro-batch that most likely comes next in a row, -1 when every one is there: it follows the one on the left.
function nextNumber(row, slot, kind, microBatches) {
  const used = new Set(row.filter((cell, at) => at !== slot && kindOf(cell) === kind).map(numberOf));
  const free = number => number >= 0 && number < microBatches && !used.has(number);
  const left = leftNumber(row, slot, kind);
  const likely = left === undefined ? [] : [left + 1, left - 1].filter(free);
  return likely.concat([...Array(microBatches).keys()].filter(free), -1)[0];
}

// The free micro-batch after this cell's own, round and round: what a second click on a cell gives.
function turnNumber(row, slot, microBatches) {
  const kind = kindOf(row[slot]), own = numberOf(row[slot]);
  const used = new Set(row.filter((cell, at) => at !== slot && kindOf(cell) === kind).map(numberOf));
  for (let step = 1; step < microBatches; step++) {
    const number = (own + step) % microBatches;
    if (!used.has(number)) return number;
  }
  return -1;
}

// The cells from one to another in a straight line, without the first.
function between([stage, slot], [toStage, toSlot]) {
  const steps = Math.max(Math.abs(toStage - stage), Math.abs(toSlot - slot));
  return Array.from({length: steps}, (_, at) => [
    stage + Math.round((toStage - stage) * (at + 1) / steps), slot + Math.round((toSlot - slot) * (at + 1) / steps)]);
}

// Rows with these cells marked by one stroke, whichever way it went: each row's operations are numbered in time order.
// An operation of this kind stays as it is. `full` is the row that has all micro-batches already, -1 where none has.
function stroked(rows, places, brush, microBatches) {
  const drawn = rows.map(row => [...row]);
  let full = -1;
  for (const [stage, slot] of [...places].sort((one, other) => one[0] - other[0] || one[1] - other[1])) {
    const row = drawn[stage];
    if (brush === IDLE || !brush) row[slot] = brush;
    else if (kindOf(row[slot]) !== brush) {
      const number = nextNumber(row, slot, brush, microBatches);
      if (number >= 0) row[slot] = brush + number;
      else full = stage;
    }
  }
  return {rows: drawn, full};
}

function inWords(cell) {
  const name = {F: "forward", B: "backward", I: "input gradient", W: "weight gradient"}[kindOf(cell)];
  if (!cell) return "not marked";
  if (cell === IDLE) return "idle";
  if (cell === CONTINUED) return "continues";
  return /\d$/.test(cell) ? `${name}, micro-batch ${numberOf(cell)}` : name;
}
