import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { formWith, IDLE, makeExtension } from '../support/extensions.ts';
import { PluginNode } from '../support/plugin-node.ts';

/** When svc-residual is killed after the upload began, as a part of how long an update takes; more kills would cost pauses. */
const MOMENTS = [0.2, 0.6, 0.9] as const;
const FILES = 60;

describe('svc-residual killed in the middle of an update of an extension', function () {
  this.timeout(120_000);
  const id = 'org.example.updated';

  it('leaves the old or the new version, whole, and nothing else', async () => {
    const plugins = await PluginNode.start();
    try {
      // Many files, so that it takes a while to write them.
      const files = {
        'agent/main.mjs': IDLE,
        ...Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`agent/data/${i}.txt`, `${i}`])),
      };
      const first = performance.now();
      await plugins.run({ id, version: '1.0.0', files });
      const whole = performance.now() - first;
      let version = 0;
      for (const part of MOMENTS) {
        version++;
        const next = `1.0.${version}`;
        const before = await plugins.record(id);
        const archive = await makeExtension({ id, version: next, files, signer: plugins.signer });
        const form = await formWith(archive);
        const answer = plugins.call('POST', '/api/plugins/install', form).then(
          ({ status }) => status,
          () => null, // the connection was cut
        );
        await delay(part * whole); // at any moment, not at an event: that is the test
        await plugins.node.killAndAwaitSuccessor('svc-residual');
        const status = await answer;
        const after = await plugins.record(id);
        expect(after.version, `at ${part}`).to.be.oneOf([before.version, next]);
        if (status === 200) expect(after.version).to.equal(next);
        // Whole: its integrity is checked at the start.
        await plugins.done('POST', `/api/plugins/${id}/enable`, {});
        await plugins.until(
          'what is left over is removed',
          async () => [
            ...(await readdir(join(plugins.node.paths.plugins, id))),
            ...(await readdir(plugins.node.paths.plugins)).filter((name) => name !== id),
          ],
          (names) => names.join() === String(after.installed_at),
        );
      }
    } finally {
      await plugins.node.stop();
    }
  });
});
