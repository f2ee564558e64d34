import type { Collision, FenceStatus } from '../../../shared/mavlink/decode-traffic.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { CollisionThreat, Telemetry } from '../../../shared/rpc/telemetry.ts';
import { isAnew, type Part, type SessionReason } from '../part.ts';
import { finite } from './known.ts';
import { icaoText } from './traffic.ts';

/** By MAV_COLLISION_SRC, MAV_COLLISION_ACTION, MAV_COLLISION_THREAT_LEVEL, FENCE_BREACH. */
const SOURCES = ['adsb', 'mavlink'] as const;
const ACTIONS = [
  'none',
  'report',
  'ascend_or_descend',
  'move_horizontally',
  'move_perpendicular',
  'rtl',
  'hover',
] as const;
const LEVELS = [null, 'low', 'high'] as const;
const BREACHES = [null, 'min_alt', 'max_alt', 'boundary'] as const;

/** ICAO address as in `traffic`, or a MAVLink system id. */
export function threatId({ id, source }: Collision): string {
  return source === 0 ? icaoText(id) : String(id);
}

/** @returns null for the report that there is no threat */
export function threatOf(message: Collision): CollisionThreat | null {
  const level = LEVELS[message.level] ?? null;
  if (level === null) return null;
  return {
    id: threatId(message),
    source: SOURCES[message.source] ?? null,
    level,
    action: ACTIONS[message.action] ?? null,
    time_s: finite(message.time),
    horizontal_m: finite(message.horizontal),
    vertical_m: finite(message.vertical),
  };
}

export function fenceOf({ count, status, type }: FenceStatus): NonNullable<Telemetry['fence']> {
  const breached = status !== 0;
  return { breached, count, type: breached ? (BREACHES[type] ?? null) : null };
}

/** Logs when another aircraft becomes a threat and when the fence is breached, and when either is over. */
export class Warnings implements Part {
  readonly #log: Logger;
  readonly #telemetry: () => Telemetry;
  #threat: CollisionThreat | null = null;
  #fence: Telemetry['fence'] = null;

  constructor(log: Logger, telemetry: () => Telemetry) {
    this.#log = log;
    this.#telemetry = telemetry;
  }

  /** Another vehicle, or it has rebooted: what was under way is no concern of the present one. */
  onSession(reason: SessionReason): void {
    if (!isAnew(reason)) return;
    this.#threat = null;
    this.#fence = null;
  }

  /** Called a few times a second, not with each message: a vehicle cannot fill the log. */
  tick(): void {
    const { collision, fence } = this.#telemetry();
    this.#followThreat(collision);
    const before = this.#fence;
    this.#fence = fence ?? before;
    if (fence === null) return;
    const was = before?.breached === true;
    if (fence.breached && !was) this.#log.warn('the fence is breached', { event: 'fence_breach', ...fence });
    else if (!fence.breached && was)
      this.#log.info('the fence is not breached any more', { event: 'fence_breach_end', ...fence });
    else if (!was && fence.count > (before?.count ?? fence.count))
      // Short, or its messages were lost: the vehicle counts on.
      this.#log.warn('the fence was breached meanwhile', { event: 'fence_breach', ...fence });
  }

  #followThreat(threat: CollisionThreat | null): void {
    const before = this.#threat;
    this.#threat = threat;
    if (threat === null) {
      if (before === null) return;
      this.#log.info(`aircraft ${before.id} is no threat any more`, {
        event: 'collision_threat_end',
        id: before.id,
      });
    } else if (before?.id !== threat.id || before.level !== threat.level) {
      const { level, ...fields } = threat; // `level` is the log's own word
      this.#log.warn(`aircraft ${threat.id} is a ${level} threat`, {
        event: 'collision_threat',
        threat: level,
        ...fields,
      });
    }
  }
}
