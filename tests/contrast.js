/* Of colours painted one over the other: light, their relative luminance; of an element: grounds, all that it stands on, from the
   page upwards; contrast, WCAG's ratio of its words to these. */
() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true}), known = new Map();
  const light = colours => {
    const key = colours.join("|");
    if (!known.has(key)) {
      for (const colour of ["white", ...colours]) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
      const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(v => v / 255)
          .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      known.set(key, 0.2126 * r + 0.7152 * g + 0.0722 * b);
    }
    return known.get(key);
  };
  const grounds = element => {
    const found = [];
    for (let at = element; at; at = at.parentElement) found.unshift(getComputedStyle(at).backgroundColor);
    return found;
  };
  const contrast = element => {
    const under = grounds(element), words = [...under, getComputedStyle(element).color];
    const [low, high] = [light(under), light(words)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  return {light, grounds, contrast};
}
