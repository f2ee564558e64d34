import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Lifecycle, type LifecycleOptions } from '../../residual/app/plugins/lifecycle.ts';
import { PluginStore } from '../../residual/app/plugins/store.ts';
import { PluginRefusal } from '../../shared/plugins/refusal.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const MIB = 1024 * 1024;

/** Bytes that are in use once what nobody needs was collected. */
function used(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('the steps of extensions', () => {
  it('keep nothing for ids that nobody knows, however often they are asked for', async function () {
    this.timeout(60_000);
    const folder = await tempDir();
    try {
      // Whatever else it has comes after the look into the store.
      const options = { store: new PluginStore(join(folder, 'plugins.json')) } as unknown as LifecycleOptions;
      const lifecycle = new Lifecycle(options);
      const refused = async (n: number): Promise<unknown> =>
        lifecycle.enable(`org.example.x${n}`).catch((error: unknown) => error);
      expect(await refused(0)).to.be.instanceOf(PluginRefusal);
      const before = used();
      for (let n = 0; n < 50_000; n++) await refused(n);
      expect(used() - before).to.be.below(3 * MIB); // it was 9
      expect(await lifecycle.enable('org.example.x1').catch((error: unknown) => error)).to.be.instanceOf(
        PluginRefusal,
      );
    } finally {
      await removeDir(folder);
    }
  });
});
