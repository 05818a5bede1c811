// A row of buttons, one a hint, each usable once the one before has been read. The hints come from the kernel, one by one.

function render({model, el}) {
  const read = make("div", {class: "lh-read", role: "status"}), late = make("div", {class: "lw-note", role: "status"});
  const waiting = patience(words => { late.textContent = words; });
  const buttons = model.get("labels").map((label, at) => make("button", {type: "button", title: label, onclick() {
    if (at < model.get("read").length) return;  // it stands below
    model.set("wanted", at + 1);
    model.save_changes();
    waiting.ask();
  }}, `Hint ${at + 1}`));

  function show() {
    waiting.stop();
    late.textContent = "";
    read.innerHTML = model.get("read").join("");
    buttons.forEach((button, at) => { button.disabled = at > model.get("read").length; });
  }

  el.classList.add("lw", "lh");
  el.replaceChildren(make("div", {class: "lh-buttons", role: "group", "aria-label": model.get("title")}, ...buttons), late, read);
  show();
  model.on("change:read", show);
  return () => {
    waiting.stop();
    model.off("change:read", show);
  };
}

export default {render};
