import { join } from 'node:path';
import { expect } from 'chai';
import { EngineClient } from '../../residual/app/video/engine-client.ts';
import { VideoService } from '../../residual/app/video/video-service.ts';
import { ApiError } from '../../shared/errors.ts';
import { type Server, serverOf } from '../../shared/rpc/contract.ts';
import { type EngineStatus, type Profile, type RecordingStatus, VIDEO } from '../../shared/rpc/video.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const PROFILES = {
  hero: { width: 1280, height: 720, fps: 30, bitrate_kbps: 4000 },
  thumbnail: { width: 320, height: 180, fps: 5, bitrate_kbps: 150 },
} as const;

/** A svc-video on a socket of its own, which does what the test says. */
class FakeEngine {
  readonly server: Server<typeof VIDEO>;
  state: EngineStatus['state'] = 'running';
  encoder: string | null = 'libx264';
  recording: RecordingStatus | null = null;
  /** Widths that were asked for. */
  readonly asked: number[] = [];
  readonly starts: (string | null)[] = [];
  camera = 'main';
  /** Cameras that were asked for. */
  readonly cameras: string[] = [];
  answer: (profile: Profile) => Promise<Profile> = async (profile) => Promise.resolve(profile);
  refusal: ApiError | null = null;
  #waiting: (() => void)[] = [];
  #runs = 0;

  constructor(path: string) {
    const none = (): never => {
      throw new ApiError('E_NOT_IMPLEMENTED');
    };
    this.server = serverOf(VIDEO, {
      path,
      handlers: {
        status: () => this.status(),
        profile: async (profile) => {
          this.asked.push(profile.width);
          this.#wake();
          return this.answer(profile);
        },
        camera: ({ id }) => {
          this.cameras.push(id);
          this.#wake();
          if (this.refusal !== null) throw this.refusal;
          this.camera = id;
          return { id, source: 'test' };
        },
        limit: none,
        glance: none,
        snapshot: none,
        follow: none,
        record_start: ({ hint }) => {
          this.starts.push(hint);
          this.#wake();
          if (this.refusal !== null) throw this.refusal;
          if (this.state !== 'running') throw new ApiError('E_NO_PIPELINE');
          const name = `2026_${hint ?? ''}_${++this.#runs}.mp4`;
          this.recording = {
            name,
            files: [name],
            started_at: `2026-01-01T00:00:0${this.#runs}.000Z`,
            duration_seconds: 2,
            size_bytes: 10,
          };
          this.tell();
          return this.recording;
        },
        record_stop: () => {
          const { recording } = this;
          if (recording === null) throw new ApiError('E_RECORDING_NOT_ACTIVE');
          this.recording = null;
          this.tell();
          return { ...recording, stopped_at: '2026-01-01T00:01:00.000Z' };
        },
        viewer_open: none,
        viewer_trickle: none,
        viewers_end: none,
      },
      greeting: () => [['status', this.status()]],
      onError: () => undefined,
    });
  }

  status(): EngineStatus {
    return {
      state: this.state,
      problem: null,
      camera: this.camera,
      source: 'test',
      codec: 'h264',
      encoder: this.encoder,
      encoder_reasons: this.encoder === null ? null : [],
      reduced: null,
      profile: this.encoder === null || this.state !== 'running' ? null : PROFILES.hero,
      fps: null,
      bitrate_kbps: null,
      frames: 0,
      dropped: 0,
      last_frame_age_ms: null,
      restarts: 0,
      idle: false,
      recording: this.recording,
      recording_problem: null,
      radio: null,
      outputs: [],
      follow_port: null,
      small: null,
      viewers: [],
    };
  }

  tell(): void {
    this.server.tell('status', this.status());
  }

  /** Resolves when `done` holds after a call. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

describe('the video service, with a svc-video that fails in every way', () => {
  let dir = '';
  let engine: FakeEngine;
  let client: EngineClient;
  let service: VideoService;
  let clock: { now: number; wall: number };
  let heard: (() => void)[];
  const sizes = new Map<string, number>();

  const status = async (fits: (now: EngineStatus | null) => boolean): Promise<void> => {
    while (!fits(client.status)) await new Promise<void>((resolve) => heard.push(resolve));
  };
  /** As svc-video tells its state, and the service has heard it. */
  const says = async (state: EngineStatus['state']): Promise<void> => {
    engine.state = state;
    const next = new Promise<void>((resolve) => heard.push(resolve));
    engine.tell();
    await next;
  };
  const dies = async (): Promise<void> => {
    await engine.server.stop();
    engine.recording = null;
  };

  beforeEach(async () => {
    dir = await tempDir();
    clock = { now: 1000, wall: Date.parse('2026-01-01T00:00:00Z') };
    heard = [];
    sizes.clear();
    engine = new FakeEngine(join(dir, 'video.sock'));
    client = new EngineClient(join(dir, 'video.sock'), (now, isNew) => {
      service.heard(now, isNew);
      for (const wake of heard.splice(0)) wake();
    });
    service = await VideoService.open({
      engine: client,
      profiles: PROFILES,
      known: new Set(['main', 'tail']),
      file: join(dir, 'profile.json'),
      now: () => clock.now,
      wall: () => clock.wall,
      sizeOf: async (name) => Promise.resolve(sizes.get(name) ?? 0),
      log: silentLog,
    });
    await engine.server.start();
  });
  afterEach(async () => {
    service.stop();
    client.stop();
    await engine.server.stop();
    await removeDir(dir);
  });

  const begin = async (): Promise<void> => {
    client.start();
    await status((now) => now?.state === 'running');
    await service.profile();
  };

  it('a profile whose call failed is asked for again at the next status', async () => {
    await begin();
    await service.moveBase('thumbnail');
    await service.hold('a', 'hero', 30);
    engine.asked.length = 0;
    engine.answer = async () => Promise.reject(new ApiError('E_TIMEOUT'));
    const error = await service.release('a').catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'E_TIMEOUT' });
    engine.answer = async (profile) => Promise.resolve(profile);
    engine.tell();
    await engine.until(() => engine.asked.length === 2);
    expect(engine.asked).to.deep.equal([320, 320]);
    expect(await service.profile()).to.include({ profile: 'thumbnail', width: 320 });
  });

  it('a recording that is stopped while it starts is answered as stopped, and does not begin again', async () => {
    await begin();
    const starting = service.startRecording('a').catch((error: unknown) => error);
    expect(await service.stopRecording()).to.include({ name: '2026_a_1.mp4' });
    expect(await starting).to.include({ code: 'E_RECORDING_NOT_ACTIVE' });
    await says('running');
    await says('running');
    expect(engine.starts).to.deep.equal(['a']);
  });

  it('the camera that was chosen is shown again after a crash of svc-video; one that is gone is given up', async () => {
    await begin();
    expect(await service.showCamera('tail')).to.deep.equal({ id: 'tail', source: 'test' });
    const unknown = await service.showCamera('nose').catch((error: unknown) => error);
    expect(unknown).to.include({ code: 'E_NOT_FOUND' });
    await dies();
    engine.camera = 'main';
    await engine.server.start();
    await engine.until(() => engine.cameras.length === 2);
    expect(engine.cameras).to.deep.equal(['tail', 'tail']);
    await dies();
    engine.camera = 'main';
    engine.refusal = new ApiError('E_NO_PIPELINE');
    await engine.server.start();
    await engine.until(() => engine.cameras.length === 3);
    await says('running');
    await dies();
    await engine.server.start();
    await says('running');
    expect(engine.cameras).to.deep.equal(['tail', 'tail', 'tail']);
  });

  it('a restart of this process does not change what is shown', async () => {
    engine.camera = 'tail';
    await begin();
    await says('running');
    expect(engine.cameras).to.deep.equal([]);
    await dies();
    engine.camera = 'main';
    await engine.server.start();
    await engine.until(() => engine.cameras.length === 1);
    expect(engine.cameras).to.deep.equal(['tail']);
  });

  it('a lease that begins while the call of a lapse fails is applied, though the encoder may have followed the lapse', async () => {
    await begin();
    await service.moveBase('thumbnail');
    await service.hold('a', 'hero', 30);
    engine.answer = async () => Promise.reject(new ApiError('E_TIMEOUT'));
    await service.release('a').catch(() => undefined);
    engine.answer = async (profile) => Promise.resolve(profile);
    engine.asked.length = 0;
    expect(await service.hold('b', 'hero', 30)).to.include({ profile: 'hero', width: 1280 });
    expect(engine.asked).to.include(1280);
  });

  it('calls at the same time end with the profile of the last, and each answer is what is in use', async () => {
    await begin();
    await service.moveBase('thumbnail');
    const gate = Promise.withResolvers<void>();
    engine.answer = async (profile) => gate.promise.then(() => profile);
    const held = service.hold('a', 'hero', 30);
    const released = service.release('a');
    gate.resolve();
    for (const answer of await Promise.all([held, released]))
      expect(answer).to.include({ profile: 'thumbnail', width: 320 });
    expect(engine.asked.at(-1)).to.equal(320);
  });

  it('a step of the wall clock neither ends nor extends a lease, and expires_at follows it', async () => {
    await begin();
    await service.moveBase('thumbnail');
    const first = await service.hold('a', 'hero', 30);
    expect(first.leases[0]?.expires_at).to.equal('2026-01-01T00:00:30.000Z');
    clock.wall += 365 * 86_400_000;
    clock.now += 10_000;
    const { profile, leases } = await service.profile();
    expect([profile, leases[0]?.expires_at]).to.deep.equal(['hero', '2027-01-01T00:00:20.000Z']);
    clock.wall = 0;
    clock.now += 20_000;
    expect(await service.profile()).to.deep.include({ profile: 'thumbnail', leases: [] });
  });

  it('a lease lapses by itself, though nobody asks; the one that ends first comes first, and a longer one keeps the picture', async () => {
    await begin();
    await service.moveBase('thumbnail');
    await service.hold('long', 'hero', 30);
    await service.hold('short', 'hero', 5);
    engine.asked.length = 0;
    // The timer is set anew with each question, for what is left then.
    const passes = async (ms: number): Promise<void> => {
      clock.now += ms - 20;
      await service.profile();
      clock.now += 20;
    };
    await passes(5000);
    await passes(25_000);
    await engine.until(() => engine.asked.length > 0);
    expect(engine.asked).to.deep.equal([320]);
    expect(await service.profile()).to.deep.include({ profile: 'thumbnail', leases: [] });
  });

  it('after stop no lease lapses any more, and none keeps the process', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await begin();
    await service.moveBase('thumbnail');
    const before = timers();
    await service.hold('a', 'hero', 5);
    expect(timers()).to.equal(before + 1);
    await service.hold('b', 'hero', 30);
    expect(timers(), 'one timer for all of them').to.equal(before + 1);
    service.stop();
    expect(timers()).to.equal(before);
  });

  for (const encoder of ['libx264', null]) {
    const camera = encoder === null ? 'that sends H.264' : 'of raw pictures';
    it(`a recording goes on after a camera ${camera} that first says starting, and stop names every part`, async () => {
      engine.encoder = encoder;
      client.start();
      await status((now) => now?.state === 'running');
      await service.startRecording('flight');
      await dies();
      sizes.set('2026_flight_1.mp4', 77);
      engine.state = 'starting';
      await engine.server.start();
      await status((now) => now?.state === 'starting');
      // It gives one picture and is gone again before the call comes.
      engine.refusal = new ApiError('E_NO_PIPELINE');
      await says('running');
      await engine.until(() => engine.starts.length === 2);
      await says('lost');
      engine.refusal = null;
      while (engine.starts.length < 3) await says('running');
      await status((now) => now !== null && now.recording !== null);
      expect(engine.starts).to.deep.equal(['flight', 'flight', 'flight']);
      expect(await service.stopRecording()).to.deep.equal({
        name: '2026_flight_2.mp4',
        files: ['2026_flight_1.mp4', '2026_flight_2.mp4'],
        started_at: '2026-01-01T00:00:01.000Z',
        stopped_at: '2026-01-01T00:01:00.000Z',
        duration_seconds: 4,
        size_bytes: 87,
      });
      await says('running');
      await says('running');
      expect(engine.starts).to.have.length(3);
    });
  }

  it('a disk that is full ends it: no further try', async () => {
    client.start();
    await status((now) => now?.state === 'running');
    await service.startRecording(null);
    await dies();
    engine.refusal = new ApiError('E_DISK_FULL');
    await engine.server.start();
    await engine.until(() => engine.starts.length === 2);
    for (let told = 0; told < 3; told++) await says('running');
    expect(engine.starts).to.have.length(2);
  });

  it('a restart of this process does not forget that a recording runs', async () => {
    engine.recording = {
      name: '20260101T000000.000Z_flight.mp4',
      files: [],
      started_at: '2026-01-01T00:00:00.000Z',
      duration_seconds: 0,
      size_bytes: 0,
    };
    client.start();
    await status((now) => now?.state === 'running');
    await dies();
    await engine.server.start();
    await engine.until(() => engine.starts.length === 1);
    expect(engine.starts).to.deep.equal(['flight']);
  });
});
