import { expect } from 'chai';
import { Recorder } from '../../residual/video/recorder/recorder.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('the recorder', () => {
  it('that is stopped while it looks at the disk says so, and asks for no key frame', async () => {
    const directory = await tempDir();
    let keys = 0;
    const recorder = new Recorder({
      directory,
      reserveBytes: 0,
      clock: { wall: () => Date.UTC(2026, 0, 1), micros: () => 0 },
      log: silentLog,
      requestKey: () => {
        keys++;
      },
    });
    try {
      const starting = recorder.start(null).catch((error: unknown) => error);
      expect((await recorder.stop()).files).to.deep.equal([]);
      expect(await starting).to.include({ code: 'E_RECORDING_NOT_ACTIVE' });
      expect([recorder.status(), keys]).to.deep.equal([null, 0]);
      expect((await recorder.start(null)).files).to.deep.equal([]);
      expect(keys).to.equal(1);
      await recorder.stop();
    } finally {
      await removeDir(directory);
    }
  });
});
