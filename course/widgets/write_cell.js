// Writing into the code cell above an output, as a person would: select all, copy, change, paste.
// Only what a page shows is used, no editor's insides, so that JupyterLab and Notebook may change theirs.
// Copying, rather than reading the lines on the screen, gives the whole cell: long cells are on the screen in part.

const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

// Where the texts between triple quotes begin and end in Python code, comments and other strings left aside.
function tripleQuoted(code) {
  const found = [];
  for (let at = 0; at < code.length;) {
    const three = code.slice(at, at + 3), quote = code[at];
    if (quote === "#") at = (code.indexOf("\n", at) + 1) || code.length;
    else if (three === '"""' || three === "'''") {
      let end = at + 3;
      while (end < code.length && code.slice(end, end + 3) !== three) end += code[end] === "\\" ? 2 : 1;
      if (end >= code.length) break;
      found.push({start: at + 3, end, assigned: /=[\s(]*[a-zA-Z]?$/.test(code.slice(0, at))});
      at = end + 3;
    } else if (quote === '"' || quote === "'") {
      for (at++; at < code.length && code[at] !== quote && code[at] !== "\n"; at++) if (code[at] === "\\") at++;
      at++;
    } else at++;
  }
  return found;
}

function clipboardEvent(type, data) {
  const event = new ClipboardEvent(type, {bubbles: true, cancelable: true});
  Object.defineProperty(event, "clipboardData", {value: data});  // not every browser takes it in the constructor
  return event;
}

async function copyAll(content) {
  const selection = getSelection(), lines = content.querySelectorAll(".cm-line").length;
  content.focus();
  selection.collapse(content, 0);
  await pause(30);
  selection.selectAllChildren(content);
  for (let tries = 0; tries < 20; tries++) {  // the editor follows the selection a moment later
    await pause(30);
    const data = new DataTransfer();
    content.dispatchEvent(clipboardEvent("copy", data));
    const code = data.getData("text/plain");
    if (code && code.split("\n").length >= lines) return code;
  }
  return "";
}

const squeezed = text => text.trim().split(/\s+/).join(" ");

// Put `text` between the triple quotes that hold `source`, or else the first ones assigned to a name.
// Answers "" when it is there, otherwise why it is not.
async function writeIntoCell(element, text, source) {
  const content = element.closest(".jp-Cell")?.querySelector(".jp-InputArea-editor .cm-content");
  if (!content) return "There is no code cell around this editor.";
  try {
    const code = await copyAll(content);
    const places = tripleQuoted(code);
    const place = places.find(({start, end}) => squeezed(code.slice(start, end)) === squeezed(source))
      || places.find(({assigned}) => assigned) || places[0];
    if (!place) return "This cell has no text between triple quotes.";
    const wanted = `${code.slice(0, place.start)}\n${text}\n${code.slice(place.end)}`;
    const data = new DataTransfer();
    data.setData("text/plain", wanted);
    content.dispatchEvent(clipboardEvent("paste", data));
    await pause(30);
    return await copyAll(content) === wanted ? "" : "The cell did not take the text.";
  } finally {
    getSelection().collapseToEnd();  // a cell left selected would be lost at the next key
  }
}
