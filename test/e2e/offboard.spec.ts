import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { armable, linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

const key = { 'x-svc-key': KEY };
const EAST = { type: 'velocity', frame: 'ned', vx: 0, vy: 4, vz: 0 };

/** A client that sends one set-point ten times a second until it is told to be silent. */
class Pilot {
  readonly socket: WebSocket;
  readonly heard: Record<string, unknown>[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(url: string, path = '/api/offboard/ws', headers: Record<string, string> = key) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
    this.socket.on('message', (data: Buffer) => {
      this.heard.push(JSON.parse(data.toString()) as Record<string, unknown>);
    });
  }

  async open(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  fly(point: unknown): void {
    this.silence();
    this.#timer = setInterval(() => this.socket.send(JSON.stringify(point)), 100);
  }

  silence(): void {
    clearInterval(this.#timer);
  }

  async hears(fits: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.heard.find(fits);
      if (found !== undefined) return found;
      await once(this.socket, 'message');
    }
  }
}

describe('set-points over a WebSocket', function () {
  this.timeout(120_000);

  for (const [firmware, mode] of [
    ['ardupilot', 'GUIDED'],
    ['px4', 'OFFBOARD'],
  ] as const) {
    it(`${firmware}: it flies by them, and holds half a second after they end`, async () => {
      await using sim = await SimProcess.start('--firmware', firmware, '--speedup', '4');
      const node = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
      });
      try {
        await armable(node, key);
        const command = async (cmd: string, ...args: unknown[]): Promise<void> => {
          const { body } = await node.json('/api/command', {
            method: 'POST',
            headers: { ...key, 'content-type': 'application/json' },
            body: JSON.stringify({ cmd, args, ...(cmd === 'takeoff' ? { wait: true } : {}) }),
          });
          expect(body, cmd).to.include({ status: 'accepted' });
        };
        if (firmware === 'ardupilot') await command('mode', 'GUIDED');
        await command('arm');
        await command('takeoff', 5);
        const pilot = await new Pilot(node.url).open();
        const other = await new Pilot(node.url).open();
        pilot.fly(EAST);
        await pilot.hears(({ holder }) => holder === 'you');
        if (firmware === 'px4') await command('mode', 'OFFBOARD');
        other.socket.send(JSON.stringify(EAST));
        expect((await other.hears(({ type }) => type === 'error'))['code']).to.equal('E_BUSY');
        await other.hears(({ holder, following }) => holder === 'other' && following === true);
        await linkState(node, ({ telemetry: { velocity } }) => (velocity.vy ?? 0) > 3);
        pilot.silence();
        const { telemetry } = await linkState(
          node,
          ({ offboard, telemetry: { velocity } }) =>
            offboard.holder === null && Math.abs(velocity.vy ?? 9) < 0.3,
        );
        expect(telemetry.mode).to.equal(firmware === 'px4' ? 'AUTO.LOITER' : mode);
        other.socket.send('{"type":"velocity","frame":"ned","vx":"fast","vy":0,"vz":0}');
        expect((await other.hears(({ code }) => code === 'E_INVALID_VALUE'))['detail']).to.include('vx');
        pilot.socket.close();
        other.socket.close();
      } finally {
        await node.stop();
      }
    });
  }
});

describe('sticks over a WebSocket', function () {
  this.timeout(120_000);
  const MANUAL = '/api/manual/ws';
  const REST = { type: 'manual', x: 0, y: 0, z: 500, r: 0 };

  for (const [firmware, mode] of [
    ['ardupilot', 'LOITER'],
    ['px4', 'POSCTL'],
  ] as const) {
    it(`${firmware}: it flies in ${mode} where they say, and holds when the client falls silent`, async () => {
      await using sim = await SimProcess.start('--firmware', firmware, '--speedup', '2');
      const node = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `mcp:\n  token_accept_enabled: true\nmavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
      });
      try {
        await armable(node, key);
        const command = async (cmd: string, ...args: unknown[]): Promise<void> => {
          const wait = cmd === 'takeoff' ? { wait: true } : {};
          const { body } = await node.post('/api/command', { cmd, args, ...wait }, key);
          expect(body, cmd).to.include({ status: 'accepted' });
        };
        if (firmware === 'ardupilot') await command('mode', 'GUIDED');
        await command('arm');
        await command('takeoff', 10);
        const pilot = await new Pilot(node.url, MANUAL).open();
        pilot.socket.send(JSON.stringify({ ...REST, x: 1000 }));
        expect((await pilot.hears(({ type }) => type === 'error'))['detail']).to.include('rest');
        pilot.fly(REST);
        await pilot.hears(({ holder }) => holder === 'you');
        await command('mode', mode);
        const other = await new Pilot(node.url, MANUAL).open();
        other.socket.send(JSON.stringify(REST));
        expect((await other.hears(({ type }) => type === 'error'))['code']).to.equal('E_BUSY');
        const { body } = await node.post('/api/mcp/tokens', { scopes: ['read'] }, key);
        const reader = await new Pilot(node.url, MANUAL, { 'x-svc-mcp-token': String(body['token']) }).open();
        reader.socket.send(JSON.stringify(REST));
        expect((await reader.hears(({ type }) => type === 'error'))['code']).to.equal('E_SCOPE');
        pilot.fly({ ...REST, x: 1000 });
        await linkState(
          node,
          ({
            telemetry: {
              velocity: { vx, vy },
            },
          }) => Math.hypot(vx ?? 0, vy ?? 0) > 3,
        );
        pilot.silence();
        await linkState(
          node,
          ({
            manual,
            telemetry: {
              velocity: { vx, vy },
            },
          }) => manual.holder === null && Math.hypot(vx ?? 9, vy ?? 9) < 0.3,
        );
        for (const each of [pilot, other, reader]) each.socket.close();
      } finally {
        await node.stop();
      }
    });
  }
});
