import { readFile, rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { RadioState } from '../../front/control/radio/link-state.ts';
import { radioQuality } from '../../shared/radio/quality.ts';
import { TestNode } from '../support/node.ts';
import { RadioMachine } from '../support/radio-machine.ts';
import { ReportServer, recorded } from '../support/report-server.ts';

type Body = Readonly<Record<string, unknown>>;

const NO_WFB = 'radio:\n  mode: off\n';

describe('the radio over HTTP', () => {
  const server = new ReportServer();
  let machine: RadioMachine;
  let node: TestNode;

  before(async () => {
    machine = await RadioMachine.of('wlan1', 'wlan2');
    await server.start();
    node = await TestNode.start({
      config: `agent:\n  profile: ground-station\nradio:\n  mode: external\n  api_port: ${server.port}\n  cards: [wlan1, wlan2]\n`,
      args: ['--helper'],
      env: machine.env,
      simulated: false,
    });
    await server.client();
  });

  after(async () => {
    await node.stop();
    await server.stop();
    await machine.stop();
  });

  const status = async (): Promise<Body> => (await node.json('/api/wfb')).body;
  const put = async (dbm: unknown): ReturnType<TestNode['json']> =>
    node.json('/api/wfb/tx-power', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tx_power_dbm: dbm, force: true }),
    });
  const hop = async (channel: unknown): ReturnType<TestNode['post']> =>
    node.post('/api/wfb/channel', { channel, force: true });
  const hear = async (recording: string, until: string): Promise<Body> => {
    for (;;) {
      server.send(
        `${recorded(recording)
          .map((line) => line.replace('"wlan0", "wlan1"', '"wlan1", "wlan2"'))
          .join('\n')}\n`,
      );
      const body = await status();
      if (body['state'] === until) return body;
      await delay(50);
    }
  };

  it('the survey goes over the channels of the region before the flight, with the evidence, and puts the card back', async () => {
    let frames = 0;
    const busy = setInterval(() => {
      machine
        .channelOf('wlan2')
        .then(async (channel) => {
          frames += channel === 40 ? 1 : 20;
          return machine.receive('wlan2', frames);
        })
        .catch(() => undefined); // read while it is being written
    }, 20);
    const { status: code, body } = await node.json('/api/wfb/survey');
    clearInterval(busy);
    expect(code, JSON.stringify(body)).to.equal(200);
    expect(body['card']).to.equal('wlan2');
    const channels = body['channels'] as Body[];
    expect(channels.map(({ channel }) => channel)).to.deep.equal([36, 40, 52, 100, 161, 165]);
    expect(channels.filter(({ best }) => best)).to.have.length(1);
    expect(channels.find(({ best }) => best)).to.include({
      channel: 40,
      frequency_mhz: 5200,
      allowed: true,
      noise_dbm: -94,
    });
    expect(channels.find(({ channel }) => channel === 36)?.['frames']).to.be.greaterThan(40);
    // Radar: the kernel refuses. Forbidden: it is not even tried.
    expect(channels.find(({ channel }) => channel === 52)).to.include({ allowed: false, frames: null });
    expect(channels.find(({ channel }) => channel === 100)).to.include({ allowed: false, frames: null });
    expect(await machine.channelOf('wlan2')).to.equal(161);
  });

  it('the channel of a card that cannot be asked is the one on which the other end is heard', async () => {
    const [file, aside] = [machine.channelFile('wlan1'), `${machine.channelFile('wlan1')}.aside`];
    await rename(file, aside); // iw says: No such device
    let body = await hear('gs-loss0', 'active');
    try {
      while ((body['cards'] as Body[])[0]?.['channel'] !== null) body = await hear('gs-loss0', 'active');
      expect(body).to.include({ channel: 165, frequency_mhz: 5825 });
    } finally {
      await rename(aside, file);
    }
    while ((body['cards'] as Body[])[0]?.['channel'] === null) body = await hear('gs-loss0', 'active');
    expect(body).to.include({ channel: 161, frequency_mhz: 5805 });
  });

  it('the link with its figures, cards and antennas; also in the full status and for Prometheus', async () => {
    const body = await hear('gs-loss0', 'active');
    expect(body).to.include({
      mode: 'external',
      interface: 'wlan1',
      channel: 161,
      frequency_mhz: 5805,
      diagnosis: null,
      problem: null,
      camera_silent: false,
    });
    expect(body['antennas']).to.have.length(4);
    expect(body['cards']).to.deep.include({
      name: 'wlan1',
      driver: 'unknown',
      channel: 161,
      frequency_mhz: 5805,
      tx_power_dbm: 18,
      sends: (body['tx_card'] as number) === 0,
      packets: (body['cards'] as Body[])[0]?.['packets'],
      rssi_dbm: -45,
    });
    const { body: full } = await node.json('/api/status/full');
    expect(full['radio']).to.include({ state: 'active', rssi_dbm: -45 });
    const metrics = await (await node.fetch('/metrics')).text();
    expect(metrics).to.match(/^svc_radio_active\{slot="0"\} 1$/m);
    expect(metrics).to.match(/^svc_radio_rssi_dbm\{slot="0"\} -45$/m);
    expect(node.stderr).to.match(/radio: slot 0 was searching, is active/);
  });

  it('the quality goes by what is lost, the state by whether the other end is heard', async () => {
    let body = await hear('gs-loss0', 'active');
    while (body['quality'] !== 'good') body = await hear('gs-loss0', 'active');
    while (body['quality'] === 'good') body = await hear('gs-1card-loss30', 'active');
    expect(body).to.include({ state: 'active', quality: 'poor' });
    expect(body['loss_percent']).to.be.within(5, 20);
    expect((body['links'] as Body[])[0]).to.include({ state: 'active', quality: 'poor' });
    const of = (state: RadioState, loss_percent: number | null): string =>
      radioQuality({ state, loss_percent });
    expect([
      of('active', null),
      of('active', 1),
      of('active', 1.1),
      of('active', 20),
      of('active', 20.1),
    ]).to.deep.equal(['good', 'good', 'poor', 'poor', 'bad']);
    expect([
      of('searching', null),
      of('stale', 0),
      of('mis_keyed', 0),
      of('down', null),
      of('absent', null),
    ]).to.deep.equal(['poor', 'poor', 'bad', 'bad', 'none']);
  });

  it('while both cards carry the link there is no survey, and it says why', async () => {
    await hear('gs-loss0', 'active');
    const { status: code, body } = await node.json('/api/wfb/survey');
    expect(code).to.equal(409);
    expect(body['code']).to.equal('E_RADIO_REFUSED');
    expect(body['detail']).to.match(/carries the link/);
  });

  it('the history: as far back as asked for, at most 300 s', async () => {
    await hear('gs-loss0', 'active');
    const { body } = await node.json('/api/wfb/history?seconds=300');
    expect(body['count']).to.be.greaterThan(2);
    expect((body['samples'] as Body[])[0]).to.include({ rssi_dbm: -45 });
    for (const query of ['seconds=0', 'seconds=301', 'seconds=x'])
      expect((await node.json(`/api/wfb/history?${query}`)).status, query).to.equal(422);
  });

  it('a channel is set on every card, read back, and kept', async () => {
    const { status: code, body } = await hop(36);
    expect(code, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ channel: 36, frequency_mhz: 5180, reverted: false });
    expect([await machine.channelOf('wlan1'), await machine.channelOf('wlan2')]).to.deep.equal([36, 36]);
    expect(await readFile(node.paths.config, 'utf8')).to.match(/channel: 36/);
    expect(await status()).to.include({ channel: 36, configured_channel: 36 });
    expect((await hop(0)).status).to.equal(422);
  });

  it('a refusal is 409 with the words of the kernel, and leaves every card where it was', async () => {
    const forbidden = await hop(100);
    expect(forbidden.status).to.equal(409);
    expect(forbidden.body['detail']).to.match(
      /wlan1 refuses: iw: command failed: Channel is disabled \(-22\)/,
    );
    await machine.refuse('Device or resource busy (-16)', 'wlan2');
    const busy = await hop(40);
    await machine.refuse(null, 'wlan2');
    expect(busy.status).to.equal(409);
    expect(busy.body).to.include({ code: 'E_RADIO_REFUSED', card: 'wlan2' });
    expect([await machine.channelOf('wlan1'), await machine.channelOf('wlan2')]).to.deep.equal([36, 36]);
    expect(await readFile(node.paths.config, 'utf8')).to.match(/channel: 36/);
  });

  it('the power: what the region allows is read back, a refusal has the words of the kernel', async () => {
    const fits = await put(15);
    expect(fits.status, JSON.stringify(fits.body)).to.equal(200);
    expect(fits.body).to.deep.equal({ requested_dbm: 15, effective_dbm: 15, tx_power_max_dbm: 20 });
    expect((await put(27)).body).to.deep.equal({
      requested_dbm: 27,
      effective_dbm: 20,
      tx_power_max_dbm: 20,
    });
    expect(await readFile(node.paths.config, 'utf8')).to.match(/tx_power_dbm: 27/);
    for (const wrong of [0, 31, 1.5, 'x']) expect((await put(wrong)).status, String(wrong)).to.equal(422);
    await machine.refuse('Operation not permitted (-1)');
    const { status: code, body } = await put(10);
    await machine.refuse(null);
    expect(code).to.equal(409);
    expect(body['detail']).to.match(/Operation not permitted \(-1\)/);
  });

  it('a card that is unplugged is named', async () => {
    await machine.unplug('wlan2');
    let body = await status();
    while ((body['missing_cards'] as string[]).length === 0) {
      await delay(50);
      body = await status();
    }
    expect(body['diagnosis']).to.deep.include({ kind: 'card_missing', figures: { missing: ['wlan2'] } });
    await machine.plug('wlan2');
  });

  it('wfb-ng that ends is down, and the answer says what to look at', async () => {
    await server.stop();
    let body = await status();
    while (body['state'] !== 'down') body = await status();
    expect(body['problem']).to.match(/does not answer/);
    expect(body['rssi_dbm']).to.equal(null);
  });
});

describe('a node without a radio', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ config: NO_WFB, simulated: false });
  });
  after(async () => node.stop());

  it('says so: absent, null in the full status, 409 to what needs one', async () => {
    expect((await node.json('/api/wfb')).body).to.include({ state: 'absent', mode: 'off', rssi_dbm: null });
    expect((await node.json('/api/status/full')).body['radio']).to.equal(null);
    expect((await node.json('/api/wfb/history')).body).to.deep.equal({ samples: [], count: 0 });
    const refused = await node.post('/api/wfb/channel', { channel: 36, force: true });
    expect(refused.status).to.equal(409);
    expect(refused.body['detail']).to.match(/radio.mode is off/);
  });
});

describe('a node that has nobody to run wfb-ng', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ config: 'radio:\n  mode: managed\n', simulated: false });
  });
  after(async () => node.stop());

  it('is 501 and names what is missing; the rest of the node works', async () => {
    let answer = await node.json('/api/wfb');
    while (answer.status === 200) answer = await node.json('/api/wfb');
    expect(answer.status).to.equal(501);
    expect(answer.body).to.include({ code: 'E_NOT_IMPLEMENTED', missing: 'svc-helper' });
    const { status, body } = await node.json('/api/status/full');
    expect(status).to.equal(200);
    expect(body['radio']).to.include({ state: 'absent' });
    expect((body['radio'] as Body)['problem']).to.match(/svc-helper/);
  });
});
