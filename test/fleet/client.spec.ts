import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { connectAsync } from 'mqtt';
import { FLEET_LIMITS } from '../../front/fleet/fleet-client.ts';
import { issueCertificate, newAuthority } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { messageOf } from '../../shared/errors.ts';
import { MAX_CALL_BYTES } from '../../shared/fleet/told.ts';
import { askAgain } from '../support/ask-again.ts';
import { needs } from '../support/needs.ts';
import { CALLER, NODE, Proxy, Rig } from './rig.ts';

describe('a client of the fleet', () => {
  let rig: Rig;

  before(function () {
    needs(this, 'mosquitto');
  });
  beforeEach(async () => {
    rig = await Rig.start();
  });
  afterEach(async () => rig.stop());

  it('says that it is there, and goodbye', async () => {
    const client = rig.client();
    await rig.hub.until(() => rig.hub.told('presence').length > 0);
    const [hello] = rig.hub.told('presence');
    expect(hello).to.include({ online: true, name: 'Falcon', profile: 'drone', version: '0.1.0' });
    await rig.reported(({ connected }) => connected);
    await client.stop();
    await rig.hub.until(() => rig.hub.told('presence').at(-1)?.['online'] === false);
    const goodbye = rig.hub.told('presence').at(-1);
    expect(goodbye?.['session']).to.equal(hello?.['session']);
    await rig.hub.disconnect();
    await rig.hub.connect(rig.broker);
    await rig.hub.until(() => rig.hub.heard.at(-1)?.retained === true);
    expect(JSON.parse(rig.hub.heard.at(-1)?.text ?? '')).to.include({ online: false });
  });

  it('says nothing after its goodbye, also when svc-control answers late', async () => {
    const client = rig.client({ limits: { statusMs: 600_000 } });
    await rig.hub.until(() => rig.hub.told('status').length === 1);
    const late = Promise.withResolvers<null>();
    rig.control.held = late.promise;
    client.changed();
    await rig.control.until(() => rig.control.asked === 2);
    const stopped = client.stop();
    late.resolve(null);
    await stopped;
    await rig.hub.until(() => rig.hub.told('presence').at(-1)?.['online'] === false);
    await rig.answered();
    expect(rig.hub.heard.at(-2)?.topic, 'the last before the marker').to.match(/\/presence$/);
  });

  it('tells its status at once when something changes, and otherwise by time', async () => {
    const client = rig.client({ limits: { statusMs: 600_000 } });
    const told = (): number => rig.hub.told('status').length;
    await rig.hub.until(() => told() >= 1);
    expect(rig.hub.told('status')[0]).to.include({ nonce: 'boot0000.1', armed: false, events_behind: 0 });
    rig.control.status = { ...rig.control.status, armed: true };
    client.changed();
    await rig.hub.until(() => rig.hub.told('status').at(-1)?.['armed'] === true);
    await client.stop();
    const before = told();
    rig.client({ limits: { statusMs: 400 } });
    await rig.hub.until(() => told() >= before + 3);
  });

  it('tells more, and pictures, while somebody looks, and falls back by itself', async () => {
    const pictures = Buffer.from('a picture');
    const watch = { telemetry_hz: 10, pictures_hz: 5, seconds: 2 };
    await rig.hub.publish(`${NODE}/watch`, JSON.stringify(watch), true);
    rig.client({ telemetryHz: 0.1, picture: async () => pictures });
    await rig.reported(({ connected }) => connected);
    const telemetry = (): number => rig.hub.told('telemetry').length;
    const shown = (): number => rig.hub.heard.filter(({ topic }) => topic.endsWith('/picture')).length;
    // What is not believed, or was kept by the broker, changes nothing.
    await rig.hub.publish(`${NODE}/watch`, 'forged');
    await rig.control.until(() => rig.control.watches.includes('forged'));
    await rig.settled();
    expect([telemetry(), shown(), rig.control.watches]).to.deep.equal([0, 0, ['forged']]);
    const begun = performance.now();
    await rig.hub.publish(`${NODE}/watch`, JSON.stringify(watch));
    await rig.hub.until(() => telemetry() >= 10 && shown() >= 5);
    expect(rig.hub.heard.find(({ topic }) => topic.endsWith('/picture'))).to.deep.include({
      text: 'a picture',
      retained: false,
    });
    // It is over by itself: after its end nothing comes at that rate any more.
    for (let before = -1; before !== telemetry() + shown(); ) {
      before = telemetry() + shown();
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    expect(performance.now() - begun).to.be.within(2000, 30_000);
  });

  it('sends no telemetry to a fleet that gets none, also while somebody looks', async () => {
    rig.client({ telemetryHz: 0 });
    await rig.reported(({ connected }) => connected);
    const watch = { telemetry_hz: 10, pictures_hz: 5, seconds: 5 };
    await rig.hub.publish(`${NODE}/watch`, JSON.stringify(watch));
    await rig.control.until(() => rig.control.watches.length === 1);
    await rig.settled();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await rig.settled();
    expect(rig.hub.told('telemetry')).to.deep.equal([]);
  });

  it('tells its telemetry at the rate and with the members of the config, and none without a connection', async () => {
    rig.client({ telemetryHz: 10 });
    await rig.hub.until(() => rig.hub.told('telemetry').length >= 3);
    expect(rig.hub.told('telemetry')[0]).to.deep.equal({ mode: 'GUIDED', position: { lat: 1, lon: 2 } });
    const at = performance.now();
    const before = rig.hub.told('telemetry').length;
    await rig.hub.until(() => rig.hub.told('telemetry').length >= before + 10);
    // Ten periods; what had waited may come faster.
    expect(performance.now() - at).to.be.above(500);
  });

  it('carries a call to svc-control and the reply to its caller, whatever response topic it asks for', async () => {
    rig.client();
    await rig.reported(({ connected }) => connected);
    await rig.hub.publish('policy', 'policy 1', true);
    const [topic, text] = await rig.replied(CALLER, 'call-1');
    expect(topic).to.equal(`svc/1/f-test/${CALLER}/reply/${NODE}`);
    expect(text).to.equal('reply to call-1');
  });

  it('runs no call before it has given the policy to svc-control, or some time has passed', async () => {
    await rig.hub.publish('policy', 'policy 7', true);
    const client = rig.client();
    const order: string[] = [];
    rig.control.on('changed', () => {
      for (const each of [...rig.control.policies, ...rig.control.calls])
        if (!order.includes(each)) order.push(each);
    });
    await rig.reported(({ connected }) => connected);
    await rig.hub.publish(`${NODE}/call/${CALLER}`, 'call-1');
    await rig.control.until(() => rig.control.calls.length === 1);
    expect(order).to.deep.equal(['policy 7', 'call-1']);
    await client.stop();

    await rig.hub.publish('policy', '', true);
    rig.client({ limits: { policyMs: 600 } });
    const at = performance.now();
    await rig.reported(({ connected }) => connected);
    await rig.hub.publish(`${NODE}/call/${CALLER}`, 'call-2');
    await rig.control.until(() => rig.control.calls.length === 2);
    expect(performance.now() - at).to.be.above(500);
  });

  it('gives a policy again that came while svc-control was away', async () => {
    await rig.hub.publish('policy', 'policy 1', true);
    rig.control.away = true;
    rig.client({ limits: { statusMs: 1 } }); // a status with each tick
    await rig.control.until(() => rig.control.policies.length >= 2);
    rig.control.away = false;
    await rig.control.until(() => rig.control.policies.length >= 3);
    const tried = rig.control.policies.length;
    const ticks = rig.control.asked;
    await rig.control.until(() => rig.control.asked >= ticks + 4);
    expect(rig.control.policies).to.have.length(tried);
  });

  it('does not run a retained call, nor one that is longer than a call may be', async () => {
    await rig.hub.publish(`${NODE}/call/${CALLER}`, 'stored', true);
    rig.client({ limits: { policyMs: 1 } });
    await rig.reported(({ connected }) => connected);
    await rig.hub.publish(`${NODE}/call/${CALLER}`, Buffer.alloc(MAX_CALL_BYTES + 1, 'x'));
    await rig.hub.publish(`${NODE}/call/${CALLER}`, 'call-1');
    await rig.control.until(() => rig.control.calls.length === 1);
    expect(rig.control.calls).to.deep.equal(['call-1']);
    expect(rig.lines.join()).to.include('longer than a call may be');
  });

  it('hears no machine for a minute after one has sent far too much, and people at the hub all the time', async () => {
    let shift = 0;
    rig.client({ limits: { policyMs: 1 }, now: () => performance.now() + shift });
    await rig.reported(({ connected }) => connected);
    let ran = 0;
    rig.control.answer = async () => {
      ran++;
      return null;
    };
    const big = Buffer.alloc(MAX_CALL_BYTES, 'x');
    for (let n = 0; n < 60; n++) await rig.hub.publish(`${NODE}/call/${CALLER}`, big);
    const flooded = (): readonly { readonly kind: string; readonly detail: unknown }[] =>
      rig.hub.stored.filter(({ kind }) => kind === 'node.flooded');
    await rig.hub.until(() => flooded().length > 0);
    expect(flooded()[0]?.detail).to.deep.equal({ caller: CALLER, seconds: 60 });
    await rig.hub.publish(`${NODE}/person/op_0123456789`, 'of a person');
    await rig.control.until(() => rig.control.calls.includes('of a person'));
    expect(ran, 'what its budget allows, at most').to.be.below(20);
    shift = 61_000;
    const again = async (): Promise<readonly string[]> => {
      await rig.hub.publish(`${NODE}/call/${CALLER}`, 'later');
      return rig.control.calls;
    };
    await askAgain('the machine is heard again', again, (calls) => calls.includes('later'));
  });

  it('runs eight calls at once, four of one caller, and drops what is too much', async () => {
    rig.client({ limits: { policyMs: 1 } });
    await rig.reported(({ connected }) => connected);
    const open = Promise.withResolvers<null>();
    rig.control.answer = async () => open.promise;
    const each = Array.from({ length: 50 }, (_, n) => n);
    await Promise.all(each.map(async (n) => rig.hub.publish(`${NODE}/call/${CALLER}`, `a-${n}`)));
    await Promise.all(each.map(async (n) => rig.hub.publish(`${NODE}/call/mc_caller02`, `b-${n}`)));
    await rig.control.until(() => rig.control.calls.length === 8);
    await rig.settled();
    expect(rig.control.calls).to.have.members([0, 1, 2, 3].flatMap((n) => [`a-${n}`, `b-${n}`]));
    expect(rig.lines.join()).to.match(/dropped \d+ calls; the newest found too many waiting/);
    open.resolve(null);
    await rig.control.until(() => rig.control.calls.length === 8 + 64);
    // Calls of one caller go in their order: these come after any that should have been dropped.
    await rig.hub.publish(`${NODE}/call/${CALLER}`, 'a-last');
    await rig.hub.publish(`${NODE}/call/mc_caller02`, 'b-last');
    await rig.control.until(() => ['a-last', 'b-last'].every((last) => rig.control.calls.includes(last)));
    expect(rig.control.calls).to.have.length(72 + 2);
  });

  it('says again that it is there after the will of an earlier session', async () => {
    const client = rig.client();
    await rig.reported(({ connected }) => connected);
    const mine = rig.hub.told('presence').at(-1)?.['session'];
    await rig.hub.publish(`${NODE}/presence`, JSON.stringify({ online: false, session: 'before' }), true);
    await rig.hub.until(() => rig.hub.told('presence').length >= 3);
    expect(rig.hub.told('presence').at(-1)).to.include({ online: true, session: mine });
    expect(client.strangers).to.equal(1);
    for (let n = 0; n < 20; n++)
      await rig.hub.publish(`${NODE}/presence`, JSON.stringify({ online: true, session: `twin-${n}` }), true);
    await rig.settled();
    expect(client.strangers).to.equal(21);
    const own = rig.hub.told('presence').filter(({ session }) => session === mine);
    expect(own.length, 'not as often as the other').to.be.within(3, 8);
  });

  it('notices a second machine with its certificate', async () => {
    const twins = [rig.client(), rig.client()];
    await rig.control.until(() => twins.every(({ strangers }) => strangers > 1));
    expect(rig.lines.join()).to.include("another machine has this node's certificate");
  });

  it('finds a broker that goes silent, and comes back', async () => {
    const proxy = await Proxy.start(rig.broker.port);
    rig.client({ place: { ...rig.place, brokers: [proxy.url] } });
    await rig.reported(({ connected }) => connected);
    proxy.freeze(true);
    const at = performance.now();
    const { problem } = await rig.reported(({ connected }) => !connected);
    expect(performance.now() - at).to.be.below(20_000);
    expect(problem).to.match(/silent|Keepalive|does not acknowledge/);
    proxy.freeze(false);
    await rig.reported(({ connected }) => connected);
    proxy.stop();
  });

  it('finds a broker that takes connections and never says a word', async () => {
    const mute = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const address = mute.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    rig.client({ place: { ...rig.place, brokers: [`mqtts://127.0.0.1:${address.port}`] } });
    const { problem } = await rig.reported((state) => state.problem?.includes('timeout') === true);
    expect(problem).to.include('connack timeout');
    mute.close();
  });

  describe('by WebSocket', () => {
    it('takes the second address where the first is closed, and begins with that one from then on', async () => {
      const closed = 'mqtts://127.0.0.1:9';
      await rig.hub.publish('policy', 'policy 1', true); // calls wait for it
      const queue = rig.queue();
      const first = rig.client({ place: { ...rig.place, brokers: [closed, rig.broker.wsUrl] }, queue });
      const { via } = await rig.reported(({ connected }) => connected);
      expect(via).to.equal(rig.broker.wsUrl);
      const [, text] = await rig.replied(CALLER, 'call-1');
      expect(text).to.equal('reply to call-1');
      await first.stop();
      queue.close();
      await rig.reported(({ connected }) => !connected);

      // Both are open now; another process of the node reads which one worked.
      rig.client({
        place: { ...rig.place, brokers: [rig.broker.url, rig.broker.wsUrl] },
        queue: rig.queue(),
      });
      const again = await rig.reported(({ connected }) => connected);
      expect(again.via).to.equal(rig.broker.wsUrl);
    });

    it('takes the first again where the other one is gone', async () => {
      const gone = 'wss://127.0.0.1:9/mqtt';
      const queue = rig.queue();
      queue.append([], { broker: gone });
      rig.client({ place: { ...rig.place, brokers: [rig.broker.url, gone] }, queue });
      const { via } = await rig.reported(({ connected }) => connected);
      expect(via).to.equal(rig.broker.url);
    });

    it('has the same rules: by certificate only, under its name, and not for one that was cut off', async () => {
      const own = await rig.broker.identity(NODE);
      const common = { ca: own.ca, protocolVersion: 5, reconnectPeriod: 0 } as const;
      const refused = async (identity: object): Promise<string> =>
        connectAsync(rig.broker.wsUrl, { ...common, ...identity }).then(() => 'connected', messageOf);
      expect(await refused({}), 'without a certificate').to.match(/certificate required/i);
      const key = newCertificateKey();
      const { pem } = await certificateRequest(key);
      const foreign = await newAuthority('another', Date.now());
      const cert = await issueCertificate(foreign, pem, { client: NODE }, Date.now());
      expect(await refused({ cert, key }), 'of another authority').to.match(/unknown ca/i);

      const client = await connectAsync(rig.broker.wsUrl, { ...common, ...own, clientId: 'hub' });
      const write = async (topic: string): Promise<string> =>
        client.publishAsync(`svc/1/f-test/${topic}`, 'x', { qos: 1 }).then(() => 'taken', messageOf);
      expect(await write(`${NODE}/status`)).to.equal('taken');
      expect(await write('other/status')).to.include('Not authorized');
      expect(await write('policy')).to.include('Not authorized');
      await rig.broker.deny([NODE]);
      await askAgain(
        'cut off',
        async () => write(`${NODE}/status`),
        (said) => said.includes('Not authorized'),
      );
      await client.endAsync(true);
    });

    for (const url of ['ws://127.0.0.1:80/mqtt', 'mqtt://127.0.0.1:1883', 'wss://u:p@127.0.0.1/', 'none'])
      it(`does not use ${url}`, async () => {
        rig.client({ place: { ...rig.place, brokers: [url] } });
        const { problem } = await rig.reported((state) => state.problem?.includes(url) === true);
        expect(problem).to.include('is no address of a broker');
      });
  });

  it('finds both within 45 s by default', () => {
    const { connectMs, keepaliveMs } = FLEET_LIMITS;
    // It looks four times in a keep-alive.
    expect(1.5 * keepaliveMs + keepaliveMs / 4).to.be.at.most(45_000);
    expect(connectMs).to.be.at.most(45_000);
  });

  it('says why it is not connected: a foreign broker, a refused node', async () => {
    const other = await rig.broker.identity('other');
    rig.client({ place: { ...rig.place, certificate: other.cert } });
    const { problem } = await rig.reported(({ connected }) => !connected);
    expect(problem).to.match(/key values mismatch|KEY_VALUES_MISMATCH/i);
    await rig.broker.deny([NODE]);
    rig.client();
    await rig.reported((state) => state.problem?.match(/refuse|not authorized|does not let/i) !== null);
  });

  it('comes back after a restart of the broker, each after a pause of its own', async () => {
    const pauses: number[] = [];
    rig.client({
      random: () => {
        const drawn = Math.random();
        pauses.push(drawn);
        return drawn;
      },
    });
    await rig.reported(({ connected }) => connected);
    await rig.broker.kill();
    await rig.reported(({ connected }) => !connected);
    await rig.broker.run();
    await rig.reported(({ connected }) => connected);
    expect(pauses.length).to.be.at.least(1);
  });

  it('keeps a connection that is there when its certificate is renewed', async () => {
    const client = rig.client();
    await rig.reported(({ connected }) => connected);
    const { cert: certificate, key } = await rig.broker.identity(NODE);
    expect(client.renew({ ...rig.place, certificate, key })).to.equal(true);
    expect(client.connected).to.equal(true);
    expect(client.renew({ ...rig.place, brokers: ['mqtts://elsewhere:8883'] })).to.equal(false);
    await rig.broker.kill();
    await rig.broker.run();
    await rig.reported(({ connected }) => connected);
  });
});
