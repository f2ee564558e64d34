// @ts-check
import { check, fenceOf, positionIn } from './fence.mjs';
import { page } from './page.mjs';
import { connect } from './sdk/svc-extension.mjs';

const METRES_PER_DEGREE = 111_320;

const node = await connect();
const fence = () => fenceOf(node.config); // it may be changed while this runs
/** @type {{ lat: number, lon: number } | null} */
let home = null;
/** @type {ReturnType<typeof positionIn>} */
let position = null;
/** @type {boolean | null} */
let wasInside = null;

const status = () => check(fence(), home, position);

node.tool('geofence_status', () => ({ ...status(), fence: fence() }));
node.tool('geofence_check', ({ lat, lon, alt_rel: height }) => {
  if (typeof lat !== 'number' || typeof lon !== 'number' || typeof height !== 'number')
    throw new Error('lat, lon and alt_rel must be numbers');
  return { ...check(fence(), home, { lat, lon, alt_rel: height }), fence: fence() };
});

await node.telemetry({ rateHz: 2, fields: ['position', 'home'] }, async (telemetry) => {
  position = positionIn(telemetry.position);
  home = positionIn(telemetry['home']);
  const now = status();
  await node.publishState('status', { ...now, fence: fence() });
  // An event for each crossing; what is not known crosses nothing.
  if (now.inside === null || now.inside === wasInside) return;
  if (wasInside !== null || !now.inside)
    await node.publish('fence', { ...now, event: now.inside ? 'entered' : 'left' });
  wasInside = now.inside;
});

await node.serve((request, response) => {
  const path = (request.url ?? '/').split('?', 1)[0];
  if (request.method !== 'GET' || !['/', '/index.html', '/status.json'].includes(path ?? '')) {
    response.writeHead(404).end();
    return;
  }
  if (path === '/status.json') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...status(), fence: fence() }));
    return;
  }
  const offset = home === null || position === null ? null : offsetOf(home, position);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(page(fence(), status(), offset));
});

console.log(`watching ${JSON.stringify(fence())}`);

/**
 * @param {{ lat: number, lon: number }} from
 * @param {{ lat: number, lon: number }} to
 */
function offsetOf(from, to) {
  return {
    north: (to.lat - from.lat) * METRES_PER_DEGREE,
    east: (to.lon - from.lon) * METRES_PER_DEGREE * Math.cos((from.lat * Math.PI) / 180),
  };
}
