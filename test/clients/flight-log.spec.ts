import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { pythonWith } from './side-by-side.ts';

const headers = { 'x-svc-key': KEY };

/** What both readers print, as JSON. */
interface Found {
  /** Messages or rows by their names. */
  readonly seen: Readonly<Record<string, number>>;
  /** Metres above home. */
  readonly top: number;
  readonly modes: readonly number[];
  readonly place: readonly [number, number];
  readonly year: number;
}

const PYMAVLINK = `
import sys, json, datetime
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
    if kind == 'GPS': year = datetime.datetime.utcfromtimestamp(m._timestamp).year
print(json.dumps({'seen': seen, 'top': top, 'modes': modes, 'place': place, 'year': year}))
`;

const PYULOG = `
import sys, json, datetime
from pyulog import ULog
log = ULog(sys.argv[1])
assert not log.file_corruption
of = {d.name: d.data for d in log.data_list}
assert of['vehicle_status']['arming_state'][-1] == 1 # disarmed
seen = {name: len(data['timestamp']) for name, data in of.items()}
seen['PARM'] = len(log.initial_parameters)
seen['MSG'] = len(log.logged_messages)
nav = [int(n) for n in of['vehicle_status']['nav_state'] if n != 4] # between two others it holds (AUTO_LOITER), for less than a sample
modes = [n for i, n in enumerate(nav) if i == 0 or nav[i - 1] != n]
place = [float(of['vehicle_global_position'][axis][-1]) for axis in ('lat', 'lon')]
year = datetime.datetime.utcfromtimestamp(int(of['vehicle_gps_position']['time_utc_usec'][0]) / 1e6).year
print(json.dumps({'seen': seen, 'top': float(-min(of['vehicle_local_position']['z'])), 'modes': modes, 'place': place, 'year': year}))
`;

const FIRMWARES = [
  {
    firmware: 'ardupilot',
    reader: 'pymavlink',
    script: PYMAVLINK,
    names: ['PARM', 'MSG', 'MODE', 'GPS', 'ATT', 'POS', 'BAT'],
    samples: 'POS',
    start: [['mode', 'GUIDED'], ['arm'], ['takeoff', 8]],
    modes: [4, 9], // GUIDED, LAND
  },
  {
    firmware: 'px4',
    reader: 'pyulog',
    script: PYULOG,
    names: ['PARM', 'MSG', 'vehicle_status', 'vehicle_attitude', 'vehicle_land_detected', 'battery_status'],
    samples: 'vehicle_local_position',
    start: [['arm'], ['takeoff', 8]],
    modes: [17, 18], // AUTO_TAKEOFF, AUTO_LAND
  },
] as const;

describe('the log of a flight of the demo vehicle', function () {
  this.timeout(120_000);
  for (const { firmware, reader, script, names, samples, start, modes } of FIRMWARES)
    it(`${firmware}: is new with each flight, comes through the node, and is read by ${reader} with that flight in it`, async function () {
      const python = await pythonWith([reader]);
      if (python === undefined) return this.skip(); // pip install pymavlink pyulog
      await using sim = await SimProcess.start('--firmware', firmware);
      const config = `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`;
      const node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config });
      try {
        const logs = async () =>
          (await node.json('/api/flight-logs', { headers })).body['logs'] as {
            id: number;
            size: number;
          }[];
        await armable(node, headers);
        const before = await logs();
        const command = async (cmd: string, ...args: readonly unknown[]) =>
          expect((await node.post('/api/command', { cmd, args }, headers)).body, cmd).to.include({
            status: 'accepted',
          });
        for (const [cmd, ...args] of start) await command(cmd, ...args);
        const aloft = await telemetry(
          node,
          ({ position, mode }) =>
            (position as { alt_rel: number }).alt_rel > 7.5 && !String(mode).includes('TAKEOFF'),
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
        const file = join(node.base, firmware === 'px4' ? 'flight.ulg' : 'flight.bin');
        await writeFile(file, bytes);
        const { stdout } = await promisify(execFile)(python, ['-c', script, file]);
        const found = JSON.parse(stdout) as Found;
        expect(found.seen).to.include.keys(...names);
        expect(found.seen[samples]).to.be.at.least(40);
        expect(found.top).to.be.within(6.5, 9);
        expect(found.modes).to.deep.equal(modes);
        const { lat, lon } = aloft['position'] as { lat: number; lon: number };
        expect(found.place[0]).to.be.closeTo(lat, 1e-4);
        expect(found.place[1]).to.be.closeTo(lon, 1e-4);
        expect(found.year).to.equal(new Date().getUTCFullYear());
      } finally {
        await node.stop();
      }
    });
});
