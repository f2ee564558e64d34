import { expect } from 'chai';
import { overlap } from '../../residual/vision/overlap.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { type DetectorStatus, VISION } from '../../shared/rpc/vision.ts';
import type { Batch } from '../../shared/schemas/vision.ts';
import { markerBox } from '../../shared/video/test-marker.ts';
import type { TestNode } from '../support/node.ts';
import { startVideoNode, TEST_CAMERA } from '../support/video-node.ts';

const PICTURES = 30;
const RATE_HZ = 10;

describe('the built-in detector on the test camera', function () {
  this.timeout(60_000);
  let node: TestNode;
  const batches: Batch[] = [];
  const states: DetectorStatus[] = [];
  let wake: () => void = () => undefined;
  const client = (): ReturnType<typeof clientOf<typeof VISION>> =>
    clientOf(VISION, {
      path: node.paths.visionSocket,
      listeners: {
        batch: (batch) => {
          batches.push(batch);
          wake();
        },
        status: (status) => {
          states.push(status);
          wake();
        },
      },
    });
  let vision: ReturnType<typeof client>;
  const until = async (done: () => boolean): Promise<void> => {
    while (!done())
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };

  before(async () => {
    node = await startVideoNode({
      config: `${TEST_CAMERA}vision:\n  detector: marker\n  rate_hz: ${RATE_HZ}\n`,
    });
    vision = client();
    vision.start();
    await until(() => batches.length >= PICTURES);
  });
  after(async () => {
    vision.stop();
    await node.stop();
  });

  it('finds exactly one marker, where it really was when the picture was taken, with one number', () => {
    const found = batches.map(({ detections }) => detections.length);
    expect(found.filter((count) => count === 1).length, found.join()).to.be.at.least(PICTURES - 1);
    const shares = batches.flatMap(({ detections, ts_ms, frame_width, frame_height }) =>
      detections.map(({ bbox }) => overlap(bbox, markerBox(ts_ms, frame_width, frame_height))),
    );
    expect(shares.filter((share) => share > 0.6).length, shares.join()).to.be.at.least(PICTURES - 2);
    const ids = new Set(batches.flatMap(({ detections }) => detections.map(({ track_id }) => track_id)));
    // A machine that stands still for seconds may lose it once.
    expect(ids.size).to.be.within(1, 2);
    const [first] = batches;
    expect(first).to.include({ v: 1, source: 'svc-vision', model_id: 'marker', camera_id: 'main' });
    expect(first?.detections[0]).to.include({ class_label: 'marker', confidence: 1, lock_state: null });
  });

  it('says what it measured', async () => {
    await until(() => states.at(-1)?.fps !== null && states.at(-1)?.state === 'running');
    const status = await vision.calls.status({});
    expect(status).to.include({ state: 'running', model_id: 'marker', last_error: null, designated: null });
    expect(status.rate_hz).to.be.within(0.2, RATE_HZ);
    expect(status.fps).to.be.within(0.1, RATE_HZ * 1.5);
    expect(status.threads).to.be.within(1, 2);
    expect(status.frames).to.be.at.least(PICTURES);
  });

  it('follows what a client points at, and lets go', async () => {
    const [detection] = batches.at(-1)?.detections ?? [];
    const target = await vision.calls.designate({
      bbox: detection?.bbox ?? { x: 0, y: 0, width: 1, height: 1 },
    });
    expect(target).to.deep.equal({ track_id: detection?.track_id, lock_state: 'locked' });
    await until(() => batches.at(-1)?.detections[0]?.lock_state === 'locked');
    await until(() => states.at(-1)?.designated?.lock_state === 'locked');
    const refused = await vision.calls.designate({ track_id: 77 }).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'E_NOT_FOUND' });
    await vision.calls.release({});
    expect((await vision.calls.status({})).designated).to.equal(null);
  });
});
