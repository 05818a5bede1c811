// Waiting for the kernel: what to say where an answer does not come, the same in every widget that asks for one.

const PATIENCE = 3000;  // milliseconds
const NO_ANSWER = "No answer from the kernel yet. It may be busy with another cell; if it was restarted, run this cell again.";

// ask() from when something is sent, stop() once it is answered; without an answer `say` is given the words.
function patience(say) {
  let late;
  const stop = () => clearTimeout(late);
  return {stop, ask() { stop(); late = setTimeout(() => say(NO_ANSWER), PATIENCE); }};
}
