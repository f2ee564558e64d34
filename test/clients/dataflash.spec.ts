import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { pythonWith } from './side-by-side.ts';

const headers = { 'x-svc-key': KEY };
const READ = `
import sys, json
from pymavlink import mavutil
log = mavutil.mavlink_connection(sys.argv[1])
seen = {}
top = 0
modes = []
while True:
    m = log.recv_match()
    if m is None: break
    kind = m.get_type()
    seen[kind] = seen.get(kind, 0) + 1
    if kind == 'POS': top = max(top, m.RelHomeAlt); place = [m.Lat, m.Lng]
    if kind == 'MODE': modes.append(m.ModeNum)
    if kind == 'GPS': year = __import__('datetime').datetime.utcfromtimestamp(m._timestamp).year
print(json.dumps({'seen': seen, 'top': top, 'modes': modes, 'place': place, 'year': year}))
`;

interface Found {
  readonly seen: Readonly<Record<string, number>>;
  readonly top: number;
  readonly modes: readonly number[];
  readonly place: readonly [number, number];
  readonly year: number;
}

describe('the log of a flight of the demo vehicle', function () {
  this.timeout(120_000);
  it('is new with each flight, comes through the node, and is read by pymavlink with that flight in it', async function () {
    const python = await pythonWith(['pymavlink']);
    if (python === undefined) return this.skip(); // pip install pymavlink
    const node = await TestNode.start({ pairing: { key: KEY } });
    try {
      const logs = async () =>
        (await node.json('/api/flight-logs?refresh=1', { headers })).body['logs'] as {
          id: number;
          size: number;
        }[];
      await armable(node, headers);
      const before = await logs();
      const command = async (cmd: string, ...args: unknown[]) =>
        expect((await node.post('/api/command', { cmd, args }, headers)).body, cmd).to.include({
          status: 'accepted',
        });
      await command('mode', 'GUIDED');
      await command('arm');
      await command('takeoff', 8);
      const aloft = await telemetry(
        node,
        (body) => (body['position'] as { alt_rel: number }).alt_rel > 7,
        headers,
      );
      await command('land');
      await telemetry(node, (body) => body['armed'] === false, headers);
      const after = await logs();
      expect(after).to.have.length(before.length + 1);
      const [newest] = after.filter(({ id }) => !before.some((old) => old.id === id));
      const bytes = Buffer.from(
        await (await node.fetch(`/api/flight-logs/${newest?.id}`, { headers })).arrayBuffer(),
      );
      expect(bytes).to.have.length(newest?.size ?? 0);
      const file = join(node.base, 'flight.bin');
      await writeFile(file, bytes);
      const { stdout } = await promisify(execFile)(python, ['-c', READ, file]);
      const found = JSON.parse(stdout) as Found;
      expect(found.seen).to.include.keys('PARM', 'MSG', 'MODE', 'GPS', 'ATT', 'POS', 'BAT');
      expect(found.seen['POS']).to.be.at.least(40);
      expect(found.top).to.be.within(6.5, 9);
      expect(found.modes).to.deep.equal([4, 9]);
      const { lat, lon } = aloft['position'] as { lat: number; lon: number };
      expect(found.place[0]).to.be.closeTo(lat, 1e-4);
      expect(found.place[1]).to.be.closeTo(lon, 1e-4);
      expect(found.year).to.equal(new Date().getUTCFullYear());
    } finally {
      await node.stop();
    }
  });
});
