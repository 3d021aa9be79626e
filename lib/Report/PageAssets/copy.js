// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole texts that can be copied, values that can be looked at, and the trace.

/// Puts a text on the clipboard. Where a browser does not allow that, the text
/// of `shown` is selected, so that a key copies it. Says which on the button.
async function copyText(text, button, shown) {
  const label = button.textContent;
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    isCopied = false;
    if (shown)
      getSelection().selectAllChildren(shown);
  }
  button.textContent = isCopied ? "Copied" : shown ? "Selected" : "Not copied";
  setTimeout(() => button.textContent = label, 1500);
}

/// A text in full with a button that copies it; nothing for no text.
function copyable(text) {
  if (text === "")
    return "";
  const shown = element("span", {class : "whole"}, text);
  const button = element("button", {type : "button", class : "copy"}, "Copy");
  button.setAttribute("aria-label", `Copy ${shorten(text)}`);
  button.addEventListener("click", event => {
    event.stopPropagation();
    copyText(text, button, shown);
  });
  return element("span", {class : "copyable"}, [ shown, " ", button ]);
}

/// The name of a value, as a button that shows it in the arena.
function valueButton(item) {
  return element("button", {
    type : "button",
    class : "link name",
    title : wholeOf("%" + items.name[item], nameOf(item)),
    onclick : () => {
      chooseValue(item);
      showView("arena");
    }
  },
                 nameOf(item));
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

/// The bytes of a plan's trace, packed by gzip.
function traceBytes(plan) {
  return Uint8Array.from(atob(plan.trace), letter => letter.charCodeAt(0));
}

function saveTrace() {
  const blob =
      new Blob([ traceBytes(state.plan) ], {type : "application/gzip"});
  const name = `${document.title.split(" · ")[0]} ${state.plan.label}`;
  const link = element("a", {
    href : URL.createObjectURL(blob),
    download : `${name.replace(/[^\w.]+/g, "-")}.trace.json.gz`
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function showTrace() {
  const plan = state.plan;
  byId("trace-save").hidden = !plan.trace;
  const command = [
    "cutback report IN", plan.options, "--trace=step.json"
  ].filter(Boolean).join(" ");
  replaceChildren(byId("trace-text"), [
    plan.trace
        ? `Of ${plan.label}, ${formatBytes(traceBytes(plan).length)} packed. `
        : "The traces of all plans are too large for this page. ",
    "On the command line: ", copyable(command)
  ]);
}

function startTrace() {
  byId("trace").hidden = false;
  byId("trace-save").addEventListener("click", saveTrace);
}
