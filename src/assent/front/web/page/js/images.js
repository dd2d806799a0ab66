// Images and other media, of prompts and of results. An image is shown only if it is of a kind that contains no markup, and
// only through <img>; everything else can be saved as a file, never opened here.

import { html, useEffect, useState } from "./html.js";
import { visible } from "./visible.js";

/** @typedef {import("./types.d.ts").Media} Media */

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

/** @param {string} mime */
export const isImage = (mime) => KINDS.includes(mime);

/** @param {string} session @param {string} source a call or a prompt @param {number} place */
const addressOf = (session, source, place) => `#/s/${encodeURIComponent(session)}/media/${encodeURIComponent(`${source}.${place}`)}`;

/** @param {{ session: string, source: string, media: Media[] }} props */
export function MediaList({ session, source, media }) {
  return html`<div class="media">${media.map((one, place) => html`<a key=${place} href=${addressOf(session, source, place)}>
    ${isImage(one.mime) ? html`<${Picture} media=${one} about=${`Image ${place + 1} of ${media.length}`} />` : html`<span class="file">${visible(one.mime)}, ${sizeOf(one)}</span>`}</a>`)}</div>`;
}

/** One of them, on a page of its own. @param {{ talk: import("./fold.js").Talk, item: string }} props */
export function MediaPage({ talk, item }) {
  const end = item.lastIndexOf(".");
  const found = talk.mediaOf(item.slice(0, end))[Number(item.slice(end + 1))];
  return html`<div class="scroll-area" tabindex="0"><div class="column whole-media">
    <p class="row"><a href=${`#/s/${encodeURIComponent(talk.session)}`}>‹ Back to the conversation</a><span class="grow"></span>
      ${found && html`<span class="soft small">${visible(found.mime)}, ${sizeOf(found)}</span><button type="button" onClick=${() => save(found)}>Save as a file</button>`}</p>
    ${!found ? html`<p role="alert">There is no such file in this session.</p>` : isImage(found.mime) ? html`<${Picture} media=${found} about="Image in full size" />` : html`<p>It cannot be shown here.</p>`}
  </div></div>`;
}

/** @param {{ media: Media, about: string }} props */
function Picture({ media, about }) {
  const [url, setUrl] = useState("");
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const data = bytes(media);
    if (!data) return void setBroken(true);
    const made = URL.createObjectURL(new Blob([data], { type: media.mime }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [media]);
  if (broken) return html`<span class="file">${about}: it cannot be shown</span>`;
  return url ? html`<img src=${url} alt=${about} decoding="async" onError=${() => setBroken(true)} />` : null;
}

/** @param {Media} media */
function bytes({ data }) {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch {
    return null; // not base64
  }
}

/** @param {Media} media */
const sizeOf = ({ data }) => `${Math.ceil((data.length * 3) / 4000).toLocaleString()} kB`;

/** As plain bytes: whatever it is, the browser does not open it. @param {Media} media */
function save(media) {
  const data = bytes(media);
  if (!data) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
  link.download = `file.${media.mime.replace(/.*\//, "").replace(/[^\w]/g, "").slice(0, 10) || "bin"}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
