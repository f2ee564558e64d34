import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { MqttClient } from 'mqtt';
import { HUB_ID, topics } from '../../shared/fleet/topics.ts';
import { worksAtLast } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { enrolByHand } from '../support/fleet-enrolment.ts';
import { FleetHand, newSigner } from '../support/fleet-hand.ts';
import { Broker } from '../support/mosquitto.ts';
import { RealNetworkManager } from '../support/network/network-manager.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const run = promisify(execFile);
type Body = Record<string, unknown>;
const NODE = 'd0d0d0d0d0d0';
/** Far more than a change takes: what it takes is measured by hand. */
const CHANGE_MS = 30_000;

describe('uplinks: two cables and a modem, with the real NetworkManager', function () {
  this.timeout(240_000);
  let manager: RealNetworkManager;
  let node: TestNode;
  let broker: Broker;
  let dir: string;
  let ear: MqttClient;
  const heard: { readonly topic: string; readonly body: Body; readonly at: number }[] = [];

  /** A request from beside the node: it is in a network namespace. */
  const send = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const url = `http://127.0.0.1:${node.port}${path}`;
    const content = ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    const args = [...manager.prefix.slice(1), 'curl', '-s', '-X', method, '-H', `x-svc-key: ${KEY}`];
    const { stdout } = await run('nsenter', [...args, ...(body === undefined ? [] : content), url]);
    return JSON.parse(stdout) as Body;
  };
  const network = async (): Promise<Body> => send('GET', '/api/v1/network');
  const uplinks = async (): Promise<Body[]> => (await network())['uplinks'] as Body[];
  const inUse = async (): Promise<unknown> =>
    (await uplinks()).find((each) => each['in_use'] === true)?.['interface'];
  const changes = async (): Promise<string[]> =>
    ((await network())['uplink_changes'] as Body[]).map(({ from, to, reason }) =>
      [from, to, reason].join(' '),
    );
  const isUsed = async (name: string, ms = CHANGE_MS): Promise<void> =>
    worksAtLast(`${name} is in use`, async () => void expect(await inUse()).to.equal(name), ms);
  const online = (): boolean =>
    heard.filter(({ topic }) => topic.endsWith('/presence')).at(-1)?.body['online'] === true;
  const routes = async (): Promise<string> => manager.onHost('ip', '-4', 'route', 'show', 'default');
  /** The router of a cable is silent, though the cable is plugged in. */
  const silence = async (at: number, silent: boolean): Promise<unknown> =>
    manager.onPeer('ip', 'addr', silent ? 'del' : 'add', `192.168.${77 + at}.1/24`, 'dev', `p${at}`);
  const telemetryBy = async (what: string, ms: number): Promise<number> => {
    const from = heard.length;
    const isIt = ({ topic }: { topic: string }): boolean => topic.endsWith('/telemetry');
    await worksAtLast(
      what,
      async () => expect(heard.slice(from).filter(isIt).length, 'messages').to.be.greaterThan(2),
      ms,
    );
    const [first, second] = heard.slice(from).filter(isIt).slice(-2);
    return (second?.at ?? 0) - (first?.at ?? 0);
  };

  before(async () => {
    dir = await tempDir();
    manager = await RealNetworkManager.start(2);
    const address = await manager.openWorld();
    await manager.startModems();
    await manager.addModem(0, { identifier: 'aa00' });
    broker = await Broker.start(dir, 'f-test', null, undefined, address);
    ear = await broker.client(HUB_ID);
    const [hand, signer] = [await FleetHand.create(), await newSigner()];
    ear.on('message', (topic, payload) => {
      const body = JSON.parse(payload.toString()) as Body;
      heard.push({ topic, body, at: performance.now() });
      if (!topic.endsWith('/event')) return;
      void hand
        .ack(NODE, String(body['stream']), Number(body['seq']))
        .then(async (jws) => ear.publishAsync(topics.ack(broker.fleet, NODE), jws, { qos: 1, retain: true }));
    });
    for (const what of ['presence', 'event', 'telemetry'] as const)
      await ear.subscribeAsync(topics.allTold(broker.fleet, what), { qos: 1 });
    node = await TestNode.start({
      pairing: { key: KEY },
      args: ['--helper'],
      config:
        'video:\n  source: test\n  hero: {width: 320, height: 180, fps: 10, bitrate_kbps: 1000}\nnetwork:\n  metered_video_kbps: 400\n  metered_telemetry_hz: 0.5\nfleet:\n  telemetry_hz: 5\n',
      env: manager.env,
      prefix: manager.prefix,
      prepare: async (paths) =>
        enrolByHand(paths, { node: NODE, hand, signer, broker: broker.url, authority: broker.authority }),
    });
    await node.knowsArmed();
    expect(
      await send('PUT', '/api/v1/network/modem', { id: '0', enabled: true, apn: 'internet' }),
    ).to.include({
      state: 'connected',
    });
    await worksAtLast(
      'the node is there at the broker',
      async () => expect(online()).to.equal(true),
      CHANGE_MS,
    );
  });

  after(async () => {
    await node?.stop();
    await ear?.endAsync();
    await broker?.kill();
    await manager?.stop();
    if (dir !== undefined) await removeDir(dir);
  });

  it('measures each, uses the first of the order, and leaves the routes as they are', async () => {
    await worksAtLast(
      'all are measured',
      async () => {
        const found = (await uplinks()).map(({ interface: name, in_use: used, reachable, metered }) =>
          [name, used, reachable, metered].join(' '),
        );
        expect(found).to.deep.equal([
          'eth0 true true false',
          'eth1 false true false',
          'cdc-wdm0 false true true',
        ]);
      },
      CHANGE_MS,
    );
    expect(await routes()).not.to.include('metric 5');
    expect(await changes()).to.deep.equal([]);
  });

  it('changes to the next one when its router is silent, and the fleet is told by it', async () => {
    await silence(0, true);
    await isUsed('eth1');
    expect(await changes()).to.deep.equal(['eth0 eth1 unreachable']);
    expect(await routes()).to.match(/^default via 192\.168\.78\.1 dev eth1 .*metric 5/m);
    await worksAtLast(
      'the hub has the event',
      async () => {
        const { body } = heard.find(({ body: { kind } }) => kind === 'uplink.changed') ?? {};
        expect(body?.['detail']).to.include({
          from: 'eth0',
          to: 'eth1',
          reason: 'unreachable',
          metered: false,
        });
      },
      CHANGE_MS,
    );
    expect(await telemetryBy('telemetry comes by it', CHANGE_MS)).to.be.lessThan(1500);
  });

  it('changes to the modem when the hub is not to be reached though the router answers; the metered one costs less', async () => {
    await manager.onPeer(
      'nft',
      'add chain ip world pass { type filter hook forward priority 0 ; }; add rule ip world pass iifname p1 drop',
    );
    await isUsed('cdc-wdm0');
    expect((await uplinks())[0]).to.include({ interface: 'cdc-wdm0', metered: true, reachable: true });
    // Uploads wait for another one.
    expect(JSON.parse(await readFile(node.paths.uplink, 'utf8'))).to.deep.equal({ metered: true });
    await worksAtLast(
      'the encoder takes the ceiling',
      async () => {
        const { profile } = await send('GET', '/api/video');
        expect((profile as Body | null)?.['bitrate_kbps']).to.equal(400);
      },
      CHANGE_MS,
    );
    await worksAtLast(
      'the node is there at the broker',
      async () => expect(online()).to.equal(true),
      CHANGE_MS,
    );
    expect(await telemetryBy('slow telemetry', CHANGE_MS)).to.be.greaterThan(1500);
  });

  it('keeps the uplink over a crash of svc-control, and of svc-machine, with one route of its own', async () => {
    await node.killAndAwaitSuccessor('svc-control');
    expect(await inUse()).to.equal('cdc-wdm0');
    await node.killAndAwaitSuccessor('svc-machine');
    await worksAtLast('it is asked again', async () => expect(await inUse()).to.equal('cdc-wdm0'), CHANGE_MS);
    expect((await routes()).match(/metric 5/g)).to.have.lengthOf(1);
    await worksAtLast(
      'it has measured again',
      async () => {
        const [used, ...others] = await uplinks();
        expect(used).to.include({ interface: 'cdc-wdm0', reachable: true });
        expect(others.find(({ interface: name }) => name === 'eth0')?.['reachable']).to.not.equal(true);
      },
      CHANGE_MS,
    );
  });

  it('comes back only to one that has answered for 30 s, and not for a short sign of life', async () => {
    await manager.onPeer('nft', 'flush chain ip world pass');
    const answers = async (): Promise<void> =>
      worksAtLast(
        'eth0 answers',
        async () =>
          void expect((await uplinks()).find(({ interface: name }) => name === 'eth0')).to.include({
            reachable: true,
          }),
        CHANGE_MS,
      );
    await silence(0, false);
    await answers();
    expect(await inUse()).to.equal('cdc-wdm0');
    await silence(0, true);
    await worksAtLast(
      'eth0 is silent again',
      async () =>
        void expect((await uplinks()).find(({ interface: name }) => name === 'eth0')).to.include({
          reachable: false,
        }),
      CHANGE_MS,
    );
    await silence(0, false);
    await answers();
    expect(await inUse()).not.to.equal('eth0');
    await isUsed('eth0', 90_000);
    expect((await changes()).at(-1)).to.match(/ eth0 preferred$/);
    expect(await routes()).not.to.include('metric 5');
    await worksAtLast(
      'the encoder has its own rate again',
      async () => {
        const { profile } = await send('GET', '/api/video');
        expect((profile as Body | null)?.['bitrate_kbps']).to.equal(1000);
      },
      CHANGE_MS,
    );
  });

  it('takes the next one when an interface goes', async () => {
    await manager.onPeer('ip', 'link', 'set', 'p0', 'down');
    await isUsed('eth1');
    await manager.nmcli('device', 'disconnect', 'eth1');
    await isUsed('cdc-wdm0');
    expect((await changes()).at(-1), (await changes()).join('; ')).to.equal('eth1 cdc-wdm0 lost');
  });
});
