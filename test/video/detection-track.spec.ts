import { expect } from 'chai';
import { DetectionTrack } from '../../residual/web/src/video/detection-track.ts';
import type { Batch } from '../../shared/schemas/vision.ts';

const batch = (ts: number, source = 'svc-vision', latency: number | null = 100): Batch => ({
  v: 1,
  source,
  model_id: null,
  camera_id: 'main',
  frame_id: ts,
  ts_ms: ts,
  frame_width: 640,
  frame_height: 360,
  latency_ms: latency,
  detections: [],
});

describe('detections on the picture that they belong to', () => {
  // The page's clock is an hour ahead of the node's.
  const AHEAD = 3_600_000;
  const at = (track: DetectionTrack, takenAt: number | null, now: number): readonly number[] =>
    track.at(takenAt, now).map(({ ts_ms: ts }) => ts);

  it('are those of the time at which it was taken, whatever the clocks say', () => {
    const track = new DetectionTrack();
    for (const ts of [10_000, 10_200, 10_400, 10_600]) track.add(batch(ts), AHEAD + ts + 100);
    expect(at(track, AHEAD + 10_190, AHEAD + 10_700)).to.deep.equal([10_200]);
    expect(at(track, AHEAD + 10_330, AHEAD + 10_700)).to.deep.equal([10_400]);
    expect(at(track, AHEAD + 9900, AHEAD + 10_700)).to.deep.equal([10_000]);
  });

  it('are the newest where the time of the picture is not known', () => {
    const track = new DetectionTrack();
    for (const ts of [10_000, 10_200]) track.add(batch(ts), AHEAD + ts + 100);
    expect(at(track, null, AHEAD + 10_350)).to.deep.equal([10_200]);
  });

  it('are none if they are more than a second from the picture', () => {
    const track = new DetectionTrack();
    expect(at(track, null, AHEAD)).to.deep.equal([]);
    for (const ts of [9900, 10_000]) track.add(batch(ts), AHEAD + ts + 100);
    expect(at(track, null, AHEAD + 11_050)).to.deep.equal([]);
    expect(at(track, AHEAD + 11_050, AHEAD + 11_100)).to.deep.equal([]);
    expect(at(track, AHEAD + 8800, AHEAD + 10_100)).to.deep.equal([]);
  });

  it('one that waited at the node until somebody asked is not taken for one of now', () => {
    const track = new DetectionTrack();
    track.add(batch(10_000), AHEAD + 11_900);
    expect(at(track, null, AHEAD + 11_900)).to.deep.equal([]);
    track.add(batch(11_850), AHEAD + 11_950);
    expect(at(track, null, AHEAD + 11_950)).to.deep.equal([11_850]);
  });

  it('one that comes late does not move the clock, and each source has its own', () => {
    const track = new DetectionTrack();
    track.add(batch(10_000), AHEAD + 10_100);
    track.add(batch(10_200), AHEAD + 11_300);
    track.add(batch(10_210, 'org.example.seer', null), AHEAD + 11_300);
    expect(at(track, AHEAD + 10_180, AHEAD + 11_300)).to.deep.equal([10_200, 10_210]);
  });
});
