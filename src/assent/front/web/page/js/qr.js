// A QR code (ISO/IEC 18004): bytes, error correction level L, versions 1 to 10, which is enough for a URL of 271 bytes.

const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18]; // codewords of each block, by version
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4];
const LEVEL_L = 1;

/** @typedef {{ size: number, dark: boolean[][], fixed: boolean[][] }} Grid */

/** The dark squares, row by row. @param {string} text @returns {boolean[][]} */
export function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = CORRECTION.findIndex((_, n) => bytes.length + (n < 9 ? 2 : 3) <= dataLength(n + 1)) + 1;
  if (!version) throw new Error("this is too long for a QR code");
  const grid = emptyGrid(version);
  drawPatterns(grid, version);
  drawData(grid, interleaved(dataOf(bytes, version), version));
  mask(grid);
  drawFormat(grid);
  return grid.dark;
}

/** @param {number} version */
function rawLength(version) {
  const align = version >= 2 ? Math.floor(version / 7) + 2 : 0;
  const modules = (16 * version + 128) * version + 64 - (align ? (25 * align - 10) * align - 55 : 0) - (version >= 7 ? 36 : 0);
  return Math.floor(modules / 8);
}

/** @param {number} version */
const dataLength = (version) => rawLength(version) - CORRECTION[version - 1] * BLOCKS[version - 1];

/** The bytes with their mode, length, end and padding. @param {number[]} bytes @param {number} version */
function dataOf(bytes, version) {
  const bits = /** @type {number[]} */ ([]);
  const put = (/** @type {number} */ value, /** @type {number} */ count) => {
    for (let n = count - 1; n >= 0; n--) bits.push((value >> n) & 1);
  };
  put(0b0100, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  bytes.forEach((byte) => put(byte, 8));
  put(0, Math.min(4, dataLength(version) * 8 - bits.length));
  while (bits.length % 8) bits.push(0);
  const data = Array.from({ length: bits.length / 8 }, (_, n) => bits.slice(n * 8, n * 8 + 8).reduce((sum, bit) => sum * 2 + bit, 0));
  for (let pad = 0xec; data.length < dataLength(version); pad ^= 0xec ^ 0x11) data.push(pad);
  return data;
}

/** @param {number} one @param {number} other */
function times(one, other) {
  let product = 0;
  for (let n = 7; n >= 0; n--) product = (product << 1) ^ ((product >>> 7) * 0x11d) ^ (((other >>> n) & 1) * one);
  return product;
}

/** The codewords for error correction. @param {number[]} data @param {number} count */
function correction(data, count) {
  let divisor = [...Array(count - 1).fill(0), 1];
  for (let n = 0, root = 1; n < count; n++, root = times(root, 2)) {
    divisor = divisor.map((factor, place) => times(factor, root) ^ (divisor[place + 1] ?? 0));
  }
  let rest = Array(count).fill(0);
  for (const byte of data) {
    const factor = byte ^ rest[0];
    rest = [...rest.slice(1), 0].map((value, place) => value ^ times(divisor[place], factor));
  }
  return rest;
}

/** @param {number[]} data @param {number} version */
function interleaved(data, version) {
  const count = BLOCKS[version - 1];
  const short = Math.floor(data.length / count);
  const longFrom = count - (data.length % count);
  const starts = Array.from({ length: count + 1 }, (_, n) => n * short + Math.max(0, n - longFrom));
  const blocks = Array.from({ length: count }, (_, n) => data.slice(starts[n], starts[n + 1]));
  const checks = blocks.map((block) => correction(block, CORRECTION[version - 1]));
  const woven = (/** @type {number[][]} */ lists) => Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, n) => lists.flatMap((list) => (n < list.length ? [list[n]] : []))).flat();
  return [...woven(blocks), ...woven(checks)];
}

/** @param {number} version @returns {Grid} */
function emptyGrid(version) {
  const size = version * 4 + 17;
  const rows = () => Array.from({ length: size }, () => /** @type {boolean[]} */ (Array(size).fill(false)));
  return { size, dark: rows(), fixed: rows() };
}

/** @param {Grid} grid @param {number} x @param {number} y @param {boolean} dark */
function set(grid, x, y, dark) {
  if (x < 0 || y < 0 || x >= grid.size || y >= grid.size) return;
  grid.dark[y][x] = dark;
  grid.fixed[y][x] = true;
}

/** @param {Grid} grid @param {number} version */
function drawPatterns(grid, version) {
  const { size } = grid;
  for (let n = 0; n < size; n++) [set(grid, 6, n, n % 2 === 0), set(grid, n, 6, n % 2 === 0)];
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(grid, x, y, 4, (ring) => ring !== 2 && ring !== 4);
  const at = alignment(version, size);
  at.forEach((x, i) => at.forEach((y, j) => {
    const corner = (i === 0 && (j === 0 || j === at.length - 1)) || (i === at.length - 1 && j === 0);
    if (!corner) square(grid, x, y, 2, (ring) => ring !== 1);
  }));
  drawFormat(grid);
  if (version >= 7) drawVersion(grid, version);
}

/** @param {Grid} grid @param {number} x @param {number} y @param {number} radius @param {(ring: number) => boolean} dark */
function square(grid, x, y, radius, dark) {
  for (let dy = -radius; dy <= radius; dy++) for (let dx = -radius; dx <= radius; dx++) set(grid, x + dx, y + dy, dark(Math.max(Math.abs(dx), Math.abs(dy))));
}

/** @param {number} version @param {number} size */
function alignment(version, size) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, n) => size - 7 - (count - 2 - n) * step)];
}

/** @param {Grid} grid */
function drawFormat(grid) {
  const data = LEVEL_L << 3; // mask 0
  const bits = ((data << 10) | remainder(data, 10, 0x537)) ^ 0x5412;
  const bit = (/** @type {number} */ n) => ((bits >> n) & 1) === 1;
  const { size } = grid;
  for (let n = 0; n < 6; n++) set(grid, 8, n, bit(n));
  [set(grid, 8, 7, bit(6)), set(grid, 8, 8, bit(7)), set(grid, 7, 8, bit(8))];
  for (let n = 9; n < 15; n++) set(grid, 14 - n, 8, bit(n));
  for (let n = 0; n < 8; n++) set(grid, size - 1 - n, 8, bit(n));
  for (let n = 8; n < 15; n++) set(grid, 8, size - 15 + n, bit(n));
  set(grid, 8, size - 8, true);
}

/** @param {Grid} grid @param {number} version */
function drawVersion(grid, version) {
  const bits = (version << 12) | remainder(version, 12, 0x1f25);
  for (let n = 0; n < 18; n++) {
    const [far, near] = [grid.size - 11 + (n % 3), Math.floor(n / 3)];
    [set(grid, far, near, ((bits >> n) & 1) === 1), set(grid, near, far, ((bits >> n) & 1) === 1)];
  }
}

/** @param {number} data @param {number} length @param {number} divisor */
function remainder(data, length, divisor) {
  let rest = data;
  for (let n = 0; n < length; n++) rest = (rest << 1) ^ ((rest >>> (length - 1)) * divisor);
  return rest;
}

/** In two columns at a time, up and down. @param {Grid} grid @param {number[]} codewords */
function drawData(grid, codewords) {
  let n = 0;
  for (let right = grid.size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < grid.size; step++) {
      const y = ((right + 1) & 2) === 0 ? grid.size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (grid.fixed[y][x] || n >= codewords.length * 8) continue;
        grid.dark[y][x] = ((codewords[n >> 3] >> (7 - (n & 7))) & 1) === 1;
        n += 1;
      }
    }
  }
}

/** @param {Grid} grid */
function mask(grid) {
  for (let y = 0; y < grid.size; y++) for (let x = 0; x < grid.size; x++) if (!grid.fixed[y][x] && (x + y) % 2 === 0) grid.dark[y][x] = !grid.dark[y][x];
}
