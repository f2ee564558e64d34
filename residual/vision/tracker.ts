import { overlap } from './overlap.ts';

/** A detection in pixels of the camera's picture. */
export interface DetectedBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly kind: number;
  readonly score: number;
}

interface Track {
  readonly id: number;
  readonly kind: number;
  /** Middle and size, pixels, where it is expected now; then how fast each changes, a second. */
  readonly place: [x: number, y: number, width: number, height: number];
  readonly speed: [number, number, number, number];
  /** When it was seen last, and where it was predicted for, seconds. */
  seen: number;
  at: number;
}

const MAX_TRACKS = 256;
/** How much of a surprise moves the place, and how much the speed (an alpha-beta filter). */
const ALPHA = 0.85;
const BETA = 0.4;
/** Boxes are compared with an edge of this part of their size: between two of five pictures a second a small thing leaves its box. */
const EDGE = 0.5;
const LEAST_OVERLAP = 0.15;

/**
 * Gives the same thing the same number from picture to picture, as ByteTrack does: what is seen with confidence finds its track
 * first; what is left of the tracks may go on with weak detections, which never begin one. Of all pairs the best one is taken
 * first. Numbers count from 1 and are not used again.
 */
export class Tracker {
  readonly #confidence: number;
  #tracks: Track[] = [];
  #last = 0;

  /** @param confidence from which a detection counts as sure */
  constructor(confidence: number) {
    this.#confidence = confidence;
  }

  /**
   * @param at time of the picture, monotonic, seconds @param forget what is not seen for so long has gone, seconds
   * @returns the number of each detection in the same order; null for a weak one that belongs to nothing
   */
  update(found: readonly DetectedBox[], at: number, forget: number): readonly (number | null)[] {
    this.#tracks = this.#tracks.filter(({ seen }) => at - seen <= forget);
    for (const track of this.#tracks) predict(track, at);
    const ids: (number | null)[] = found.map(() => null);
    const isSure = (index: number): boolean => (found[index]?.score ?? 0) >= this.#confidence;
    const free = new Set(this.#tracks);
    for (const sure of [true, false]) {
      const pairs = found.flatMap((detection, index) =>
        isSure(index) === sure
          ? [...free].map((track) => ({ detection, index, track, like: likeness(detection, track) }))
          : [],
      );
      for (const { detection, index, track, like } of pairs.toSorted((a, b) => b.like - a.like)) {
        if (like < LEAST_OVERLAP) break;
        if (ids[index] !== null || !free.delete(track)) continue;
        correct(track, detection, at);
        ids[index] = track.id;
      }
    }
    for (const [index, detection] of found.entries()) {
      if (ids[index] !== null || !isSure(index) || this.#tracks.length >= MAX_TRACKS) continue;
      const id = ++this.#last;
      this.#tracks.push({
        id,
        kind: detection.kind,
        place: placeOf(detection),
        speed: [0, 0, 0, 0],
        seen: at,
        at,
      });
      ids[index] = id;
    }
    return ids;
  }
}

function placeOf({ x, y, width, height }: DetectedBox): Track['place'] {
  return [x + width / 2, y + height / 2, width, height];
}

function predict(track: Track, at: number): void {
  const passed = at - track.at;
  track.at = at;
  for (const part of [0, 1, 2, 3] as const) track.place[part] += track.speed[part] * passed;
  for (const part of [2, 3] as const) track.place[part] = Math.max(1, track.place[part]);
}

function correct(track: Track, detection: DetectedBox, at: number): void {
  const passed = at - track.seen;
  const seen = placeOf(detection);
  for (const part of [0, 1, 2, 3] as const) {
    const surprise = seen[part] - track.place[part];
    track.place[part] += ALPHA * surprise;
    if (passed > 0) track.speed[part] += (BETA * surprise) / passed;
  }
  track.seen = at;
}

function likeness(detection: DetectedBox, { kind, place: [x, y, width, height] }: Track): number {
  if (detection.kind !== kind) return 0;
  const expected = { x: x - width / 2, y: y - height / 2, width, height };
  const edge = EDGE * Math.sqrt(Math.min(width * height, detection.width * detection.height));
  return overlap(detection, expected, edge);
}
