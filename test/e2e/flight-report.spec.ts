import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { FlightReport } from '../../shared/schemas/flight-report.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

/** Of a flight of ArduPilot's simulated VTOL plane. */
const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);
const headers = { 'x-svc-key': KEY };

const FIRMWARES = [
  { firmware: 'ardupilot', start: [['mode', 'GUIDED'], ['arm'], ['takeoff', 8]], modes: ['GUIDED', 'LAND'] },
  { firmware: 'px4', start: [['arm'], ['takeoff', 8]], modes: ['AUTO.TAKEOFF', 'AUTO.LAND'] },
] as const;

describe('reports of a flight', function () {
  this.timeout(120_000);

  for (const { firmware, start, modes } of FIRMWARES)
    it(`${firmware}: from the telemetry log and from the log of the vehicle, by HTTP and by svc`, async () => {
      await using sim = await SimProcess.start('--firmware', firmware);
      const node = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
      });
      try {
        await armable(node, headers);
        const list = async (path: string) => (await node.json(path, { headers })).body;
        const logs = async () => (await list('/api/flight-logs'))['logs'] as { id: number }[];
        const report = async (path: string) => {
          const { status, body } = await node.json(path, { headers });
          expect(status, JSON.stringify(body)).to.equal(200);
          return body as unknown as FlightReport;
        };
        const before = await logs();
        for (const [cmd, ...args] of start)
          expect((await node.post('/api/command', { cmd, args }, headers)).body, cmd).to.include({
            status: 'accepted',
          });
        const aloft = ({ position, mode }: Record<string, unknown>): boolean =>
          (position as { alt_rel: number }).alt_rel > 7.5 && !String(mode).includes('TAKEOFF');
        await telemetry(node, aloft, headers);
        await node.post('/api/command', { cmd: 'land' }, headers);
        await telemetry(node, ({ armed }) => armed === false, headers);
        const tlog = String((await list('/api/tlogs'))['writing']);

        const told = await askAgain(
          'the telemetry log has the end of the flight',
          async () => report(`/api/tlogs/${tlog}/report`),
          ({ events }) => events.some(({ kind }) => kind === 'disarmed'),
        );
        expect(told.vehicle).to.include(firmware === 'px4' ? 'PX4' : 'ArduPilot copter');
        expect(told.max.height_m).to.be.within(6.5, 9);
        expect(told.modes.map(({ name }) => name)).to.include.members(modes);
        expect(Date.now() - Date.parse(told.start ?? '')).to.be.within(0, 120_000);
        const shown = await svc(node.paths, 'tlogs', 'report', tlog);
        expect([shown.code, shown.stdout]).to.deep.include(0);
        expect(shown.stdout).to.include(`mode        `).and.include(modes[1]);

        const [newest] = (await logs()).filter(({ id }) => !before.some((old) => old.id === id));
        const path = `/api/flight-logs/${newest?.id}/report`;
        const first = await node.json(path, { headers });
        expect([first.status, first.body['code']]).to.deep.equal([409, 'E_BUSY']);
        expect(first.body['detail']).to.match(/^Log \d+ is being fetched: /);
        await askAgain(
          'the log is here',
          async () => (await node.json(path, { headers })).status,
          (status) => status === 200,
        );
        const own = await report(path);
        expect(own.max.height_m).to.be.within(6.5, 9);
        expect(own.duration_s).to.be.within(5, 120);
        expect(own.battery.start).to.be.above(5);
        expect(own.vibration).to.deep.equal({ max: null, clips: null }); // the simulated vehicle logs none
        const json = await svc(node.paths, 'flightlogs', 'report', String(newest?.id), '--json');
        expect(JSON.parse(json.stdout)).to.deep.equal(own);
      } finally {
        await node.stop();
      }
    });

  it('of what is no log, or not there, is a refusal', async () => {
    await using sim = await SimProcess.start('--log-size', '5000');
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
    });
    try {
      const code = async (path: string) => {
        const { status, body } = await node.json(path, { headers });
        return body['code'] === 'E_LOG' ? `${status} E_LOG` : body['code'];
      };
      await armable(node, headers);
      await askAgain(
        'bytes that are no log are refused',
        async () => code('/api/flight-logs/1/report'),
        (told) => told === '422 E_LOG',
      );
      expect(await code('/api/flight-logs/77/report')).to.equal('E_NOT_FOUND');
      expect(await code('/api/flight-logs/99999/report')).to.equal('E_NOT_FOUND');
      expect(await code('/api/tlogs/nothing.tlog/report')).to.equal('E_NOT_FOUND');
      expect((await svc(node.paths, 'tlogs', 'report', 'nothing.tlog')).code).to.equal(1);
    } finally {
      await node.stop();
    }
  });

  it('ends with its client: the next one need not wait', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    try {
      await mkdir(node.paths.tlogs, { recursive: true });
      // Each tenth byte begins a frame whose checksum is wrong: half a minute or so of work.
      const start = Buffer.from([0xfd, 255, 0, 0, 0, 0, 0, 0, 0, 0]);
      await writeFile(join(node.paths.tlogs, 'slow.tlog'), Buffer.alloc(200_000_000, start));
      await copyFile(VTOL, join(node.paths.tlogs, 'flight.tlog'));
      const report = async () => node.json('/api/tlogs/flight.tlog/report', { headers });
      const away = new AbortController();
      const { signal } = away;
      const slow = node.fetch('/api/tlogs/slow.tlog/report', { headers, signal }).then(
        () => 'answered',
        () => 'gone',
      );
      await askAgain(
        'the slow one is being made',
        async () => (await report()).body['code'],
        (code) => code === 'E_BUSY',
      );
      away.abort();
      expect(await slow).to.equal('gone');
      const began = performance.now();
      const { body } = await askAgain('the next one is made', report, ({ status }) => status === 200);
      expect(performance.now() - began).to.be.below(5000);
      expect(body['vehicle']).to.equal('ArduPilot plane 3.10.0');
    } finally {
      await node.stop();
    }
  });
});
