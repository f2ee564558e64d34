import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { LiveStreams } from '../../residual/video/live/live-streams.ts';
import { av } from '../../shared/media/av.ts';
import type { AccessUnit } from '../../shared/media/picture.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { keyFrameOfTestPicture } from '../support/pictures.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const SIZE = { width: 160, height: 90, fps: 30, bitrate_kbps: 100 };
const STEP_US = 33_333;
const KEY_EVERY = 10;
/** Much larger than a picture, so that the buffers on the way are soon full. */
const FILLER = Buffer.concat([
  Buffer.from([0, 0, 0, 1, 12]),
  Buffer.alloc(100_000, 0xff),
  Buffer.from([0x80]),
]);

/** What a reader got: a line, and the times of the fragments, ms. */
interface Got {
  readonly codec: string;
  readonly times: readonly number[];
  readonly keys: readonly boolean[];
}

function parse(bytes: Buffer): Got {
  const line = bytes.indexOf('\n');
  const times: number[] = [];
  const keys: boolean[] = [];
  let at = line + 1;
  while (at + 8 <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    if (bytes.toString('latin1', at + 4, at + 8) === 'moof') {
      const tfdt = bytes.indexOf('tfdt', at);
      times.push(Math.round(Number(bytes.readBigUInt64BE(tfdt + 8)) / 1000));
      const flags = bytes.readUInt32BE(bytes.indexOf('trun', at) + 24);
      keys.push((flags & 0x1_00_00) === 0);
    }
    at += length;
  }
  return { codec: (JSON.parse(bytes.toString('utf8', 0, line)) as Got).codec, times, keys };
}

describe('live streams', () => {
  let folder: string;
  let key: Buffer;
  let streams: LiveStreams;
  let now = 0;
  let number = 0;
  before(async () => {
    av(); // quiet
    folder = await tempDir();
    key = await keyFrameOfTestPicture(SIZE);
  });
  beforeEach(async () => {
    now = 0;
    number = 0;
    streams = new LiveStreams({
      socketPath: join(folder, 'live.sock'),
      requestKey: () => undefined,
      clock: { wall: () => 1_700_000_000_000, micros: () => now },
      log: createLogger('test', 'error'),
    });
    await streams.start();
  });
  afterEach(async () => streams.stop());
  after(async () => removeDir(folder));

  const unit = (isKey: boolean, sets = key): AccessUnit => ({
    codec: 'h264',
    data: isKey ? Buffer.concat([sets, FILLER]) : FILLER,
    key: isKey,
    capturedAt: 1_700_000_000_000 + now / 1000,
    at: now,
  });
  /** The next picture; the sockets get their turn. */
  const push = async (sets = key): Promise<void> => {
    streams.push(unit(number++ % KEY_EVERY === 0, sets));
    now += STEP_US;
    await new Promise((resolve) => setImmediate(resolve));
  };
  const open = async (): Promise<Socket> => {
    const socket = connect(join(folder, 'live.sock'));
    await once(socket, 'connect');
    await new Promise((resolve) => setImmediate(resolve));
    return socket;
  };
  const collect = (socket: Socket): Buffer[] => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    return chunks;
  };
  /** Pushes until the stream has begun. */
  const begun = async (chunks: readonly Buffer[]): Promise<void> => {
    while (chunks.length === 0) await push();
  };

  it('a reader that is too slow goes on at a key frame, and others lose nothing', async () => {
    const [slow, quick] = [await open(), await open()];
    const quickly = collect(quick);
    await begun(quickly);
    for (let pushed = 0; pushed < 55; pushed++) await push();
    const slowly = collect(slow);
    for (let pushed = 0; pushed < 25; pushed++) {
      const arrived = once(quick, 'data');
      await push();
      await arrived;
    }
    streams.push(unit(true, Buffer.concat([key.subarray(0, 5), Buffer.from([0xff]), key.subarray(6)])));
    await Promise.all([once(slow, 'end'), once(quick, 'end')]);
    const all = parse(Buffer.concat(quickly));
    const some = parse(Buffer.concat(slowly));
    expect(all.codec).to.match(/^avc1\.[0-9a-f]{6}$/);
    expect(all.times[0]).to.equal(0);
    for (const [index, time] of all.times.entries()) expect(time).to.be.closeTo(index * 33.333, 1);
    expect(some.times.length).to.be.within(5, all.times.length - 10);
    const gap = some.times.findIndex((time, index) => time - (some.times[index - 1] ?? 0) > 50);
    expect(some.keys[gap]).to.equal(true);
    expect(all.times).to.include(some.times[gap] ?? -1);
  });

  it('a reader that takes nothing for ten seconds is cut off', async () => {
    const stuck = await open();
    const quick = await open();
    const quickly = collect(quick);
    await begun(quickly);
    const closed = once(
      stuck.on('error', () => undefined),
      'close',
    );
    // Its buffers are full by then.
    for (let pushed = 0; pushed < 330; pushed++) await push();
    stuck.resume(); // what the kernel holds, then the end
    await closed;
    expect(quick.destroyed).to.equal(false);
    quick.destroy();
  });
});
