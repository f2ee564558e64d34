import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { KEY } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, DRONE, GROUND } from '../support/radios.ts';

const GROUND_KEY = 'svc_ground789abcdef0123456789abcdef0123456789a';
const ASKED = 30;

describe('a drone behind its ground station, through a tunnel that loses packets (network namespaces)', function () {
  this.timeout(120_000);
  let air: RemoteHost;
  let drone: TestNode;
  let ground: TestNode;

  before(async () => {
    expect(noNamespaces()).to.equal(null);
    air = await RemoteHost.create('10.5.0.1/24', '10.5.0.2/24');
    [drone, ground] = await Promise.all([
      TestNode.start({ pairing: { key: KEY }, prefix: air.prefix, prepare: bindTo(DRONE) }),
      TestNode.start({
        pairing: { key: GROUND_KEY },
        simulated: false,
        config: 'agent:\n  profile: ground-station\n',
        prepare: bindTo(GROUND),
      }),
    ]);
    await Promise.all([drone.knowsArmed(), ground.knowsArmed()]);
    const bound = await ground.post('/api/wfb/pair', { host: `10.5.0.2:${drone.port}`, key: KEY }, withKey);
    expect(bound.body).to.include({ device_id: DRONE, proved: false });
    while ((await status()).status !== 200);
  });
  after(async () => {
    await Promise.all([drone.stop(), ground.stop()]);
    await air.destroy();
  });

  const withKey = { 'x-svc-key': GROUND_KEY };
  const relayed = (path: string): string => `/api/v1/ground-station/relay-proxy/${DRONE}${path}`;
  const status = async () => ground.json(relayed('/api/status'), { headers: withKey });

  it('the radios are bound, and both ends say that the link has carried data', async () => {
    const pairs = async (node: TestNode, key: string) =>
      (await node.json('/api/wfb/pair', { headers: { 'x-svc-key': key } })).body['pairs'] as {
        readonly fingerprint: string;
        readonly proved: boolean;
      }[];
    // The drone is asked through the relay itself: its own port is in the other namespace.
    for (;;) {
      const [atGround] = await pairs(ground, GROUND_KEY);
      const { body } = await ground.json(relayed('/api/wfb/pair'), { headers: withKey });
      const [atDrone] = body['pairs'] as { readonly fingerprint: string; readonly proved: boolean }[];
      expect(atDrone?.fingerprint).to.equal(atGround?.fingerprint);
      if (atDrone?.proved === true && atGround?.proved === true) break; // written down after the first requests
    }
  });
  it('at 30 % loss each status call is answered within 2 s, or says why not', async () => {
    await air.loseAll(30);
    try {
      let answered = 0;
      for (let asked = 0; asked < ASKED; asked++) {
        const at = performance.now();
        const { status: code, body } = await status();
        expect(performance.now() - at).to.be.below(8000);
        if (code === 200) answered++;
        else expect(body['detail']).to.match(/through the radio/);
      }
      expect(answered).to.be.at.least(ASKED / 2);
    } finally {
      await air.loseAll(0);
    }
  });
  it('a large answer arrives whole at 10 % loss', async () => {
    await air.loseAll(10);
    try {
      // A relay that has no answer in time says 503 or 504: then once more. What has begun has to come whole.
      const ask = async (): Promise<Response> =>
        fetch(`http://127.0.0.1:${ground.port}${relayed('/openapi.json')}`, { headers: withKey });
      let whole = await ask();
      while (whole.status >= 503) whole = await ask();
      const document = (await whole.json()) as { paths: Record<string, unknown> };
      expect(Object.keys(document.paths).length).to.be.above(100);
    } finally {
      await air.loseAll(0);
    }
  });
  it('when the radio is gone, what was open ends within 15 s, and works again when it is back', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${ground.port}${relayed('/api/telemetry/ws')}`, {
      headers: withKey,
    });
    await once(socket, 'message');
    await air.plug(false);
    const at = performance.now();
    await once(socket, 'close');
    expect(performance.now() - at).to.be.below(40_000);
    const { status: code, body } = await status();
    expect(code).to.be.oneOf([503, 504]);
    expect(body['detail']).to.match(/through the radio/);
    await air.plug(true);
    while ((await status()).status !== 200);
  });
});
