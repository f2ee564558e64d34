import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { RadioEnd } from '../rig/radio-sim/radio-end.ts';
import { KEY } from '../support/edge.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { directoriesIn, TestNode } from '../support/node.ts';
import { bindTo, DRONE, GROUND } from '../support/radios.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const GROUND_KEY = 'svc_ground789abcdef0123456789abcdef0123456789a';
const LOSS = 30;

describe('a drone and a ground station on two machines, with a simulated radio between them (network namespaces)', function () {
  this.timeout(120_000);
  let cable: RemoteHost;
  let folder: string;
  let drone: TestNode;
  let ground: TestNode;
  let radios: readonly RadioEnd[] = [];

  before(async () => {
    expect(noNamespaces()).to.equal(null);
    cable = await RemoteHost.create('10.78.6.1/24', '10.78.6.2/24');
    folder = await tempDir();
    await lose(0);
    const [video, mavlink, api, relay] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    const radio = (tunnel: string): string =>
      `radio:\n  mode: external\n  relay_port: ${relay}\n  tunnel:\n    drone: ${tunnel}\n`;
    const sim = (own: string, peer: string, rtp: number, udp: number) => ({
      air: 8112,
      peer: 8112,
      air_host: own,
      peer_host: peer,
      video: rtp,
      mavlink: udp,
      loss_file: join(folder, 'loss'),
    });
    [drone, ground] = await Promise.all([
      TestNode.start({
        pairing: { key: KEY },
        prefix: cable.prefix,
        config: `${radio('127.0.0.10')}video:\n  source: test\n  radio: 127.0.0.1:5602\n`,
        prepare: bindTo(DRONE),
      }),
      TestNode.start({
        pairing: { key: GROUND_KEY },
        simulated: false,
        config: `${radio('127.0.0.11')}  api_port: ${api}\nagent:\n  profile: ground-station\nmavlink:\n  source: udp:127.0.0.1:${mavlink}\nvideo:\n  source: rtp:127.0.0.1:${video}\n`,
        prepare: bindTo(GROUND),
      }),
    ]);
    radios = [
      new RadioEnd(directoriesIn(drone.base), sim('10.78.6.2', '10.78.6.1', 5602, 14_560), cable.prefix),
      new RadioEnd(directoriesIn(ground.base), sim('10.78.6.1', '10.78.6.2', video, mavlink)),
    ];
  });
  after(async () => {
    await Promise.all([drone.stop(), ground.stop(), ...radios.map(async (radio) => radio.stop())]);
    await cable.destroy();
    await removeDir(folder);
  });

  const withKey = { 'x-svc-key': GROUND_KEY };
  const lose = async (percent: number): Promise<void> => writeFile(join(folder, 'loss'), String(percent));
  const wfb = async () => (await ground.json('/api/wfb', { headers: withKey })).body;
  const relayed = `/api/v1/ground-station/relay-proxy/${DRONE}/api/status`;

  it('is bound over the cable, and then hears the drone: link, vehicle, picture, and its own API', async () => {
    expect((await wfb())['state']).to.not.equal('active');
    await Promise.all([drone.knowsArmed(), ground.knowsArmed()]);
    const bound = await ground.post('/api/wfb/pair', { host: `10.78.6.2:${drone.port}`, key: KEY }, withKey);
    expect(bound.status, JSON.stringify(bound.body)).to.equal(200);
    while ((await wfb())['state'] !== 'active');
    // No card is at hand to be asked.
    const { channel, frequency_mhz: mhz } = await wfb();
    expect(5000 + 5 * Number(channel)).to.equal(mhz);
    const telemetry = async () => (await ground.json('/api/telemetry', { headers: withKey })).body;
    while ((await telemetry())['mavlink_alive'] !== true);
    expect((await telemetry())['autopilot']).to.equal(3);
    const picture = async () => fetch(`${ground.url}/api/video/snapshot`, { headers: withKey });
    for (let answer = await picture(); answer.status !== 200; answer = await picture())
      expect(answer.status).to.equal(503);
    while ((await ground.json(relayed, { headers: withKey })).status !== 200);
    const pairs = async () =>
      (await ground.json('/api/wfb/pair', { headers: withKey })).body['pairs'] as {
        readonly proved: boolean;
      }[];
    while ((await pairs())[0]?.proved !== true); // written down after the first answer
  });
  it('says what the radio loses, and the relay goes on', async () => {
    await lose(LOSS);
    for (;;) {
      const loss = Number((await wfb())['loss_before_fec_percent']);
      if (Math.abs(loss - LOSS) < 8) break;
    }
    const statuses: number[] = [];
    for (let asked = 0; asked < 10; asked++) {
      const at = performance.now();
      statuses.push((await ground.json(relayed, { headers: withKey })).status);
      expect(performance.now() - at).to.be.below(8000);
    }
    expect(statuses.filter((status) => status === 200).length, statuses.join()).to.be.at.least(5);
    await lose(0);
  });
  it('a ground station that the drone has cut off by name hears nothing it can decrypt', async () => {
    const cut = await fetch(`http://10.78.6.2:${drone.port}/api/wfb/pair?device_id=${GROUND}`, {
      method: 'DELETE',
      headers: { 'x-svc-key': KEY },
    });
    expect(cut.status).to.equal(200);
    while ((await wfb())['state'] === 'active');
    expect((await ground.json(relayed, { headers: withKey })).status).to.be.oneOf([503, 504]);
  });
});
