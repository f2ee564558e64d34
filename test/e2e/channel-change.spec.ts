import { existsSync, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { within } from '../../shared/async/within.ts';
import { RadioEnd } from '../rig/radio-sim/radio-end.ts';
import { fileSays, gonePath } from '../support/events.ts';
import { directoriesIn, TestNode } from '../support/node.ts';
import { RadioMachine } from '../support/radio-machine.ts';
import { bindTo, boundPair, DRONE, GROUND } from '../support/radios.ts';
import { freePort } from '../support/temp.ts';

const KEYS = {
  drone: 'svc_drone789abcdef0123456789abcdef0123456789a',
  ground: 'svc_ground789abcdef0123456789abcdef01234567',
};
const [OLD, NEW] = [161, 36];
/** Both are on one channel within this time after whatever happened. */
const TIME_MS = 30_000;

describe('a change of the channel between two nodes, over a radio whose keepalive runs without svc-control', function () {
  this.timeout(180_000);
  let machines: { readonly drone: RadioMachine; readonly ground: RadioMachine };
  let drone: TestNode;
  let ground: TestNode;
  const radios: RadioEnd[] = [];

  before(async () => {
    machines = { drone: await RadioMachine.of('wlan1'), ground: await RadioMachine.of('wlan1') };
    const [relay, airs, apis] = [
      await freePort(),
      { drone: await freePort(), ground: await freePort() },
      { drone: await freePort(), ground: await freePort() },
    ];
    const pair = boundPair();
    const start = async (end: 'drone' | 'ground', tunnel: string, own: string): Promise<TestNode> => {
      const sim = {
        air: airs[end],
        peer: airs[end === 'drone' ? 'ground' : 'drone'],
        mavlink: await freePort(),
        video: await freePort(),
        channel_file: machines[end].channelFile('wlan1'),
      };
      const node = await TestNode.start({
        pairing: { key: KEYS[end] },
        simulated: false,
        args: ['--helper'],
        env: machines[end].env,
        config: `radio:\n  mode: external\n  cards: [wlan1]\n  channel: ${OLD}\n  api_port: ${apis[end]}\n  relay_port: ${relay}\n  tunnel:\n    drone: ${tunnel}\n${own}`,
        prepare: bindTo(end === 'drone' ? DRONE : GROUND, end === 'drone' ? pair.atDrone : pair.atGround),
      });
      radios.push(new RadioEnd(directoriesIn(node.base), sim));
      return node;
    };
    [drone, ground] = await Promise.all([
      start('drone', '127.0.0.31', ''),
      start('ground', '127.0.0.32', 'agent:\n  profile: ground-station\n'),
    ]);
    await Promise.all([drone.knowsArmed(), ground.knowsArmed()]);
  });
  after(async () => {
    await Promise.all([drone.stop(), ground.stop(), ...radios.map(async (radio) => radio.stop())]);
    await Promise.all([machines.drone.stop(), machines.ground.stop()]);
  });

  const withKey = { 'x-svc-key': KEYS.ground };
  const change = async (channel: number) => ground.post('/api/wfb/channel', { channel }, withKey);
  const channels = async (): Promise<readonly number[]> =>
    Promise.all([machines.drone.channelOf('wlan1'), machines.ground.channelOf('wlan1')]);
  /** Until the relay answers: each end hears the other's svc-control. */
  const together = async (): Promise<void> => {
    const path = `/api/v1/ground-station/relay-proxy/${DRONE}/api/ping`;
    for (const end = performance.now() + TIME_MS; performance.now() < end; )
      if ((await ground.json(path, { headers: withKey })).status === 200) return;
    expect.fail(`not together: ${(await channels()).join()}`);
  };
  /** Until both know that a change is over. */
  const over = async (): Promise<void> => {
    const gone = Promise.all([drone, ground].map(async ({ paths }) => gonePath(paths.radioChange)));
    const late = async (): Promise<never> => expect.fail(`not over: ${(await channels()).join()}`);
    await within(gone, TIME_MS, () => new Error('not over')).catch(late);
  };
  const kept = async (node: TestNode): Promise<string> =>
    /^ {2}channel: (\d+)/m.exec(await readFile(node.paths.config, 'utf8'))?.[1] ?? '';

  it('moves both, proved by the drone’s own word, and kept by both', async () => {
    await together();
    const { status, body } = await change(NEW);
    expect([status, body], JSON.stringify(body)).to.deep.equal([
      200,
      { channel: NEW, frequency_mhz: 5180, proved: true, reverted: false, reason: null },
    ]);
    await over();
    expect(await channels()).to.deep.equal([NEW, NEW]);
    expect([await kept(drone), await kept(ground)]).to.deep.equal([String(NEW), String(NEW)]);
    expect((await change(OLD)).body).to.include({ channel: OLD, proved: true });
    await over();
  });

  it('the drone’s svc-control killed right after its switch: both are on one channel in the end, and say so', async () => {
    await together();
    const file = machines.drone.channelFile('wlan1');
    const switched = new Promise<void>((resolve) => {
      let seen = 0;
      const watcher = watch(file, () => {
        readFile(file, 'utf8').then(
          (text) => {
            // The first time is its trial.
            if (Number(text) === OLD) seen = 1;
            else if (Number(text) === NEW && seen === 1) {
              watcher.close();
              resolve();
            }
          },
          () => undefined, // being written
        );
      });
    });
    const asked = change(NEW);
    await switched;
    // For longer than a drone stays without a word (radio.channel_revert_s): all that while its keepalive is heard.
    process.kill(drone.pid('svc-control'), 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 7500));
    await drone.killAndAwaitSuccessor('svc-control');
    const { status, body } = await asked;
    expect([status, body['proved']], JSON.stringify(body)).to.deep.equal([200, true]);
    await over();
    const [one, other] = await channels();
    expect([one, one]).to.deep.equal([other, body['channel']]);
    expect([await kept(drone), await kept(ground)]).to.deep.equal([String(one), String(one)]);
    await together();
    if (one !== OLD) expect((await change(OLD)).body).to.include({ channel: OLD, proved: true });
    await over();
  });

  it('a ground station’s card that is busy: 409 with the kernel’s words, and nobody has moved', async () => {
    await together();
    await machines.ground.refuse('Device or resource busy (-16)');
    const { status, body } = await change(NEW);
    await machines.ground.refuse(null);
    expect([status, body['code']], JSON.stringify(body)).to.deep.equal([409, 'E_RADIO_REFUSED']);
    expect(body['detail']).to.match(/Device or resource busy \(-16\)/);
    await over();
    expect(await channels()).to.deep.equal([OLD, OLD]);
  });

  it('a channel that needs a look for radar, or that the region forbids: 409 before anything moves', async () => {
    for (const [channel, why] of [
      [52, /look for radar/],
      [100, /may not send/],
      [64, /does not know/],
    ] as const) {
      const { status, body } = await change(channel);
      expect([status, body['code']]).to.deep.equal([409, 'E_RADIO_REFUSED']);
      expect(body['detail']).to.match(why);
    }
    expect(existsSync(ground.paths.radioChange)).to.equal(false);
  });

  it('both nodes killed in the middle of it find each other when they are back', async () => {
    await together();
    const asked = change(NEW).catch(() => null);
    await fileSays(drone.paths.radioChange, () => true);
    await Promise.all([
      drone.killAndAwaitSuccessor('svc-control'),
      ground.killAndAwaitSuccessor('svc-control'),
    ]);
    await asked;
    await together();
    await over();
    const [one, other] = await channels();
    expect(one).to.equal(other);
  });
});
