import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { ChannelChange, type ChannelRequest } from '../../front/control/radio/channel-change.ts';
import { ApiError } from '../../shared/errors.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { boundPair } from '../support/radios.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const [OLD, NEW] = [36, 149];
// A slow disk or a busy core must not look like a silent air.
const REVERT_MS = 400;
const MARGIN_MS = 200;
const log = createLogger('test', 'silent');

/** One end: a card with its channel, the files of its process, and the process, which can be killed and started again. */
class End {
  channel = OLD;
  kept = OLD;
  refuses: number | null = null;
  readonly file: string;
  readonly #listeners = new Set<(slot: number) => void>();
  readonly #make: (end: End) => ChannelChange;
  change: ChannelChange;

  constructor(file: string, make: (end: End) => ChannelChange) {
    this.file = file;
    this.#make = make;
    this.change = make(this);
  }

  readonly radio = {
    channel: async () => this.channel,
    tune: async (channel: number) => {
      if (channel === this.refuses) throw new ApiError('E_RADIO_REFUSED', 'Channel is disabled (DFS)');
      this.channel = channel;
      return { frequency_mhz: 5000 + 5 * channel };
    },
    keepChannel: async (channel: number) => {
      this.kept = channel;
    },
    onHeard: (listener: (slot: number) => void) => {
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    },
  };

  hear(): void {
    for (const listener of this.#listeners) listener(0);
  }

  async restart(): Promise<void> {
    await this.change.stop();
    this.#listeners.clear();
    this.change = this.#make(this);
    await this.change.start();
  }
}

/** Two ends within reach of each other while they are on one channel; `quiet` says when the air carries nothing. */
class World {
  readonly drone: End;
  readonly ground: End;
  quiet: (phase: string) => boolean = () => false;
  readonly #timer: NodeJS.Timeout;

  constructor(dir: string) {
    const base = { revertMs: REVERT_MS, marginMs: MARGIN_MS, inMs: 20, log };
    const pair = boundPair();
    this.drone = new End(
      join(dir, 'drone.json'),
      ({ radio, file }) =>
        new ChannelChange({
          ...base,
          radio,
          file,
          radios: { list: () => [pair.atDrone] },
          relay: null,
          groundSilentMs: () => 0,
        }),
    );
    this.ground = new End(
      join(dir, 'ground.json'),
      ({ radio, file }) =>
        new ChannelChange({
          ...base,
          radio,
          file,
          radios: { list: () => [pair.atGround] },
          groundSilentMs: () => null,
          relay: {
            health: () => ({ silentMs: 0 }),
            call: async (_device, { body }) => {
              const request = body as ChannelRequest;
              if (!this.#reach() || this.quiet(request.phase ?? '')) throw new ApiError('E_TIMEOUT');
              const answer = await this.drone.change.request(request).then(
                (value) => ({ status: 200, body: value as unknown }),
                (error: ApiError) => ({ status: error.status, body: error.body() }),
              );
              if (this.quiet(`${request.phase ?? ''} answer`)) throw new ApiError('E_TIMEOUT');
              return answer;
            },
          },
        }),
    );
    this.#timer = setInterval(() => {
      if (!this.#reach()) return;
      this.drone.hear();
      this.ground.hear();
    }, 5);
  }

  #reach(): boolean {
    return this.drone.channel === this.ground.channel && !this.quiet('air');
  }

  async settled(): Promise<void> {
    const end = performance.now() + 20_000;
    while (performance.now() < end) {
      const open = existsSync(this.drone.file) || existsSync(this.ground.file);
      if (!open && this.drone.channel === this.ground.channel) return;
      await wait(5);
    }
    expect.fail(`drone on ${this.drone.channel}, ground station on ${this.ground.channel}`);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.drone.change.stop(), this.ground.change.stop()]);
  }
}

describe('a change of the channel', function () {
  this.timeout(60_000);
  let dir: string;
  let world: World;
  beforeEach(async () => {
    dir = await tempDir();
    world = new World(dir);
  });
  afterEach(async () => {
    await world.end();
    await removeDir(dir);
  });

  it('moves both ends, and is kept once it was proved', async () => {
    const answer = await world.ground.change.request({ channel: NEW });
    expect(answer).to.deep.equal({
      channel: NEW,
      frequency_mhz: 5745,
      proved: true,
      reverted: false,
      reason: null,
    });
    expect([world.drone.kept, world.ground.kept]).to.deep.equal([NEW, NEW]);
  });
  it('a channel that the air does not carry: both ends are back, and it is said', async () => {
    world.quiet = (what) => what === 'air' && world.ground.channel === NEW;
    const answer = await world.ground.change.request({ channel: NEW });
    expect(answer).to.include({ channel: OLD, proved: true, reverted: true });
    expect(answer.reason).to.match(/Nothing was heard on channel 149.*back on channel 36/);
    expect([world.drone.kept, world.ground.kept]).to.deep.equal([OLD, OLD]);
  });
  it('an end whose card refuses: both are back on the old one', async () => {
    for (const refusing of ['drone', 'ground'] as const) {
      world[refusing].refuses = NEW;
      const answer = await world.ground.change.request({ channel: NEW });
      expect(answer, refusing).to.include({ channel: OLD, reverted: true });
      await world.settled();
      world[refusing].refuses = null;
    }
  });
  it('a drone that is not prepared, or hears its ground station, does not move', async () => {
    const refused = async (request: ChannelRequest) =>
      world.drone.change.request(request).then(
        () => 'moved',
        (error: ApiError) => error.code,
      );
    expect(await refused({ channel: NEW, phase: 'commit', id: 'x', in_ms: 1 })).to.equal('E_RADIO_REFUSED');
    expect(await refused({ channel: NEW })).to.equal('E_RADIO_REFUSED');
    expect(world.drone.channel).to.equal(OLD);
  });
  it('whatever is lost and whichever end is killed when, both are on one channel in the end, old or new', async () => {
    const disturbance = fc.record({
      lost: fc.constantFrom('', 'prepare', 'prepare answer', 'commit', 'commit answer'),
      kill: fc.constantFrom('drone' as const, 'ground' as const, null),
      at: fc.integer({ min: 0, max: 900 }),
    });
    await fc.assert(
      fc.asyncProperty(disturbance, async ({ lost, kill, at }) => {
        const from = world.ground.channel;
        world.quiet = (what) => what === lost;
        const done = world.ground.change.request({ channel: from === OLD ? NEW : OLD }).catch(() => null);
        if (kill !== null) {
          await wait(at);
          await world[kill].restart();
        }
        await done;
        world.quiet = () => false;
        await world.settled();
        expect(world.drone.channel).to.be.oneOf([OLD, NEW]);
        expect([world.drone.kept, world.ground.kept]).to.deep.equal([
          world.drone.channel,
          world.ground.channel,
        ]);
        // What a drone has prepared and never committed is forgotten after a while; the next run is a new drone.
        await world.drone.restart();
      }),
      { numRuns: 15 },
    );
  });
});
