import { join } from 'node:path';
import { expect } from 'chai';
import { common, type MavLinkData, type MavLinkPacket } from 'node-mavlink';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { commandLong, GroundStation } from '../link/ground-station.ts';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { KEY } from '../support/edge.ts';
import { engineStatus } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { decodeFile, decodeH264, decodeJpeg } from '../support/pictures.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';
import { KEYED } from '../support/video-node.ts';

const CAMERA = 100;
const HEARTBEAT = 0;

function read<T extends MavLinkData>({ payload, protocol }: MavLinkPacket, clazz: new () => T): T {
  return protocol.data(Buffer.concat([payload, Buffer.alloc(255)]), clazz as never) as T;
}

describe('a ground station on the link', () => {
  let node: TestNode;
  let screen: UdpReceiver;
  let station: GroundStation;
  let alive: NodeJS.Timeout;
  let folder: string;
  let disk: string;
  let seq = 0;
  const say = (message: MavLinkData): void => station.send(encodeAs(message, 'v2', seq++ & 0xff, 255, 190));
  const command = (id: number, ...[p1 = 0, p2 = 0, p3 = 0]: number[]): void =>
    say(
      Object.assign(commandLong(id, p1), {
        targetSystem: 1,
        targetComponent: CAMERA,
        _param2: p2,
        _param3: p3,
      }),
    );
  const next = async (id: number): Promise<MavLinkPacket> => station.next(id, CAMERA);
  const result = async (id: number, ...params: number[]): Promise<number> => {
    const ack = next(77);
    command(id, ...params);
    return read(await ack, common.CommandAck).result;
  };
  const video = async (): Promise<Record<string, unknown>> =>
    (await node.json('/api/video', { headers: KEYED })).body;
  const outputs = async (): Promise<readonly Record<string, unknown>[]> =>
    (await video())['outputs'] as readonly Record<string, unknown>[];

  before(async () => {
    const port = await freePort();
    screen = await UdpReceiver.open();
    folder = await tempDir();
    disk = `/dev/shm${folder}`;
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: [
        'mavlink:',
        '  source: sim',
        `  endpoints: ['udp:127.0.0.1:${port}']`,
        'video:',
        '  source: test',
        "  radio: ''",
        '  follow_gcs: true',
        `  follow_port: ${screen.port}`,
        '  hero: {width: 640, height: 360, fps: 15, bitrate_kbps: 800}',
        `  recording: {directory: ${disk}}`,
        '',
      ].join('\n'),
    });
    station = await GroundStation.udp(port);
    const beat = (): void => say(heartbeat({ type: 6, autopilot: 8 }));
    beat();
    alive = setInterval(beat, 1000);
  });
  after(async () => {
    clearInterval(alive);
    station.close();
    await node.stop();
    await screen[Symbol.asyncDispose]();
    await removeDir(disk);
    await removeDir(folder);
  });

  it('gets the picture at its port, and the camera says so', async () => {
    await station.hears(1, CAMERA, HEARTBEAT);
    const information = next(259);
    command(512, 259);
    const { flags, modelName } = read(await information, common.CameraInformation);
    expect(flags & common.CameraCapFlags.HAS_VIDEO_STREAM).to.not.equal(0);
    expect(Buffer.from(modelName).toString()).to.match(/^bars\0+$/);
    const stream = next(269);
    command(512, 269);
    expect(read(await stream, common.VideoStreamInformation)).to.include({
      type: common.VideoStreamType.RTPUDP,
      uri: String(screen.port),
      encoding: common.VideoStreamEncoding.H264,
    });
    const units: Buffer[] = [];
    const depacketizer = new RtpDepacketizer((data, key) => {
      if (key || units.length > 0) units.push(data);
    });
    let taken = 0;
    await screen.until((all) => {
      for (; taken < all.length; taken++) depacketizer.push(all[taken] ?? Buffer.alloc(0), taken);
      return units.length > 20;
    });
    const seen = await decodeH264(units);
    expect(seen.length).to.be.above(15);
    expect(seen.every(({ width, clock }) => width === 640 && clock !== null)).to.equal(true);
    expect((await outputs())[0]).to.include({
      to: `127.0.0.1:${screen.port}`,
      followed: true,
      problem: null,
    });
  });

  it('takes a picture, which is among the recordings', async () => {
    const captured = next(263);
    expect(await result(2000, 0, 0, 1)).to.equal(0);
    const { fileUrl, captureResult, imageIndex } = read(await captured, common.CameraImageCaptured);
    expect([captureResult, imageIndex]).to.deep.equal([1, 0]);
    const { body } = await node.json('/api/video/recordings', { headers: KEYED });
    const [stored] = body['recordings'] as readonly { name: string; kind: string }[];
    expect([stored?.kind, fileUrl]).to.deep.equal([
      'snapshot',
      `/api/video/recordings/${stored?.name ?? ''}`,
    ]);
    const { body: jpeg } = await node.request(fileUrl, { headers: KEYED });
    expect((await decodeJpeg(jpeg as Buffer)).clock).to.be.closeTo(Date.now(), 60_000);
  });

  it('records', async () => {
    expect(await result(2501)).to.equal(1); // nothing to stop
    expect(await result(2500)).to.equal(0);
    for (;;) {
      const told = next(262);
      command(527, 1);
      const { videoStatus, recordingTimeMs } = read(await told, common.CameraCaptureStatus);
      if (videoStatus === 1 && recordingTimeMs > 1000) break;
      await next(HEARTBEAT);
    }
    expect(await result(2500)).to.equal(1); // it records already
    expect(await result(2501)).to.equal(0);
    const { body } = await node.json('/api/video/recordings', { headers: KEYED });
    const [stored] = body['recordings'] as readonly { name: string }[];
    const film = await decodeFile(join(disk, stored?.name ?? ''));
    expect(film.pictures.length).to.be.above(10);
    expect(body['recording']).to.equal(null);
  });

  it('the camera is there again after svc-video or svc-link died', async () => {
    for (const process of ['svc-video', 'svc-link']) {
      await node.killAndAwaitSuccessor(process);
      screen.datagrams.length = 0;
      await screen.until((all) => all.length > 0);
      await next(HEARTBEAT);
    }
  });

  it('fills no disk: below the reserve nothing is stored, and the answer says why', async () => {
    const before = (await node.json('/api/video/recordings', { headers: KEYED })).body['recordings'];
    const body = JSON.stringify({ key: 'video.recording.reserve_mb', value: 65_536 }); // more than a tmpfs has
    const headers = { ...KEYED, 'content-type': 'application/json' };
    expect((await node.json('/api/config', { method: 'PUT', headers, body })).status).to.equal(200);
    // In this order: the new svc-video follows the station once the new svc-residual is connected with both.
    for (const process of ['svc-residual', 'svc-video']) await node.killAndAwaitSuccessor(process);
    screen.datagrams.length = 0;
    await screen.until((all) => all.length > 0);
    await next(HEARTBEAT);
    for (const order of [2000, 2500]) {
      const text = next(253);
      expect(await result(order, 0, 0, 1), String(order)).to.equal(2);
      expect(read(await text, common.StatusText).text).to.match(/^camera: /);
    }
    const { body: after } = await node.json('/api/video/recordings', { headers: KEYED });
    expect(after['recordings']).to.deep.equal(before);
  });

  it('when it is silent, nothing is sent there any more', async () => {
    expect(await outputs()).to.have.length(1);
    clearInterval(alive);
    const { frames } = await engineStatus(node, (status) => status.outputs.length === 0);
    const { length } = screen.datagrams;
    await engineStatus(node, (status) => status.frames > frames + 5);
    expect(screen.datagrams).to.have.length(length);
  });
});
