import { expect } from 'chai';
import { batchOf } from '../../shared/plugins/detections.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { batch } from '../../shared/schemas/vision.ts';
import { withSdk } from '../support/extensions.ts';
import { describeWith } from '../support/needs.ts';
import { PluginNode } from '../support/plugin-node.ts';

const SEER = 'org.example.seer';
const HEARER = 'org.example.hearer';
const agent = (permission: string): readonly string[] => [
  'entrypoint: agent/main.mjs',
  'runtime: node',
  `permissions: [{id: ${permission}, required: false}]`,
];

/** Publishes one batch after another, and the error of the last wrong one. */
const SEER_CODE = `
const batch = {
  ts_ms: 0, frame_width: 640, frame_height: 360, source: 'svc-vision',
  detections: [{
    bbox: { x: 1, y: 2, width: 3, height: 4 }, class_label: 'red\\u001b[31m', confidence: 0.5, track_id: 7, lock_state: 'locked',
  }],
};
const refused = async (what) =>
  svc.publishDetections({ ...batch, ts_ms: Date.now(), ...what }).then(() => 'taken', (error) => error.message);
await svc.detections((heard) => svc.publishState('own', heard.source)).catch(() => undefined);
const errors = [
  await refused({ ts_ms: 1 }),
  await refused({ frame_width: 0 }),
  await refused({ detections: Array(101).fill(batch.detections[0]) }),
  await refused({ detections: [{ ...batch.detections[0], class_label: 'x'.repeat(65) }] }),
];
const many = await Promise.all(Array.from({ length: 60 }, () => refused({})));
await svc.publishState('errors', errors);
await svc.publishState('many', many.filter((text) => text !== 'taken'));
let count = 0;
setInterval(async () => { await refused({}); await svc.publishState('count', ++count); }, 200);`;

const HEARER_CODE = `
let heard = null;
await svc.detections((batch) => { heard = batch; return svc.publishState('heard', heard); }).catch((error) => { heard = error.message; });
setInterval(() => svc.publishState('heard', heard), 100);`;

describeWith('bwrap')('detections of extensions', function () {
  this.timeout(60_000);
  let plugins: PluginNode;
  before(async () => {
    plugins = await PluginNode.start();
  });
  after(async () => plugins.node.stop());

  /** What it shows; undefined: not yet, or the node was asked too often. */
  const shown = async (id: string, name: string): Promise<unknown> => {
    const { body } = await plugins.call('GET', `/api/plugins/${id}/state`);
    return (body as Record<string, { payload?: unknown }>)[`plugin.${id}.${name}`]?.payload;
  };

  const untilShown = async (
    id: string,
    name: string,
    wanted = (value: unknown): boolean => value !== undefined,
  ): Promise<unknown> => plugins.until(`${id} shows ${name}`, async () => shown(id, name), wanted);

  it('one publishes, another hears it in its name; without the grant neither does', async () => {
    await plugins.run({
      id: HEARER,
      agent: agent('vision.detection.subscribe'),
      files: await withSdk(HEARER_CODE),
    });
    await untilShown(HEARER, 'heard', (heard) => heard === 'capability_denied: vision.detection.subscribe');
    await plugins.done('DELETE', `/api/plugins/${HEARER}`);
    await plugins.run({
      id: HEARER,
      agent: agent('vision.detection.subscribe'),
      grants: ['vision.detection.subscribe'],
      files: await withSdk(HEARER_CODE),
    });
    await plugins.run({
      id: SEER,
      agent: [
        'entrypoint: agent/main.mjs',
        'runtime: node',
        'permissions: [vision.detection.publish, vision.detection.subscribe]',
      ],
      grants: ['vision.detection.publish', 'vision.detection.subscribe'],
      files: await withSdk(SEER_CODE),
    });
    const heard = (await untilShown(
      HEARER,
      'heard',
      (value) => typeof value === 'object' && value !== null,
    )) as Record<string, unknown>;
    expect(compileValidator(createAjv(), batch)(heard)).to.equal(null);
    expect(heard).to.deep.include({ source: SEER, frame_width: 640, frame_height: 360, camera_id: 'main' });
    expect(heard['detections']).to.deep.equal([
      {
        bbox: { x: 1, y: 2, width: 3, height: 4 },
        class_label: 'red [31m',
        confidence: 0.5,
        track_id: 7,
        lock_state: null,
      },
    ]);
    expect(await shown(SEER, 'own'), 'it does not hear itself').to.equal(undefined);
  });

  it('what is wrong is refused with a sentence, and more than 30 a second too', async () => {
    const errors = (await untilShown(SEER, 'errors')) as readonly string[];
    expect(errors[0]).to.include('ts_ms');
    expect(errors[1]).to.include('frame_width');
    expect(errors[2]).to.include('detections');
    expect(errors[3]).to.include('detections[0].class_label');
    const many = (await untilShown(SEER, 'many')) as readonly string[];
    expect(many.length).to.be.above(0);
    expect(new Set(many)).to.deep.equal(new Set(['at most 30 batches a second']));
  });

  it('a revoked grant ends it at the next batch', async () => {
    await plugins.done('DELETE', `/api/plugins/${HEARER}/perms/vision.detection.subscribe`);
    const counted = async (more: number): Promise<void> => {
      const from = Number(await untilShown(SEER, 'count'));
      await untilShown(SEER, 'count', (count) => Number(count) >= from + more);
    };
    await counted(2);
    const last = await untilShown(HEARER, 'heard');
    await counted(4);
    expect(await untilShown(HEARER, 'heard')).to.deep.equal(last);
  });

  it('a batch that was heard can be given back, in one’s own name', () => {
    const heard = batchOf('a.b', { ts_ms: 1, frame_width: 1, frame_height: 1, detections: [] });
    expect(batchOf('c.d', heard)).to.deep.equal({ ...heard, source: 'c.d' });
  });
});
