// @ts-check
import { report } from './report.mjs';
import { connect } from './sdk/svc-extension.mjs';

const node = await connect();
/** @type {{ at: number, remaining: number }[]} */
const samples = [];

node.tool('battery_report', () => report(samples));

await node.telemetry({ rateHz: 1, fields: ['battery'] }, ({ battery }) => {
  const remaining = /** @type {{ remaining?: number | null } | undefined} */ (battery)?.remaining;
  if (typeof remaining !== 'number') return; // not known is not zero
  samples.push({ at: Date.now() / 1000, remaining });
  if (samples.length > 600) samples.shift();
  return node.publishState('battery', { ...report(samples) });
});
console.log(`${node.id} ${node.version} runs on a ${node.profile}`);
