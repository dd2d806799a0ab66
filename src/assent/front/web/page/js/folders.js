// Chooses a folder of the server: by its path, from those used before, or step by step.

import { get } from "./api.js";
import { html, useEffect, useState } from "./html.js";
import { valueOf } from "./panels.js";
import { state } from "./store.js";
import { visible } from "./visible.js";

/** @typedef {{ path: string, parent: string | null, folders: string[] }} Listing */

const MAX_RECENT = 5;

/** @param {{ folder: string, choose: (folder: string) => void }} props */
export function FolderPicker({ folder, choose }) {
  const listing = useListing(folder);
  const recent = [...new Set(state.sessions.map((session) => session.folder))].filter((one) => one !== folder).slice(0, MAX_RECENT);
  const offer = (/** @type {string} */ path, /** @type {string} */ name) => html`<li key=${path}><button type="button" class="quiet any" onClick=${() => choose(path)}>${visible(name)}</button></li>`;
  return html`<div class="choosing"><label>Folder
      <input type="text" name="folder" value=${folder} spellcheck=${false} autocapitalize="off" onInput=${(/** @type {Event} */ event) => choose(valueOf(event))} />
    </label>
    ${listing && html`<ul class="folders" aria-label="Folders here">
      ${listing.parent && offer(listing.parent, "‹ up")}
      ${listing.folders.map((name) => offer(`${listing.path.replace(/\/$/, "")}/${name}`, name))}
      ${listing.folders.length === 0 && html`<li class="soft small">No folders inside.</li>`}
    </ul>`}
    ${recent.length > 0 && html`<p class="soft small">Used before</p><ul class="folders" aria-label="Used before">${recent.map((path) => offer(path, path))}</ul>`}
  </div>`;
}

/** What is in the folder; the last known listing while someone types. @param {string} folder */
function useListing(folder) {
  const [listing, setListing] = useState(/** @type {Listing | null} */ (null));
  useEffect(() => {
    let current = true;
    get(`/folders?path=${encodeURIComponent(folder.trim())}`).then((found) => current && setListing(/** @type {Listing} */ (found)), () => {});
    return () => void (current = false);
  }, [folder]);
  return listing;
}
