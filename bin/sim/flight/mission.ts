import type { LocalPoint } from '../../../shared/flight/geo.ts';
import { type GeoPoint, toLocal } from '../../../shared/flight/geo.ts';

/** One stored mission item. `lat` and `lon` in degrees; `alt` in metres in the item's frame. */
export interface MissionItem {
  readonly command: number;
  readonly frame: number;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly p4: number;
  readonly lat: number;
  readonly lon: number;
  readonly alt: number;
  /** 1: goes on to the next item by itself. */
  readonly autocontinue: number;
}

export const NAV = {
  waypoint: 16,
  loiterUnlimited: 17,
  loiterTime: 19,
  returnToLaunch: 20,
  land: 21,
  takeoff: 22,
  delay: 93,
  jump: 177,
  changeSpeed: 178,
  landStart: 189,
  cameraDistance: 206,
  imageStart: 2000,
  imageStop: 2001,
} as const;

/** Names of items in ArduPilot's texts. */
export const ITEM_NAMES: Readonly<Record<number, string>> = {
  [NAV.waypoint]: 'WP',
  [NAV.loiterUnlimited]: 'LoitUnlim',
  [NAV.loiterTime]: 'LoitTime',
  [NAV.returnToLaunch]: 'RTL',
  [NAV.land]: 'Land',
  [NAV.takeoff]: 'Takeoff',
  [NAV.delay]: 'Delay',
  [NAV.changeSpeed]: 'ChangeSpeed',
  [NAV.jump]: 'Jump',
  [NAV.landStart]: 'LandStart',
  [NAV.cameraDistance]: 'SetCamTriggDst',
  [NAV.imageStart]: 'ImageStartCapture',
  [NAV.imageStop]: 'ImageStopCapture',
};

/** What the point mass flies like something simpler: circles and a spline like a waypoint, a VTOL's ways like a copter's. */
const FLOWN_AS: Readonly<Record<number, number>> = {
  18: NAV.waypoint,
  31: NAV.waypoint,
  82: NAV.waypoint,
  84: NAV.takeoff,
  85: NAV.land,
  94: NAV.land,
};

/** How it flies an item: a MAV_CMD of `NAV`. */
export function flownAs({ command }: MissionItem): number {
  return FLOWN_AS[command] ?? command;
}

/** The MAV_FRAMEs that positions are taken in: MSL, above home, above the terrain (which is flat), and their INT twins. */
export const FRAMES: ReadonlySet<number> = new Set([0, 3, 5, 6, 10, 11]);

/** Local position of a point whose altitude (metres) is in a MAV_FRAME. */
export function fromFrame(
  origin: GeoPoint,
  home: GeoPoint,
  frame: number,
  lat: number,
  lon: number,
  alt: number,
): LocalPoint {
  const point = toLocal(origin, { lat, lon, alt: 0 });
  if (frame === 0 || frame === 5) return { ...point, u: alt - origin.alt };
  if (frame === 3 || frame === 6) return { ...point, u: alt + home.alt - origin.alt };
  return { ...point, u: alt };
}

/**
 * The stored mission. `items[0]` is seq `first`: 1 where item 0 is home, which is not stored here (ArduPilot), or 0
 * where every item is one to fly (PX4).
 */
export class Mission {
  readonly first: 0 | 1;
  items: readonly MissionItem[];
  /** Sequence number that AUTO flies, or would fly, next; 0 before the first start. */
  current = 0;
  state: 'not-started' | 'active' | 'paused' | 'complete' = 'not-started';

  constructor(items: readonly MissionItem[], first: 0 | 1 = 1) {
    this.first = first;
    this.items = items;
  }

  /** Items as the link counts them; 0 for an empty mission. */
  get count(): number {
    return this.items.length === 0 ? 0 : this.items.length + this.first;
  }

  item(seq: number): MissionItem | undefined {
    return this.items[seq - this.first];
  }

  /** Other items, one by one, while the mission goes on. */
  put(items: readonly MissionItem[]): void {
    this.items = items;
  }

  replace(items: readonly MissionItem[]): void {
    this.items = items;
    this.current = 0;
    this.state = 'not-started';
  }

  /** @returns false when there is no such item */
  jump(seq: number): boolean {
    if (this.item(seq) === undefined && !(seq === 0 && this.first === 1)) return false;
    this.current = Math.max(this.first, seq);
    if (this.state === 'complete') this.state = 'not-started';
    return true;
  }
}

/** Takeoff to 15 m, a small triangle and home again: what `missionStart` flies out of the box. */
export function defaultMission(home: GeoPoint): MissionItem[] {
  const item = (command: number, north: number, east: number, alt: number): MissionItem => ({
    command,
    frame: 3,
    p1: 0,
    p2: 0,
    p3: 0,
    p4: 0,
    autocontinue: 1,
    lat: home.lat + north / 111_319,
    lon: home.lon + east / (111_319 * Math.cos((home.lat * Math.PI) / 180)),
    alt,
  });
  return [
    item(NAV.takeoff, 0, 0, 15),
    item(NAV.waypoint, 40, 0, 15),
    item(NAV.waypoint, 40, 40, 20),
    { ...item(NAV.returnToLaunch, 0, 0, 0), lat: 0, lon: 0 },
  ];
}
