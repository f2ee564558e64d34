import { copyFile, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Mp4File } from '../../residual/video/recorder/mp4-file.ts';
import { cutTornBox, mendNewest } from '../../residual/video/recorder/torn-file.ts';
import { TestSource } from '../../residual/video/sources/test-source.ts';
import { av } from '../../shared/media/av.ts';
import { H264Encoder } from '../../shared/media/encoder.ts';
import { parameterSets } from '../../shared/media/h264.ts';
import { boxesOf, decodeFile } from '../support/pictures.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const SIZE = { width: 160, height: 90, fps: 30, bitrate_kbps: 100 };
const PICTURES = 40;
const GOP = 10;

/** Records pictures of the test source, a key frame every 10, as the recorder does. */
async function record(path: string): Promise<void> {
  const stopped = new AbortController();
  const encoder = await H264Encoder.open('libx264', SIZE, { gop: GOP, bufferMs: 500 });
  let file: Mp4File | null = null;
  let busy = Promise.resolve();
  let at = 0;
  const run = new TestSource(
    { wall: () => Date.now(), micros: () => Number(process.hrtime.bigint() / 1000n) },
    SIZE,
  );
  await run.run(
    {
      wants: () => true,
      keysOnly: false,
      onUnit: () => undefined,
      onPicture: ({ frame }) => {
        const own = frame.clone();
        if (own === null || stopped.signal.aborted) return;
        const number = at++;
        if (number + 1 === PICTURES) stopped.abort();
        busy = busy.then(async () => {
          for (const unit of await encoder.encode(own, { capturedAt: 0, at: number * 33_333 }, false)) {
            const sets = file === null ? parameterSets(unit.data) : null;
            if (sets !== null) file = await Mp4File.create(path, 'h264', sets, SIZE);
            await file?.write(unit);
          }
          own.free();
        });
      },
    },
    stopped.signal,
  );
  await busy;
  await (file as Mp4File | null)?.close();
}

describe('a recording that was cut off', function () {
  this.timeout(60_000);
  let folder: string;
  let whole: string;
  before(async () => {
    av(); // quiet
    folder = await tempDir();
    whole = join(folder, '20260101T000000.000Z.mp4');
    await record(whole);
  });
  after(async () => removeDir(folder));

  it('plays up to there, wherever the cut is', async () => {
    const bytes = await readFile(whole);
    const boxes = boxesOf(bytes);
    const moofs = boxes.filter(({ type }) => type === 'moof');
    expect(moofs.length).to.equal(PICTURES / GOP);
    const head = moofs[0]?.at ?? 0;
    const cuts = boxes.flatMap(({ at, end }) => [
      at,
      at + 4,
      at + 7,
      at + 8,
      at + 60,
      (at + end) >> 1,
      end - 1,
    ]);
    for (const cut of new Set(cuts.filter((offset) => offset >= head))) {
      const path = join(folder, '20250101T000000.000Z.mp4');
      await writeFile(path, bytes.subarray(0, cut));
      const file = await open(path, 'r+');
      const left = await cutTornBox(file);
      await file.close();
      expect([left, (await stat(path)).size]).to.deep.equal([left, left]);
      const enough = GOP * boxes.filter(({ type, end }) => type === 'mdat' && end <= cut).length;
      const { pictures } = await decodeFile(path);
      // One of the last fragment may be lost to the decoder, which waits for what comes after it.
      expect(pictures.length, `cut at ${cut}`).to.be.within(Math.max(0, enough - 1), PICTURES);
    }
  });

  it('is mended when the engine starts: the newest, the others are left alone; one without a head is deleted', async () => {
    const newest = join(folder, '20260102T000000.000Z.mp4');
    await copyFile(whole, newest);
    const bytes = await readFile(whole);
    const lastMoof = bytes.lastIndexOf('moof') - 4;
    await truncate(newest, lastMoof + 40);
    const problems: string[] = [];
    await mendNewest(folder, (sentence) => problems.push(sentence));
    expect((await stat(newest)).size).to.equal(lastMoof);
    const empty = join(folder, '20260103T000000.000Z.mp4');
    await writeFile(empty, '');
    await mendNewest(folder, (sentence) => problems.push(sentence));
    expect(await readdir(folder)).not.to.include('20260103T000000.000Z.mp4');
    await mendNewest(join(folder, 'none'), (sentence) => problems.push(sentence));
    expect([(await stat(whole)).size, problems]).to.deep.equal([bytes.length, []]);
  });
});
