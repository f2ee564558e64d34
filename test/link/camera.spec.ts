import { expect } from 'chai';
import { common, type MavLinkData, type MavLinkPacket, minimal } from 'node-mavlink';
import type { RouterPort } from '../../front/link/router/router.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import type { CameraDone, CameraRequest, CameraState } from '../../shared/rpc/camera.ts';
import { type Client, clientOf } from '../../shared/rpc/contract.ts';
import { LINK } from '../../shared/rpc/link.ts';
import { freePort } from '../support/temp.ts';
import { commandLong, GroundStation } from './ground-station.ts';
import { LinkProcess } from './link-process.ts';
import { encodeAs, heartbeat } from './mavlink-samples.ts';
import { PeerVehicle } from './peer-vehicle.ts';
import { read as frameFields, Rig } from './rig.ts';

const SYSTEM = 5;
const ACK = 77;
const IMAGE_CAPTURED = 263;
const STREAM_INFORMATION = 269;
const HAS_VIDEO_STREAM = 256;
const [ACCEPTED, TEMPORARILY_REJECTED, DENIED, UNSUPPORTED, FAILED] = [0, 1, 2, 3, 4] as const;

const CAMERA: CameraState = {
  name: 'test',
  width: 1280,
  height: 720,
  fps: 30,
  codec: 'h264',
  bitrate_kbps: 4000,
  recording_ms: null,
  storage: { total_bytes: 64 * 2 ** 20, free_bytes: 16 * 2 ** 20 },
  follow_port: null,
  outputs: [],
};

type Fields = Readonly<Record<string, unknown>>;

const REGISTRY: Readonly<Record<number, new () => MavLinkData>> = { ...common.REGISTRY, ...minimal.REGISTRY };

/** What node-mavlink reads in a packet. */
function read({ header, payload, protocol }: MavLinkPacket): Fields {
  const clazz = REGISTRY[header.msgid];
  if (clazz === undefined) throw new Error(`message ${header.msgid}`);
  const message: object = protocol.data(Buffer.concat([payload, Buffer.alloc(255)]), clazz as never);
  return { ...message };
}

/** svc-link with a vehicle, a ground station over UDP that was heard, and what stands for svc-residual. */
class Stage implements AsyncDisposable {
  readonly requests: CameraRequest[] = [];
  readonly vehicle: PeerVehicle;
  readonly station: GroundStation;
  readonly #link: LinkProcess;
  readonly #residual: Client<typeof LINK>;
  #timer: NodeJS.Timeout | null = null;
  #seq = 0;
  /** What each request is answered with. */
  outcome: Omit<CameraDone, 'id'> = { problem: null, picture: null };

  private constructor(vehicle: PeerVehicle, link: LinkProcess, station: GroundStation) {
    this.vehicle = vehicle;
    this.#link = link;
    this.station = station;
    this.#residual = clientOf(LINK, {
      path: link.socket,
      listeners: {
        camera: (request) => {
          this.requests.push(request);
          this.#residual.calls
            .camera_done({ id: request.id, ...this.outcome })
            .catch((error: unknown) => expect.fail(String(error)));
        },
      },
    });
    this.#residual.start();
  }

  static async start(): Promise<Stage> {
    const vehicle = new PeerVehicle();
    const port = await freePort();
    const link = await LinkProcess.start(`tcp:127.0.0.1:${await vehicle.start()}`, [
      `endpoints: ["udp:127.0.0.1:${port}"]`,
      'heartbeat: on',
    ]);
    await link.until(({ mavlink_alive }) => mavlink_alive);
    await link.opened();
    const rig = new Stage(vehicle, link, await GroundStation.udp(port));
    rig.send(heartbeat({ type: 6, autopilot: 8 }));
    await rig.station.hears(SYSTEM, 191, 0);
    return rig;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#residual.stop();
    this.station.close();
    this.vehicle.stop();
    await this.#link.stop();
  }

  /** Tells svc-link the camera, now and every second; resolves with the ground stations that it hears. */
  async tell(camera: CameraState | null): Promise<readonly string[]> {
    if (this.#timer !== null) clearInterval(this.#timer);
    const tell = async (): Promise<readonly string[]> =>
      (await this.#link.calls.camera({ camera })).ground_stations;
    this.#timer = setInterval(() => void tell().catch(() => undefined), 1000); // it ends with the link
    return tell();
  }

  /** The camera is told, and the ground station has heard it. */
  async show(camera: Partial<CameraState> = {}): Promise<void> {
    await this.tell({ ...CAMERA, ...camera });
    await this.station.hears(SYSTEM, 100, 0);
  }

  send(message: MavLinkData): void {
    this.station.send(encodeAs(message, 'v2', this.#seq++ & 0xff, 255, 190));
  }

  command(command: number, params: readonly number[] = [], component = 100): void {
    const message = commandLong(command, params[0] ?? 0);
    this.send(
      Object.assign(message, {
        targetComponent: component,
        _param2: params[1] ?? 0,
        _param3: params[2] ?? 0,
      }),
    );
  }

  /** The next message `id` of a component, counted from now. */
  async next(id: number, component = 100): Promise<Fields> {
    return read(await this.station.next(id, component));
  }

  /** Sends a command and resolves with the MAV_RESULT that the camera gives. */
  async result(command: number, params: readonly number[] = []): Promise<unknown> {
    const ack = this.next(ACK);
    this.command(command, params);
    const { command: of, result, targetSystem, targetComponent } = await ack;
    expect([of, targetSystem, targetComponent]).to.deep.equal([command, 255, 190]);
    return result;
  }

  /** Asks for a message by the deprecated command or by MAV_CMD_REQUEST_MESSAGE. */
  async asked(command: number, id: number): Promise<Fields> {
    const answer = this.next(id);
    expect(await this.result(command, [command === 512 ? id : 1])).to.equal(ACCEPTED);
    return answer;
  }
}

describe('the node is the MAVLink camera of its video', () => {
  let rig: Stage;
  before(async () => {
    rig = await Stage.start();
  });
  after(async () => rig[Symbol.asyncDispose]());

  it('is there once svc-residual tells it: a heartbeat as component 100 to ground stations, none to the vehicle', async () => {
    rig.command(2000, [0, 0, 1]);
    await rig.vehicle.isTold('2000 0'); // nobody is the camera yet: the vehicle may know it
    expect(await rig.tell(CAMERA)).to.deep.equal(['127.0.0.1']);
    const beat = await rig.station.hears(SYSTEM, 100, 0);
    expect(read(beat)).to.include({ type: 30, autopilot: 8, systemStatus: 4 });
    expect(rig.vehicle.components).to.deep.equal(new Set([191, 190]));
    await rig.result(400);
    expect(rig.vehicle.commands).to.not.include('400 0');
    // Numbers of its own, without a gap.
    const own = rig.station.heard
      .filter(({ header }) => header.compid === 100)
      .map(({ header }) => header.seq);
    expect(own).to.deep.equal(own.map((_seq, index) => ((own[0] ?? 0) + index) & 0xff));
    await rig.tell(null);
    rig.command(2000, [0, 0, 1]);
    await rig.vehicle.isTold('2000 0', 2);
  });

  const messages: readonly [string, number, number, Fields][] = [
    [
      'CAMERA_INFORMATION',
      259,
      521,
      { resolutionH: 1280, resolutionV: 720, flags: 1 | 2 | 8, focalLength: Number.NaN },
    ],
    ['CAMERA_SETTINGS', 260, 522, { modeId: 1, zoomLevel: Number.NaN }],
    [
      'STORAGE_INFORMATION',
      261,
      525,
      { storageCount: 1, status: 2, totalCapacity: 64, availableCapacity: 16, usedCapacity: 48 },
    ],
    [
      'CAMERA_CAPTURE_STATUS',
      262,
      527,
      { imageStatus: 0, videoStatus: 0, availableCapacity: 16, imageCount: 0 },
    ],
  ];
  it('answers what is asked of it, by the new command and by the old ones', async () => {
    await rig.show();
    for (const [name, id, old, fields] of messages) {
      for (const command of [512, old]) {
        const answer = await rig.asked(command, id);
        for (const [key, value] of Object.entries(fields))
          expect(answer[key], `${name} ${key}`).to.deep.equal(value);
      }
    }
    const { vendorName, modelName } = await rig.asked(512, 259);
    expect(Buffer.from([...(vendorName as number[])]).toString()).to.match(/^svc\0+$/);
    expect(Buffer.from([...(modelName as number[])]).toString()).to.match(/^test\0+$/);
    // To all components: the camera answers what is its own, the vehicle gets it too.
    const answer = rig.next(262);
    rig.command(512, [262], 0);
    await answer;
    await rig.vehicle.isTold('512 262');
    for (const [command, params] of [
      [512, [148]],
      [530, [0, 1]],
      [2001, []],
      [246, [1]],
    ] as const)
      expect(await rig.result(command, params), String(command)).to.equal(UNSUPPORTED);
  });

  const rtp = { kind: 'rtp', address: '127.0.0.1', port: 5610, sending: true } as const;
  const ts = { kind: 'mpegts', address: '127.0.0.1', port: 5620, sending: true } as const;
  const claims: readonly [string, Partial<CameraState>, Fields | null][] = [
    ['nothing is sent', {}, null],
    ['another one gets it', { outputs: [{ ...rtp, address: '10.1.2.3' }] }, null],
    ['RTP to it', { outputs: [ts, rtp] }, { type: 1, uri: '5610' }],
    ['MPEG-TS to it', { outputs: [ts] }, { type: 3, uri: '5620' }],
    ['an output that fails', { outputs: [{ ...rtp, sending: false }] }, null],
    ['it is followed, and that begins', { follow_port: 5600 }, { type: 1, uri: '5600' }],
    [
      'it would be followed, and cannot be',
      { follow_port: 5600, outputs: [{ ...rtp, port: 5600, sending: false }] },
      null,
    ],
  ];
  it('claims the stream that reaches the ground station that asks, and no other', async () => {
    await rig.show();
    for (const [name, camera, stream] of claims) {
      await rig.tell({ ...CAMERA, ...camera });
      const { flags } = await rig.asked(512, 259);
      expect((Number(flags) & HAS_VIDEO_STREAM) !== 0, name).to.equal(stream !== null);
      if (stream === null) {
        for (const command of [2504, 2505])
          expect(await rig.result(command, [1]), name).to.equal(TEMPORARILY_REJECTED);
        continue;
      }
      const told = await rig.asked(2504, STREAM_INFORMATION);
      expect(told, name).to.include({
        ...stream,
        streamId: 1,
        count: 1,
        flags: 1,
        framerate: 30,
        resolutionH: 1280,
        bitrate: 4_000_000,
        encoding: 1, // H.264
      });
      expect(await rig.asked(2505, 270), name).to.include({ streamId: 1, flags: 1, resolutionV: 720 });
    }
  });

  it('says that the stream is H.265 where the camera sends that', async () => {
    await rig.show();
    const [, camera] = claims.find(([, , stream]) => stream !== null) ?? [];
    await rig.tell({ ...CAMERA, ...camera, codec: 'h265' });
    expect(await rig.asked(2504, STREAM_INFORMATION)).to.include({ encoding: 2 });
  });

  it('takes one picture, says where and when', async () => {
    await rig.show();
    const captured_at = Date.UTC(2026, 5, 1, 12, 0, 0, 123);
    rig.outcome = { problem: null, picture: { file: '/api/video/recordings/a.jpg', captured_at } };
    const captured = rig.next(IMAGE_CAPTURED);
    expect(await rig.result(2000, [0, 0, 1])).to.equal(ACCEPTED);
    expect(rig.requests.map(({ action }) => action)).to.deep.equal(['picture']);
    const picture = await captured;
    expect(picture).to.include({ imageIndex: 0, captureResult: 1, fileUrl: '/api/video/recordings/a.jpg' });
    expect(picture).to.include({ lat: 481_000_000, lon: 115_000_000, alt: 500_000, relativeAlt: 12_000 });
    expect(picture['timeUtc']).to.equal(BigInt(captured_at) * 1000n);
    expect(await rig.asked(527, 262)).to.include({ imageCount: 1 });
  });

  it('records, and says so to everybody', async () => {
    await rig.show();
    expect(await rig.result(2501)).to.equal(ACCEPTED);
    expect(await rig.result(2500, [0, 1])).to.equal(ACCEPTED);
    expect(rig.requests.map(({ action }) => action)).to.deep.equal([
      'picture',
      'record_stop',
      'record_start',
    ]);
    const status = rig.next(262);
    await rig.tell({ ...CAMERA, recording_ms: 1500 });
    expect(await status).to.include({ videoStatus: 1, recordingTimeMs: 1500 });
  });
});

/** A ground station of the link in this process. */
class Near {
  readonly heard: { readonly id: number; readonly component: number; readonly fields: Fields }[] = [];
  readonly #port: RouterPort;
  readonly #component: number;
  readonly #in: Framer;
  readonly #out: Framer;
  #seq = 0;

  constructor(rig: Rig, component = 190, mayWrite = true) {
    this.#component = component;
    this.#in = new Framer((frame) => {
      this.heard.push({ id: frame.id, component: frame.component, fields: frameFields(frame) });
    });
    const sink = { queuedBytes: 0, host: '10.0.0.9', send: (bytes: Buffer) => this.#in.push(bytes, 0) };
    this.#port = rig.link.parts.router.attach('near', sink, { mayWrite, force: false, serialControl: false });
    this.#out = new Framer((frame) => this.#port.receive(frame));
    this.#say(heartbeat({ type: 6, autopilot: 8 }));
  }

  command(command: number, params: readonly number[] = [], component = 100): void {
    const fields = {
      targetSystem: 1,
      targetComponent: component,
      _param2: params[1] ?? 0,
      _param3: params[2] ?? 0,
    };
    this.#say(Object.assign(commandLong(command, params[0] ?? 0), fields));
  }

  /** The MAV_RESULTs of the camera's answers so far. */
  get results(): readonly unknown[] {
    return this.heard
      .filter(({ id, component }) => id === ACK && component >= 100 && component < 106)
      .map(({ fields }) => fields['result']);
  }

  /** The components whose heartbeats it heard so far, of cameras. */
  get cameras(): readonly number[] {
    return this.heard
      .filter(({ id, component }) => id === 0 && component >= 100 && component < 106)
      .map(({ component }) => component);
  }

  get texts(): readonly unknown[] {
    return this.heard.filter(({ id }) => id === 253).map(({ fields }) => fields['text']);
  }

  #say(message: MavLinkData): void {
    this.#out.push(encodeAs(message, 'v2', this.#seq++ & 0xff, 255, this.#component), 0);
  }
}

describe("the camera's rules", () => {
  let rig: Rig;
  let requests: CameraRequest[];
  let near: Near;
  const picture = (station = near): void => station.command(2000, [0, 0, 1]);
  const done = (problem: CameraDone['problem'] = null): void => {
    rig.calls.camera_done({
      id: requests.at(-1)?.id ?? 0,
      problem,
      picture: problem === null ? { file: '/a.jpg', captured_at: 1 } : null,
    });
  };
  /** Seconds with a camera. */
  const watch = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left--) {
      rig.calls.camera({ camera: CAMERA });
      await rig.live(1000);
    }
  };
  beforeEach(async () => {
    requests = [];
    rig = new Rig({ onCameraRequest: (request) => requests.push(request) });
    await rig.meet();
    near = new Near(rig);
    await watch(2);
  });
  afterEach(async () => rig.link.stop());

  it('one picture a second, and no sequence', async () => {
    near.command(2000, [0, 1, 0]);
    near.command(2000, [0, 1, 5]);
    expect(requests).to.deep.equal([]);
    picture();
    done();
    picture();
    await rig.live(500);
    picture();
    expect(requests).to.have.length(1);
    expect(near.results).to.deep.equal([
      DENIED,
      DENIED,
      ACCEPTED,
      TEMPORARILY_REJECTED,
      TEMPORARILY_REJECTED,
    ]);
    expect(near.texts).to.include('camera: one picture at a time (param3 = 1)');
    await watch(1);
    picture();
    expect(requests).to.have.length(2);
  });

  it('a repetition is the same picture, and somebody else has to wait', () => {
    const other = new Near(rig, 191);
    picture();
    picture();
    picture(other);
    expect(requests).to.have.length(1);
    expect([near.results, other.results]).to.deep.equal([[], [TEMPORARILY_REJECTED]]);
    done();
    done();
    expect(near.results).to.deep.equal([ACCEPTED]);
  });

  it('each starts a recording at most once a second, and stops it at once', () => {
    for (const command of [2500, 2501, 2500, 2501]) {
      near.command(command);
      done();
    }
    expect(requests.map(({ action }) => action)).to.deep.equal([
      'record_start',
      'record_stop',
      'record_stop',
    ]);
    expect(near.results).to.deep.equal([ACCEPTED, ACCEPTED, TEMPORARILY_REJECTED, ACCEPTED]);
  });

  const refusals: readonly [string, number][] = [
    ['E_DISK_FULL', DENIED],
    ['E_NO_FRAME', TEMPORARILY_REJECTED],
    ['E_RECORDING_ACTIVE', TEMPORARILY_REJECTED],
    ['E_STORE', FAILED],
  ];
  for (const [code, result] of refusals) {
    it(`${code} is MAV_RESULT ${result}, with the reason as text`, () => {
      picture();
      done({ code, detail: `This is why it was refused, which takes some words.` });
      expect(near.results).to.deep.equal([result]);
      expect(near.texts.at(-1)).to.equal('camera: This is why it was refused, which takes so');
      expect(near.heard.some(({ id }) => id === IMAGE_CAPTURED)).to.equal(false);
    });
  }

  it('no answer within 8 s has failed', async () => {
    picture();
    await watch(8);
    expect(near.results).to.deep.equal([FAILED]);
    done();
    expect(near.results).to.deep.equal([FAILED]);
  });

  it('a peer that may only listen asks for nothing', () => {
    const reader = new Near(rig, 192, false);
    picture(reader);
    reader.command(512, [259]);
    expect([requests, reader.results]).to.deep.equal([[], []]);
  });

  it('without news of it for 4 s there is no camera', async () => {
    await rig.live(5000);
    const beats = near.cameras.length;
    await rig.live(3000);
    expect(near.cameras).to.have.length(beats);
    picture();
    expect(requests).to.deep.equal([]);
    expect(rig.commands(2000)).to.have.length(1);
  });

  it('a camera that the vehicle has keeps its number: ours takes the next', async () => {
    expect(near.cameras.at(-1)).to.equal(100);
    rig.say(heartbeat({ type: 30, autopilot: 8 }), 1, 100);
    await watch(2);
    expect(near.cameras.at(-1)).to.equal(101);
    picture();
    expect([requests.length, rig.commands(2000).length]).to.deep.equal([0, 1]);
    near.command(2000, [0, 0, 1], 101);
    expect(requests).to.have.length(1);
    for (let component = 100; component <= 105; component++)
      rig.say(heartbeat({ type: 30, autopilot: 8 }), 1, component);
    await rig.live(1000);
    const beats = near.cameras.length;
    await watch(2);
    expect(near.cameras).to.have.length(beats);
  });

  it('where it was is only said of a vehicle that is heard', () => {
    picture();
    done();
    const captured = near.heard.find(({ id }) => id === IMAGE_CAPTURED)?.fields;
    expect(captured).to.include({ lat: 2_147_483_647, lon: 2_147_483_647, alt: 2_147_483_647 });
    expect(captured?.['q']).to.deep.equal([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
  });
});
