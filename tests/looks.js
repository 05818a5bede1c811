/* What is wrong with how a notebook looks, cell by cell, as lines of words. */
({light, grounds, contrast}) => {
  const root = document.querySelector(".jp-Notebook"), cells = [...root.querySelectorAll(".jp-Cell")], faults = new Set();
  const ours = ".jp-OutputArea-output, .jp-RenderedMarkdown", inside = `:is(${ours}) *`;
  const say = (element, what, words) => {
    const number = cells.indexOf(element.closest(".jp-Cell"));
    faults.add(`cell ${number}: ${what}: ${words.trim().slice(0, 80)}`);
  };

  /* words that do not stand out: the course's, not those that JupyterLab writes around them */
  for (const element of root.querySelectorAll(`${ours}, ${inside}`)) {
    const words = [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.textContent).join("");
    if (!words.trim() || element.closest("svg, style, script, :disabled") || !element.checkVisibility()) continue;
    const ratio = contrast(element);
    if (ratio < 4.5) say(element, `contrast ${ratio.toFixed(2)}`, words);
  }

  /* what runs out of its place: figures, tables and lines of code may scroll in themselves, an output and the page may not */
  for (const element of root.querySelectorAll(`${ours}, ${inside}`)) {
    const style = getComputedStyle(element), out = element.scrollWidth - element.clientWidth;
    if (out <= 1 || !element.clientWidth || style.display === "inline" || element.closest("svg, pre, .lex-said")) continue;
    const scrolls = ["auto", "scroll"].includes(style.overflowX) && !element.matches(ours);
    if (!scrolls && element.checkVisibility()) say(element, `runs out by ${out}`, `${element.tagName} ${element.textContent}`);
  }
  const page = document.querySelector(".jp-WindowedPanel-outer");
  if (page.scrollWidth - page.clientWidth > 1) faults.add(`the page runs out by ${page.scrollWidth - page.clientWidth}`);

  /* pictures: no name or text form, words cut off, words over words */
  for (const picture of root.querySelectorAll(`:is(${ours}) svg[role=img]`)) {
    const edge = picture.getBoundingClientRect();
    if (!edge.width || !picture.checkVisibility()) continue;
    if (!picture.getAttribute("aria-label") || !picture.querySelector("desc")?.textContent.trim())
      say(picture, "no name or no text form", picture.textContent);
    const words = [...picture.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()])
        .filter(([, box]) => box.width).sort(([, one], [, other]) => one.left - other.left);
    for (const [text, box] of words)
      if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 || box.bottom > edge.bottom + 1)
        say(picture, "words cut off", text);
    words.forEach(([text, box], index) => {
      for (const [other, second] of words.slice(index + 1)) {
        if (second.left > box.right - 1.5) break;
        if (Math.min(box.bottom, second.bottom) - Math.max(box.top, second.top) > 3)
          say(picture, "words over words", `${text} / ${other}`);
      }
    });
  }

  /* a white slab on a dark page, a black one on a light page; a table that does not say what its columns are */
  const body = light([getComputedStyle(document.body).backgroundColor]);
  for (const element of root.querySelectorAll(`:is(${ours}) *`)) {
    const box = element.getBoundingClientRect();
    if (!element.closest("svg") && box.width * box.height > 10000 && Math.abs(light(grounds(element)) - body) > 0.5)
      say(element, "a slab", element.textContent || element.tagName);
  }
  for (const table of root.querySelectorAll(`:is(${ours}) table`))
    if (!table.querySelector("th")) say(table, "a table without header cells", table.textContent);
  return [...faults];
}
