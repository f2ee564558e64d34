import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { planChildren } from '../../bin/supervisor/plan.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { pathsFrom } from '../../shared/paths.ts';

/** For svc-supervisor, which is no child of its own. */
const SUPERVISOR_MIB = 32;
/** What Linux leaves of a Raspberry Pi Zero 2 W's 512 MB. */
const ZERO_2_W_MIB = 416;

function plan(memoryMiB: number, config: string, enrolled = false) {
  return planChildren({
    config: parseConfig(config, 'test'),
    paths: pathsFrom({}),
    root: join(import.meta.dirname, '../..'),
    extension: '.ts',
    env: {},
    withResidual: true,
    enrolled,
    withHelper: false,
    drainMs: 0,
    simPort: 1,
    cameraPort: 2,
    ceilings: {},
    memoryMiB,
  }).filter(({ wanted }) => wanted);
}

const total = (children: ReturnType<typeof plan>): number =>
  children.reduce((sum, { memoryMiB }) => sum + memoryMiB, SUPERVISOR_MIB);

describe('the memory ceilings of the processes', () => {
  it('of a drone with a camera fit together into a Raspberry Pi Zero 2 W', () => {
    expect(total(plan(ZERO_2_W_MIB, 'video:\n  source: libcamera\n'))).to.be.at.most(ZERO_2_W_MIB);
  });

  it('fit into any machine that has the least for each, and grow with it up to what they were made for', () => {
    const configs = [
      'video:\n  source: none\n',
      'video:\n  source: libcamera\n',
      'mavlink:\n  source: sim\n',
    ];
    fc.assert(
      fc.property(
        fc.integer({ min: 560, max: 16_384 }),
        fc.constantFrom(...configs),
        fc.boolean(),
        (mib, config, enrolled) => {
          const smaller = plan(mib, config, enrolled);
          const larger = plan(mib + 64, config, enrolled);
          expect(total(smaller)).to.be.at.most(mib);
          for (const [index, { name, memoryMiB }] of smaller.entries())
            expect(larger[index]?.memoryMiB, name).to.be.at.least(memoryMiB);
        },
      ),
    );
    expect(plan(16_384, '').find(({ name }) => name === 'svc-link')?.memoryMiB).to.equal(384);
  });

  it('the kernel takes the detector and the picture first, and the link last', () => {
    const scores = new Map(
      plan(4096, 'video:\n  source: libcamera\nvision:\n  detector: marker\n', true).map(({ name, oom }) => [
        name,
        oom ?? 0,
      ]),
    );
    const order = [...scores].toSorted(([, a], [, b]) => a - b).map(([name]) => name);
    expect(order[0]).to.equal('svc-link');
    expect(order.slice(-2)).to.deep.equal(['svc-video', 'svc-vision']);
  });
});
