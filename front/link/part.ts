import type { Frame } from '../../shared/mavlink/frame.ts';
import type { Handlers } from '../../shared/rpc/contract.ts';
import type { LINK } from '../../shared/rpc/link.ts';
import type { LinkProblem } from '../../shared/rpc/link-state.ts';

/** Why a session of the vehicle begins. */
export type SessionReason = 'learned' | 'connected' | 'returned' | 'rebooted';

/** Whether it is another vehicle or has rebooted: what was known of it does not hold. */
export function isAnew(reason: SessionReason): boolean {
  return reason === 'learned' || reason === 'rebooted';
}

/** A text of the vehicle. */
export interface StatusLine {
  /** ISO 8601, wall clock of this node. */
  readonly at: string;
  /** MAV_SEVERITY: 0 emergency .. 7 debug */
  readonly severity: number;
  readonly text: string;
}

/** RPC methods of svc-link (shared/rpc/link.ts says what each does). */
export type Methods = Partial<Handlers<typeof LINK>>;

/**
 * A part of svc-link: what the link starts, ticks, tells and stops, in the order of the list in parts.ts. Messages that are for one part
 * it takes itself (`vehicle.messages`).
 */
export interface Part {
  start?(): void;
  /** Called every 100 ms. */
  tick?(): void;
  /** Ends what is under way, while the line is still open. */
  stop?(): void;
  /** After the line was closed. Resolves when all is on the disk. */
  settled?(): Promise<void>;
  /** A frame of the vehicle's side, whoever sent it. */
  onFrame?(frame: Frame): void;
  /** A frame of a ground station that goes to the vehicle. */
  onForwarded?(frame: Frame): void;
  /** A new session of the vehicle: earlier requests are void, and of another vehicle nothing holds. Its heartbeat follows. */
  onSession?(reason: SessionReason): void;
  onHeartbeat?(): void;
  /** A telemetry message of the vehicle, by its id. */
  onTelemetry?(id: number): void;
  /** Any other message of it that is for no part alone. */
  onOther?(id: number): void;
  /** The vehicle has said who it is. */
  onVersion?(): void;
  onLine?(line: StatusLine): void;
  /** What a person should know of it. */
  problems?(): readonly LinkProblem[];
  /** Those that it answers; parts.ts puts them together. */
  readonly methods?: Methods;
}
