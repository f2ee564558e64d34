import { expect } from 'chai';
import { DetectionFeed } from '../../residual/app/vision/detection-feed.ts';
import { SeenEvents, type SeenObject } from '../../residual/app/vision/seen.ts';
import { VisionLease } from '../../residual/app/vision/vision-lease.ts';
import type { Batch } from '../../shared/schemas/vision.ts';
import { batchOf, detectionOf, STATUS } from '../support/stub-vision.ts';

describe('the feed of detections', () => {
  let now = 0;
  const feed = new DetectionFeed(() => now);

  it('tells the newest batch for two seconds', () => {
    expect(feed.latest()).to.equal(null);
    feed.publish(batchOf(1));
    feed.publish(batchOf(2));
    expect(feed.latest()?.frame_id).to.equal(2);
    now = 2000;
    expect(feed.latest()?.frame_id).to.equal(2);
    now = 2001;
    expect(feed.latest()).to.equal(null);
  });

  it('a listener that fails keeps nothing from the others, and one that has left hears nothing', () => {
    const heard: number[] = [];
    const leave = feed.subscribe(() => {
      throw new Error('mine');
    });
    const stop = feed.subscribe(({ frame_id }: Batch) => heard.push(frame_id));
    feed.publish(batchOf(3));
    stop();
    leave();
    feed.publish(batchOf(4));
    expect(heard).to.deep.equal([3]);
  });
});

describe('what comes into view', () => {
  let now: number;
  let told: SeenObject[];
  let seen: SeenEvents;
  beforeEach(() => {
    now = 0;
    told = [];
    seen = new SeenEvents(
      () => now,
      (what) => told.push(what),
    );
  });
  const labels = (): readonly string[] => told.map(({ class_label }) => class_label);
  const at = (ms: number, ...names: string[]): void => {
    now = ms;
    seen.heard(batchOf(ms, ...names.map((name) => detectionOf(name))));
  };

  it('is told once while it stays, and again when it was gone for ten seconds', () => {
    at(0, 'boat');
    for (let ms = 200; ms <= 20_000; ms += 200) at(ms, 'boat');
    expect(told).to.deep.equal([{ class_label: 'boat', confidence: 0.9, track_id: 1, source: 'svc-vision' }]);
    at(29_000, 'boat');
    expect(told).to.have.length(1);
    at(39_001, 'boat');
    expect(told).to.have.length(2);
  });

  it('is told once a second at most, later if it is still there', () => {
    at(0, 'boat', 'car', 'dog');
    expect(labels()).to.deep.equal(['boat']);
    at(500, 'car', 'dog');
    expect(labels()).to.deep.equal(['boat']);
    at(1000, 'car');
    at(2000, 'boat');
    expect(labels()).to.deep.equal(['boat', 'car']);
  });

  it('is not told for the place where a lost target is thought to be', () => {
    seen.heard(batchOf(1, detectionOf('boat', { lock_state: 'uncertain' })));
    expect(told).to.deep.equal([]);
  });

  it('an extension that invents names takes no more memory with each', () => {
    for (let ms = 0; ms < 1000; ms++) at(ms * 1000, `thing ${ms}`);
    expect(told).to.have.length(1000);
  });
});

describe('the lease of vision', () => {
  it('is held while something is followed, and let go when it is lost, released, or the detector is gone', () => {
    const calls: string[] = [];
    const lease = new VisionLease(
      {
        hold: async (seconds) => Promise.resolve(calls.push(`hold ${seconds}`)),
        release: async () => Promise.resolve(calls.push('release')),
      },
      (sentence) => calls.push(sentence),
    );
    const follow = (lock: 'locked' | 'uncertain' | 'lost'): void =>
      lease.heard({ ...STATUS, designated: { track_id: 1, lock_state: lock } });
    lease.heard(STATUS);
    lease.heard(null);
    expect(calls).to.deep.equal([]);
    follow('locked');
    follow('uncertain');
    follow('lost');
    lease.heard(STATUS);
    follow('locked');
    lease.heard(null);
    expect(calls).to.deep.equal(['hold 5', 'hold 5', 'release', 'hold 5', 'release']);
  });

  it('a pipeline that is away is told of once', async () => {
    const told: string[] = [];
    const away = async (): Promise<never> => Promise.reject(new Error('no pipeline'));
    const lease = new VisionLease({ hold: away, release: away }, (sentence) => told.push(sentence));
    for (let i = 0; i < 3; i++) lease.heard({ ...STATUS, designated: { track_id: 1, lock_state: 'locked' } });
    await new Promise(setImmediate);
    expect(told).to.deep.equal(['vision lease: no pipeline']);
  });
});
