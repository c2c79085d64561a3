// Questions to the library behind the page.

/** The answer to a question, or an Error with the server's words. */
export async function ask(path, question, signal) {
  const options =
    question === undefined
      ? { signal }
      : {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(question),
          signal,
        };
  const response = await fetch(path, options).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not respond. Is “edgewise lab serve” still running?");
  });
  const answer = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Error(`The server's answer (${response.status}) cannot be read.`);
  });
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export const TYPING = { rest: 120 }; // milliseconds in which more may be typed

/**
 * A function that asks, at once or after a rest, drops what it asked before, and shows in the panel
 * whether it waits or has failed.
 */
export function asker(panel, path, show) {
  const alert = panel.querySelector(".alert");
  let controller = null;
  let timer = null;

  async function run(question) {
    controller = new AbortController();
    const { signal } = controller;
    panel.setAttribute("aria-busy", "true");
    try {
      const answer = await ask(path, question, signal);
      alert.hidden = true;
      panel.classList.remove("stale");
      show(answer);
    } catch (error) {
      if (signal.aborted) return;
      alert.textContent = error.message;
      alert.hidden = false;
      panel.classList.add("stale");
    }
    if (!signal.aborted) panel.setAttribute("aria-busy", "false");
  }

  return (question, { rest = 0 } = {}) => {
    controller?.abort();
    clearTimeout(timer);
    panel.setAttribute("aria-busy", "true");
    timer = setTimeout(() => run(question), rest);
  };
}
