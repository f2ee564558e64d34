import { SIM_HOME } from '../../shared/landscape/place.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { KEYED, pictures } from '../support/video-node.ts';
import { cpuMicros } from './proc.ts';
import type { Result } from './result.ts';

const WINDOW_MS = 10_000;
const SETTLE_MS = 3000;
/** The landscape may cost so much more than the bars, which need no way from one process to another. */
const RATIO = 1.75;

/** CPU for a picture, drawn, encoded and handed on, while one client takes the film: the landscape beside the colour bars. */
export async function benchLandscape(): Promise<readonly Result[]> {
  const config =
    "video:\n  source: landscape\n  radio: ''\n  cameras: [{id: bars, name: Bars, source: bars}]\n";
  const node = await TestNode.start({ pairing: { key: KEY }, config });
  const leaving = new AbortController();
  try {
    await pictures(node);
    const film = await node.fetch('/api/video/live.mp4', { headers: KEYED, signal: leaving.signal });
    const read = drain(film);
    const bars = async (): Promise<number> => ofCamera(node, 'bars');
    const before = await bars();
    const standing = await ofCamera(node, 'main');
    await fly(node);
    const hovering = await ofCamera(node, 'main');
    await command(node, 'goto', SIM_HOME.lat + 0.012, SIM_HOME.lon, 30);
    const flying = await ofCamera(node, 'main');
    const after = await bars();
    leaving.abort();
    await read;
    const both = (before + after) / 2;
    const ofBars = (name: string, value: number): Result => ({
      name,
      value: value / both,
      unit: 'of bars',
      goal: RATIO,
      note: `${value.toFixed(0)} µs a picture, bars ${before.toFixed(0)} before and ${after.toFixed(0)} after`,
    });
    return [
      { name: 'CPU of svc-video and svc-camera-sim, colour bars', value: both, unit: 'µs' },
      ofBars('standing on the pad', standing),
      ofBars('hovering at 30 m', hovering),
      ofBars('flying at 30 m', flying),
    ];
  } finally {
    leaving.abort();
    await node.stop();
  }
}

async function drain(film: Response): Promise<void> {
  const reader = film.body?.getReader();
  try {
    while ((await reader?.read())?.done === false);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // aborted by us
  }
}

/** Microseconds for each of its pictures. */
async function ofCamera(node: TestNode, id: string): Promise<number> {
  const { body: shown } = await node.json('/api/video', { headers: KEYED });
  if (shown['camera_id'] !== id) await send(node, 'PUT', '/api/video/camera', { camera_id: id });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const pids = [node.pid('svc-video'), node.pid('svc-camera-sim')];
  const spent = (): number => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const frames = async (): Promise<number> =>
    Number((await node.json('/api/video', { headers: KEYED })).body['frames']);
  const [cpu, count] = [spent(), await frames()];
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
  return (spent() - cpu) / ((await frames()) - count);
}

async function fly(node: TestNode): Promise<void> {
  const telemetry = async () => (await node.json('/api/telemetry', { headers: KEYED })).body;
  await askAgain('the vehicle can arm', telemetry, ({ prearm }) =>
    JSON.stringify(prearm).includes('"can_arm":true'),
  );
  await command(node, 'mode', 'GUIDED');
  await command(node, 'arm');
  await command(node, 'takeoff', 30);
  await askAgain('it is up', telemetry, ({ position }) => JSON.stringify(position).includes('"alt_rel":29'));
}

async function command(node: TestNode, cmd: string, ...args: (number | string)[]): Promise<void> {
  await send(node, 'POST', '/api/command', { cmd, args });
}

async function send(node: TestNode, method: string, path: string, body: unknown): Promise<void> {
  const answer = await node.json(path, {
    method,
    headers: { ...KEYED, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
}
