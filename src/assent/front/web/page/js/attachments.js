// Files that go with a message: chosen, dropped or pasted. They are uploaded when it is sent, and kept here until then.

import { html, useEffect, useRef, useState } from "./html.js";
import { isImage } from "./images.js";
import { visible } from "./visible.js";

/** What a model gets at most; the server refuses more. */
const MAX_BYTES = 10_000_000;
const MAX_FILES = 10;

/** By session; "" is the one that does not exist yet. @type {Map<string, File[]>} */
const kept = new Map();

/** @param {string} session */
export function useAttachments(session) {
  const [files, setFiles] = useState(kept.get(session) ?? []);
  const [problem, setProblem] = useState("");
  const set = (/** @type {File[]} */ next) => {
    kept.set(session, next);
    setFiles(next);
  };
  const add = (/** @type {Iterable<File>} */ more) => {
    const given = [...more];
    const fit = given.filter((file) => file.size <= MAX_BYTES);
    setProblem(fit.length < given.length ? `${given.find((file) => !fit.includes(file))?.name} is too large: at most 10 MB.` : "");
    set([...(kept.get(session) ?? []), ...fit].slice(0, MAX_FILES));
  };
  const remove = (/** @type {File} */ file) => set(files.filter((one) => one !== file));
  return { files, problem, add, remove, clear: () => set([]), handlers: handlers(add) };
}

/** For the form around the text. Text that is pasted or dropped stays text. @param {(files: File[]) => void} add */
function handlers(add) {
  const take = (/** @type {Event} */ event, /** @type {DataTransfer | null} */ data) => {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    add(files);
  };
  return {
    onPaste: (/** @type {ClipboardEvent} */ event) => event.clipboardData?.types.includes("text/plain") || take(event, event.clipboardData),
    onDrop: (/** @type {DragEvent} */ event) => take(event, event.dataTransfer),
    onDragOver: (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") && event.preventDefault(),
  };
}

/** @param {{ add: (files: File[]) => void }} props */
export function AttachButton({ add }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const take = (/** @type {Event} */ event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    add([...(input.files ?? [])]);
    input.value = ""; // so that the same file can be chosen again
  };
  return html`<button type="button" class="attach" aria-label="Attach files" title="Attach files; you can also drop or paste them" onClick=${() => field.current?.click()}>+</button>
    <input ref=${field} type="file" multiple hidden aria-label="Files to attach" onChange=${take} />`;
}

/** @param {{ files: File[], problem: string, remove: (file: File) => void }} props */
export function AttachmentList({ files, problem, remove }) {
  if (files.length === 0 && !problem) return null;
  return html`<ul class="attachments" aria-label="Attached files">
    ${files.map((file) => html`<li key=${`${file.name}/${file.lastModified}/${file.size}`}><${Preview} file=${file} /><span class="cut" title=${visible(file.name)}>${visible(file.name)}</span>
      <button type="button" class="quiet" aria-label=${`Remove ${visible(file.name)}`} onClick=${() => remove(file)}>×</button></li>`)}
    ${problem && html`<li class="problem small" role="alert">${visible(problem)}</li>`}
  </ul>`;
}

/** @param {{ file: File }} props */
function Preview({ file }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!isImage(file.type)) return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url ? html`<img src=${url} alt="" />` : null;
}

/** The content in base64. @param {File} file @returns {Promise<string>} */
export async function encoded(file) {
  const reader = new FileReader();
  await new Promise((done, fail) => {
    reader.onload = done;
    reader.onerror = () => fail(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
  return String(reader.result).replace(/^[^,]*,/, "");
}
