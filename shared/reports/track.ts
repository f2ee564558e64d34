import { MOST_POINTS } from '../schemas/flight-report.ts';
import { Extreme } from './extreme.ts';
import type { Fact } from './facts.ts';

type Position = Extract<Fact, { readonly kind: 'position' }>;
type Home = Omit<Extract<Fact, { readonly kind: 'home' }>, 'kind'>;
type Place = Pick<Position, 'lat' | 'lon'>;

const EARTH_M = 6_371_000;
const RADIANS = Math.PI / 180;

/** Where a vehicle went. */
export class Track {
  /** Over ground, m; null: no position has come. */
  distance: number | null = null;
  readonly height = new Extreme('max');
  readonly fromHome = new Extreme('max');
  /** Evenly in time. */
  points: readonly Place[] = [];
  /** Of so many positions one is kept: more, the longer it is. */
  #every = 1;
  #count = 0;
  #home: Home | null = null;
  #first: Home | null = null;
  #last: Place | null = null;

  home(home: Home): void {
    if (isPlace(home)) this.#home = home;
  }

  position(at: number, position: Position): void {
    if (!isPlace(position)) return;
    const { alt, height } = position;
    this.#first ??= position;
    const home = this.#home ?? this.#first;
    this.distance = (this.distance ?? 0) + (this.#last === null ? 0 : metres(this.#last, position));
    this.#last = position;
    if (this.#count++ % this.#every === 0) {
      this.points = [...this.points, { lat: position.lat, lon: position.lon }];
      if (this.points.length > MOST_POINTS) {
        this.points = this.points.filter((_, index) => index % 2 === 0);
        this.#every *= 2;
      }
    }
    this.fromHome.take(at, metres(home, position));
    const level = home.alt ?? this.#first.alt;
    if (height !== null) this.height.take(at, height);
    else if (level !== null) this.height.take(at, alt - level);
  }

  /** @returns m above home, or above the first position; null: none has come. @param alt of a position */
  above(alt: number): number | null {
    const level = this.#home?.alt ?? this.#first?.alt ?? null;
    return level === null ? null : alt - level;
  }

  /** What comes next is not a part of the same way. */
  interrupt(): void {
    this.#last = null;
  }
}

function isPlace({ lat, lon }: Place): boolean {
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && !(lat === 0 && lon === 0);
}

/** Along a great circle. */
export function metres(a: Place, b: Place): number {
  const dLat = (b.lat - a.lat) * RADIANS;
  const dLon = (b.lon - a.lon) * RADIANS;
  const h =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_M * Math.asin(Math.min(1, Math.sqrt(h)));
}
