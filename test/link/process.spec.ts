import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { RpcClient } from '../../shared/rpc/rpc.ts';
import { freePort } from '../support/temp.ts';
import { LinkProcess } from './link-process.ts';
import { PEER_PARAMS, PeerVehicle } from './peer-vehicle.ts';

/** svc-sim on a free port. */
async function simulator(...args: string[]): Promise<{ child: ChildProcess; port: number }> {
  const main = join(import.meta.dirname, '../rig/sim/main.ts');
  const child = spawn(process.execPath, [main, '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    const port = /listening on tcp:.*:(\d+)\n/.exec(text)?.[1];
    if (port !== undefined) return { child, port: Number(port) };
  }
  throw new Error(`the simulator did not start: ${text}`);
}

describe('svc-link', () => {
  it('serves its socket without a vehicle, finds one, commands it, and survives garbage and lost connections', async () => {
    const peer = new PeerVehicle();
    const port = await peer.start();
    const link = await LinkProcess.start(`tcp:127.0.0.1:${port}`);
    try {
      const alive = await link.until(
        ({ mavlink_alive, params }) => mavlink_alive && params.cached === PEER_PARAMS,
      );
      expect(alive).to.include({ system_id: 5, armed: false, firmware: 'ardupilot', simulated: false });
      expect((await link.params()).params['PEER_7']).to.deep.equal({
        value: 7,
        type: 9,
        index: 7,
        default: null,
      });

      // Whoever connects to the socket may send anything.
      const stranger = new RpcClient({ path: link.socket, peer: 'svc-link' });
      await stranger.connectOnce();
      const nonsense: readonly [string, unknown][] = [
        ['command', null],
        ['command', 'arm'],
        ['command', {}],
        ['command', { cmd: 'selfDestruct', args: [] }],
        ['command', { cmd: 'takeoff', args: {} }],
        ['command', { cmd: 'arm', args: [], timeout_ms: 'soon' }],
        ['command', { cmd: 'arm', args: [], timeout_ms: 0 }],
        ['param_set', { name: 'PEER_7', value: '8', force: false }],
        ['param_set', { name: 'PEER_7', value: 8 }],
        ['signing_enrol', { key_hex: 'ab', link_id: 0, force: true }],
      ];
      for (const [method, params] of nonsense) {
        const error: unknown = await stranger.call(method, params, 5000).catch((reason: unknown) => reason);
        expect(error, JSON.stringify(params)).to.include({ code: 'E_INVALID_VALUE' });
      }
      stranger.stop();

      const refused = await link.command('arm');
      expect(refused).to.deep.include({ status: 'rejected' });
      expect(refused.ack).to.include({ result_name: 'FAILED', statustext: 'PreArm: not ready' });
      peer.ready = true;
      expect((await link.command('arm')).status).to.equal('accepted');
      const armed = await link.until((state) => state.armed === true);
      expect(armed.telemetry).to.include({ mode: 'GUIDED', armed: true });
      expect(armed.telemetry.position).to.include({ lat: 48.1, alt_rel: 12 });

      peer.write(Buffer.from('fdfefdfe00ff'.repeat(200), 'hex'));
      const before = link.state?.counters.rx_frames ?? 0;
      await link.until(({ counters }) => counters.rx_frames > before + 20);
      expect(link.state?.counters.rx_garbage_bytes).to.be.at.least(1200);

      peer.hangUp();
      await link.until(({ transport_open }) => !transport_open);
      await link.until(({ transport_open, mavlink_alive }) => transport_open && mavlink_alive);
      expect(peer.connections).to.equal(2);
      expect(link.state?.counters.reconnects).to.equal(1);
      await link.until(() => peer.ownHeartbeats > 0);
    } finally {
      peer.stop();
      expect(await link.stop()).to.equal(0);
    }
  });

  it('runs on with a source that nobody speaks on', async () => {
    const source = `udp:127.0.0.1:${await freePort()}`;
    const link = await LinkProcess.start(source);
    const state = await link.until(() => true);
    expect(state).to.include({ source, transport_open: false, armed: false, heard: false });
    await expectNoFc(link);
    expect(await link.stop()).to.equal(0);
  });

  it('flies the simulator: refused take-off, arm, take-off, goto, land', async () => {
    const { child, port } = await simulator('--speedup', '10', '--settle', '200');
    const link = await LinkProcess.start(`tcp:127.0.0.1:${port}`);
    try {
      const found = await link.until(
        ({ telemetry, params, simulated }) =>
          simulated && !params.priming && telemetry.position.lat !== null && telemetry.ekf.ok === true,
      );
      expect(found.params.cached).to.equal(found.params.expected);
      expect((await link.command('takeoff', 10)).status).to.equal('rejected');
      expect((await link.command('arm')).status).to.equal('accepted');
      await link.until(({ armed }) => armed === true);
      // Armed in STABILIZE: GUIDED comes first.
      expect((await link.command('takeoff', 10)).status).to.equal('accepted');
      await link.until(
        ({ telemetry }) => telemetry.mode === 'GUIDED' && (telemetry.position.alt_rel ?? 0) > 9,
      );
      const { lat, lon } = found.telemetry.position;
      const north = (lat ?? 0) + 0.0002;
      expect((await link.command('goto', north, lon ?? 0, 15)).status).to.equal('accepted');
      await link.until(
        ({ telemetry: { position } }) =>
          Math.abs((position.lat ?? 0) - north) < 2e-5 && (position.alt_rel ?? 0) > 14,
      );
      expect((await link.command('stop')).status).to.equal('accepted');
      await link.until(({ telemetry }) => telemetry.mode === 'BRAKE');
      expect((await link.command('land')).status).to.equal('accepted');
      await link.until(({ armed }) => armed === false);
      expect(link.state?.counters).to.include({ rx_bad_crc: 0, rx_garbage_bytes: 0, rx_lost: 0 });
    } finally {
      await link.stop();
      child.kill('SIGTERM');
    }
  });

  it('works over a bad link: noise between frames, lost parameters and acks', async () => {
    const faults = ['--garbage', '0.2', '--drop-params', '0.3', '--lose-acks', '1'];
    const { child, port } = await simulator('--settle', '200', '--param-rate', '2000', ...faults);
    const link = await LinkProcess.start(`tcp:127.0.0.1:${port}`);
    try {
      const complete = await link.until(({ params }) => params.expected !== null && !params.priming);
      expect(complete.params).to.include({ timed_out: false, cached: complete.params.expected });
      await link.until(({ telemetry }) => telemetry.position.lat !== null);
      expect((await link.command('arm')).status).to.equal('accepted');
      await link.until(({ armed }) => armed === true);
      expect(link.state?.counters).to.include({ rx_lost: 0 });
      expect(link.state?.counters.rx_garbage_bytes).to.be.above(0);
    } finally {
      await link.stop();
      child.kill('SIGTERM');
    }
  });
});

async function expectNoFc(link: LinkProcess): Promise<void> {
  const error: unknown = await link.command('arm').catch((reason: unknown) => reason);
  expect(error).to.include({ code: 'E_NO_FC' });
}
