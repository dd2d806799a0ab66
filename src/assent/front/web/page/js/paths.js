// Paths as people say them: relative to the folder of the session, or the last name alone.

/** Relative to the folder, if inside it. @param {string} path @param {string | undefined} folder */
export function shortPath(path, folder) {
  const inside = `${(folder ?? "").replace(/\/$/, "")}/`;
  return folder && path.startsWith(inside) ? path.slice(inside.length) : path;
}

/** @param {string} folder */
export const folderName = (folder) => folder.split("/").filter(Boolean).at(-1) ?? folder;

/** Uploaded files are in a folder of the server that nobody needs to see. @param {string} text @param {string} session */
export const withoutUploadFolder = (text, session) => text.replaceAll(new RegExp(`[^\\s"@]*/outputs/${session.replace(/[^\w-]/g, "")}/(?=[\\w.-]+)`, "g"), "");
