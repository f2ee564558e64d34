import type { MissionIds } from '../../../shared/mavlink/decode-mission.ts';
import type { MissionList } from '../../../shared/rpc/link-answers.ts';
import { type FirstItem, MISSION_PARTS, type MissionPart } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';

/** A vehicle that tells no id may have got a new list by a link that we do not see. */
const NO_ID_MS = 60_000;
/** MISSION_CURRENT.total of a vehicle without a mission. */
const NO_MISSION = 65_535;

interface CachedList {
  readonly list: MissionList;
  readonly at: number;
}

/**
 * The lists as they were last read. With an id of the vehicle (PX4: MISSION_COUNT.opaque_id, and the ids in MISSION_CURRENT) a
 * list holds while MISSION_CURRENT tells the same id. Without one (ArduPilot) it is dropped when anybody is seen to write, through
 * our router or by the vehicle's MISSION_ACK to another station; when MISSION_CURRENT tells another number of items; when a
 * session begins; and after 60 s, because a station on another link of the vehicle is not seen at all.
 */
export class MissionCache {
  readonly #clock: Clock;
  readonly #kept = new Map<MissionPart, CachedList>();
  /** The newest ids of the vehicle; 0 unknown. */
  readonly #ids: Record<MissionPart, number> = { mission: 0, fence: 0, rally: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(part: MissionPart): MissionList | null {
    const kept = this.#kept.get(part);
    if (kept === undefined) return null;
    const { id } = kept.list;
    const tells = id !== null && this.#ids[part] !== 0;
    const holds = tells ? this.#ids[part] === id : this.#clock.now() - kept.at <= NO_ID_MS;
    return holds ? kept.list : null;
  }

  keep(part: MissionPart, list: MissionList): void {
    this.#kept.set(part, { list: { ...list, from: 'cache' }, at: this.#clock.now() });
    if (list.id !== null) this.#ids[part] = list.id; // the next MISSION_CURRENT comes within a second
  }

  /** @param part null for all of them */
  drop(part: MissionPart | null): void {
    for (const each of part === null ? MISSION_PARTS : [part]) this.#kept.delete(each);
  }

  /** Another session: its vehicle may tell other ids, or none. */
  clear(): void {
    this.drop(null);
    for (const part of MISSION_PARTS) this.#ids[part] = 0;
  }

  /** MISSION_CURRENT. @param home how many items the vehicle counts besides those to fly */
  onIds({ total, ...ids }: MissionIds, home: FirstItem): void {
    for (const part of MISSION_PARTS) this.#ids[part] = ids[part];
    const kept = this.#kept.get('mission');
    if (kept === undefined || kept.list.id !== null || total === 0) return;
    const { count } = kept.list;
    const items = total === NO_MISSION ? 0 : total;
    if (items !== count && items !== count + home) this.drop('mission');
  }
}
