import { createHash, randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { makeRadioKeys } from '../../shared/radio-keys.ts';
import { type EndOptions, type RadioRecord, RadioSimEnd } from '../support/radio-sim.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';

const DRONE_TUNNEL = '127.0.0.21';
const GROUND_TUNNEL = '127.0.0.22';
const RECORDED = join(import.meta.dirname, '../support/radio');
const TOTAL = 1;
/** As video at 2 Mbit/s. */
const PACKET = { bytes: 1200, everyMs: 5 };

describe('the simulated radio', () => {
  const [droneKeys, groundKeys] = [makeRadioKeys(), makeRadioKeys()];
  let base: string;
  let drone: RadioSimEnd;
  let ground: RadioSimEnd;
  let video: UdpReceiver;
  let vehicle: Socket;
  let gcs: Socket;
  let camera: Socket;
  let timers: readonly NodeJS.Timeout[];
  let relay: Server;
  let relayPort: number;
  let groundEnd: (more: Record<string, unknown>) => Promise<RadioSimEnd>;

  const setLoss = async (percent: number): Promise<void> => writeFile(join(base, 'loss'), String(percent));

  before(async () => {
    base = await tempDir();
    await setLoss(0);
    relayPort = await freePort();
    // The drone's own listener: sends back whatever comes.
    relay = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      socket.pipe(socket);
    });
    relay.listen(relayPort, DRONE_TUNNEL);
    await once(relay, 'listening');
    video = await UdpReceiver.open();
    [gcs, vehicle] = await Promise.all([openSocket(), openSocket()]);
    gcs.on('message', (_packet, from) => gcs.send('from the ground', from.port, from.address));
    const [air, peer, videoPort, mavlinkPort] = await Promise.all([1, 2, 3, 4].map(freePort));
    const [videoIn, mavlinkIn] = [videoPort ?? 0, mavlinkPort ?? 0];
    const end = async (options: Pick<EndOptions, 'profile' | 'keys' | 'sim'>, tunnel: string) =>
      RadioSimEnd.start({
        ...options,
        base: join(base, options.profile),
        radio: { api_port: await freePort(), relay_port: relayPort, tunnel: { drone: tunnel } },
        sim: { loss_file: join(base, 'loss'), ...options.sim },
      });
    const toGround = { air: peer, peer: air, video: video.port, mavlink: gcs.address().port };
    groundEnd = async (more) => {
      const keys = { own: groundKeys, peer: droneKeys };
      return end({ profile: 'ground-station', keys, sim: { ...toGround, ...more } }, GROUND_TUNNEL);
    };
    const toDrone = { air, peer, video: videoIn, mavlink: mavlinkIn };
    const keys = { own: droneKeys, peer: groundKeys };
    [drone, ground] = await Promise.all([
      end({ profile: 'drone', keys, sim: toDrone }, DRONE_TUNNEL),
      groundEnd({}),
    ]);
    camera = createSocket('udp4');
    const to = (socket: Socket, port: number, packet: Buffer | string) => () =>
      socket.send(packet, port, '127.0.0.1');
    timers = [
      setInterval(to(camera, videoIn, Buffer.alloc(PACKET.bytes)), PACKET.everyMs),
      setInterval(to(vehicle, mavlinkIn, 'from the vehicle'), 200),
    ];
  });
  after(async () => {
    for (const timer of timers) clearInterval(timer);
    for (const socket of [camera, vehicle, gcs]) socket.close();
    relay.close();
    await Promise.all([drone.stop(), ground.stop()]);
    await video[Symbol.asyncDispose]();
    await removeDir(base);
  });

  const heard = (record: RadioRecord): boolean => record.rx_ant_stats.length > 0;

  describe('its JSON API has the form of the records of the real program', () => {
    for (const [name, of] of [
      ['gs-1card-loss15', () => ground],
      ['drone-1card-loss15', () => drone],
    ] as const)
      it(name, async () => {
        const recorded = readFileSync(join(RECORDED, `${name}.ndjson`), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as RadioRecord);
        const ids = [...new Set(recorded.slice(1).map(({ id }) => id))];
        expect(ids).to.have.lengthOf(5);
        for (const id of ids) {
          const real = recorded.findLast((record) => record.id === id);
          const ours = await of().until(id, (record) => id.endsWith(' tx') || heard(record));
          expect(shape(ours), id).to.deep.equal(shape(real));
        }
        const [settings] = of().records;
        expect(settings?.type).to.equal('settings');
        expect(notIn(settings, recorded[0], 'settings')).to.deep.equal([]);
        expect(Object.keys(settings ?? {})).to.deep.equal(Object.keys(recorded[0] ?? {}));
      });
    it('every stream is reported once a second, also in silence', async () => {
      const count = (id: string): number => drone.records.filter((record) => record.id === id).length;
      const before = count('mavlink rx');
      const other = count('tunnel tx');
      await drone.until('mavlink rx', () => count('mavlink rx') === before + 2);
      expect(count('tunnel tx') - other).to.be.within(1, 3);
    });
  });

  it('MAVLink goes both ways, each end adds RADIO_STATUS', async () => {
    for (const [socket, words] of [
      [gcs, 'from the vehicle'],
      [vehicle, 'from the ground'],
    ] as const) {
      const packets: Buffer[] = [];
      socket.on('message', (packet) => packets.push(packet));
      while (!packets.some((packet) => packet.includes(words)) || !packets.some(isRadioStatus))
        await once(socket, 'message');
    }
  });

  it('the loss that is set is the loss before FEC, and FEC repairs most of it', async () => {
    await setLoss(20);
    await ground.until('video rx', ({ packets }) => (packets['fec_rec']?.[0] ?? 0) > 5);
    const first = await ground.until('video rx');
    const total = (record: RadioRecord, name: string): number => record.packets[name]?.[TOTAL] ?? 0;
    const last = await ground.until(
      'video rx',
      (record) => total(record, 'uniq') - total(first, 'uniq') > 1200,
    );
    const since = (name: string): number => total(last, name) - total(first, name);
    expect(last.session).to.deep.include({ fec_k: 8, fec_n: 12 });
    const before = 1 - since('uniq') / (((since('out') + since('lost')) * 12) / 8);
    expect(before).to.be.within(0.15, 0.25);
    expect(since('lost') / since('out')).to.be.below(0.1);
    expect(since('fec_rec')).to.be.above(since('lost'));
  });

  it('the tunnel carries 1 MB intact at 20 % loss', async () => {
    await setLoss(20);
    await drone.until('tunnel rx', ({ packets }) => (packets['fec_rec']?.[TOTAL] ?? 0) > 0);
    const sent = randomBytes(1024 * 1024);
    const client = connect({ host: GROUND_TUNNEL, port: relayPort, allowHalfOpen: true });
    client.end(sent);
    const back = await buffer(client);
    expect(sha(back)).to.equal(sha(sent));
  });

  it('with another key nothing is decrypted and the tunnel carries nothing; with the right one it goes on', async () => {
    await setLoss(0);
    await ground.setKeys(makeRadioKeys(), droneKeys);
    const wrong = await ground.until(
      'video rx',
      ({ packets }) => (packets['dec_err']?.[0] ?? 0) > 100 && packets['data']?.[0] === 0,
    );
    expect(wrong.packets['out']?.[0]).to.equal(0);
    expect(wrong.rx_ant_stats).to.deep.equal([]);
    const client = connect(relayPort, GROUND_TUNNEL);
    let arrived = 0;
    client.on('data', (bytes: Buffer) => (arrived += bytes.length));
    client.write('hello');
    const ids = ground.records.length;
    await ground.until('tunnel rx', () => ground.records.length > ids + 5);
    expect(arrived).to.equal(0);
    await ground.setKeys(groundKeys, droneKeys);
    await once(client, 'data'); // sent again, as TCP would
    client.destroy();
    expect(arrived).to.equal(5);
    await ground.until('video rx', heard);
  });

  describe('at its end', () => {
    it('it stops when it is asked to, and the other one is in silence', async () => {
      expect(await ground.stop()).to.equal(0);
      await drone.until('tunnel rx', (record) => !heard(record) && record.session !== null);
    });
    it('on another channel nothing is heard', async () => {
      ground = await groundEnd({ channel: 36 });
      const { packets, session } = await ground.until('video rx', () => ground.records.length > 10);
      expect(packets['all']).to.deep.equal([0, 0]);
      expect(session).to.equal(null);
    });
    it('follows its card without a word of the node; the report of the second in which it moved has what came before', async () => {
      await ground.stop();
      const card = join(base, 'card');
      await writeFile(card, '161');
      ground = await groundEnd({ channel_file: card });
      await ground.until('tunnel rx', heard);
      // Else it may move right after a report, and the next one rightly has nothing.
      const arrived = video.datagrams.length;
      await video.until((datagrams) => datagrams.length > arrived + 40);
      const before = ground.records.length;
      await writeFile(card, '36');
      const after = await ground.until('tunnel rx', (record) => {
        const index = ground.records.lastIndexOf(record);
        return index >= before && !heard(record);
      });
      const spanning = ground.records.slice(before).filter(({ id }) => id === 'video rx');
      expect(spanning[0]?.packets['all']?.[0], 'heard before the switch').to.be.greaterThan(0);
      expect(after.session, 'kept after the loss').to.not.equal(null);
      await writeFile(card, '161');
      await ground.until('tunnel rx', heard);
    });
  });
});

async function openSocket(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

function isRadioStatus(packet: Buffer): boolean {
  return packet[0] === 0xfd && packet[5] === 3 && packet[6] === 68 && packet[7] === 109;
}

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The members and their types, of a list those of its first item. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return [shape(value[0])];
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.entries(value).map(([name, member]) => [name, shape(member)]);
}

/** Members of one that another lacks, or has with another type; a list counts as a value. */
function notIn(ours: unknown, real: unknown, path: string): readonly string[] {
  const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isPlain(ours)) return typeof ours === typeof real ? [] : [path];
  if (!isPlain(real)) return [path];
  return Object.entries(ours).flatMap(([name, member]) =>
    name in real ? notIn(member, real[name], `${path}.${name}`) : [`${path}.${name}`],
  );
}
