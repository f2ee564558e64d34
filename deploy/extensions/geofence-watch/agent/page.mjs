// @ts-check

const SIZE = 320;
const SCALE = 0.4; // of the picture's width for the radius

/**
 * A page without scripts: a node serves pages of extensions in a sandbox that runs none.
 * @param {import('./fence.mjs').Fence} fence
 * @param {import('./fence.mjs').Status} status
 * @param {{ east: number, north: number } | null} offset metres from home
 */
export function page(fence, status, offset) {
  const metres = (SIZE * SCALE) / fence.radius_m;
  const x = clamp(SIZE / 2 + (offset?.east ?? 0) * metres);
  const y = clamp(SIZE / 2 - (offset?.north ?? 0) * metres);
  const word = status.inside === null ? 'not known' : status.inside ? 'inside' : 'OUTSIDE';
  const colour = status.inside === false ? '#c0392b' : '#1e7e4f';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Geofence watch</title>
<style>body { font: 16px system-ui, sans-serif; margin: 1rem; color-scheme: light dark } td { padding: 0.1rem 0.8rem 0.1rem 0 }</style>
<h1>Geofence watch</h1>
<svg width="${SIZE}" height="${SIZE}" viewBox="0 0 ${SIZE} ${SIZE}" role="img" aria-label="the vehicle is ${word}">
  <circle cx="${SIZE / 2}" cy="${SIZE / 2}" r="${SIZE * SCALE}" fill="none" stroke="${colour}" stroke-width="2"/>
  <circle cx="${SIZE / 2}" cy="${SIZE / 2}" r="3" fill="currentColor"/>
  ${offset === null ? '' : `<circle cx="${x}" cy="${y}" r="7" fill="${colour}"/>`}
</svg>
<table>
  <tr><td>vehicle<td><strong>${word}</strong>
  <tr><td>from home<td>${shown(status.distance_m)} of ${fence.radius_m} m
  <tr><td>height<td>${shown(status.height_m)} of ${fence.height_m} m
  <tr><td>to the border<td>${shown(status.margin_m)} m
</table>
<p><a href="index.html">Now</a>
`;
}

/** @param {number | null} value */
function shown(value) {
  return value === null ? 'not known' : String(value);
}

/** @param {number} value */
function clamp(value) {
  return Math.min(SIZE - 8, Math.max(8, Math.round(value)));
}
