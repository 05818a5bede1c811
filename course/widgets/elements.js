// Elements of a widget. Those that can have the focus keep Jupyter's shortcuts away from their keys.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  if (["button", "input", "summary", "td"].includes(name)) element.dataset.lmSuppressShortcuts = "true";
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
