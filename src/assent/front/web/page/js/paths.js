// Paths as people say them: relative to the folder of the session, or the last name alone.

/** Relative to the folder, if inside it. @param {string} path @param {string | undefined} folder */
export function shortPath(path, folder) {
  const inside = `${(folder ?? "").replace(/\/$/, "")}/`;
  return folder && path.startsWith(inside) ? path.slice(inside.length) : path;
}

/** @param {string} folder */
export const folderName = (folder) => folder.split("/").filter(Boolean).at(-1) ?? folder;
