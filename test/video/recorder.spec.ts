import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { Recorder } from '../../residual/video/recorder/recorder.ts';
import { av } from '../../shared/media/av.ts';
import { keyFrameOfTestPicture } from '../support/pictures.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('the recorder', () => {
  let directory: string;
  let keys: number;
  const recorderWith = (reserveBytes: number): Recorder =>
    new Recorder({
      directory,
      reserveBytes,
      clock: { wall: () => Date.UTC(2026, 0, 1), micros: () => 0 },
      log: silentLog,
      requestKey: () => {
        keys++;
      },
    });
  beforeEach(async () => {
    directory = await tempDir();
    keys = 0;
  });
  afterEach(async () => removeDir(directory));

  it('that is stopped while it looks at the disk says so, and asks for no key frame', async () => {
    const recorder = recorderWith(0);
    const starting = recorder.start(null).catch((error: unknown) => error);
    expect((await recorder.stop()).files).to.deep.equal([]);
    expect(await starting).to.include({ code: 'E_RECORDING_NOT_ACTIVE' });
    expect([recorder.status(), keys]).to.deep.equal([null, 0]);
    expect((await recorder.start(null)).files).to.deep.equal([]);
    expect(keys).to.equal(1);
    await recorder.stop();
  });

  it('makes no file before it knows that there is room', async () => {
    av(); // quiet
    const data = await keyFrameOfTestPicture({ width: 160, height: 90, fps: 30, bitrate_kbps: 100 });
    const recorder = recorderWith(Number.MAX_SAFE_INTEGER);
    for (let turn = 0; turn < 20; turn++) {
      const starting = recorder.start(null).catch((error: unknown) => error);
      for (let number = 0; number < 50; number++) {
        recorder.push({ codec: 'h264', data, key: true, capturedAt: 0, at: number * 33_333 });
        await setImmediate();
      }
      expect(await starting).to.include({ code: 'E_DISK_FULL' });
    }
    expect(await readdir(directory)).to.deep.equal([]);
  });
});
