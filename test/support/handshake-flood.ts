import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { RemoteHost } from './netns.ts';

/** Runs in another host: opens connections and begins handshakes, as quickly as it can. */
const FLOOD = `
const { connect } = require('node:tls');
const [host, port, total] = process.argv.slice(1);
let begun = 0, finished = 0;
const one = () => {
  if (begun++ >= Number(total)) return;
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  socket.on('secureConnect', () => { finished++; socket.destroy(); });
  socket.on('error', () => undefined);
  socket.on('close', one);
};
const at = performance.now();
process.on('exit', () => console.log(JSON.stringify({ finished, seconds: (performance.now() - at) / 1000 })));
for (let i = 0; i < 50; i++) one();
`;

/** What ten thousand handshakes of one address came to. */
export interface Flooded {
  readonly finished: number;
  readonly seconds: number;
}

/**
 * Ten thousand handshakes of that host with this machine's port.
 * @param meanwhile is called again and again until the last one has ended
 */
export async function floodHandshakes(
  attacker: RemoteHost,
  port: number,
  meanwhile: () => Promise<void>,
): Promise<Flooded> {
  const [program, ...prefix] = attacker.prefix;
  if (program === undefined) throw new Error('no host');
  const args = [...prefix, process.execPath, '-e', FLOOD, attacker.near, String(port), '10000'];
  const flood = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = { told: null as string | null };
  const told = text(flood.stdout).then((line) => {
    end.told = line;
  });
  do await meanwhile();
  while (end.told === null);
  await told;
  return JSON.parse(end.told) as Flooded;
}
