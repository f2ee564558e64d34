import type { CommandName } from '../../../../shared/flight/command-catalogue.ts';
import type { Readiness } from '../../../../shared/flight/readiness.ts';
import type { RowId } from '../../../../shared/routes/table.ts';

/** Commands to a vehicle, as the page of its node and the page of the fleet give them. */

export interface Order {
  readonly cmd: CommandName;
  readonly args?: readonly (string | number)[];
  /** Over the node's bound of distance and the vehicle's fence. */
  readonly far?: true;
  /** A pilot has sticks, though none are heard. */
  readonly manual?: true;
}

export interface Outcome {
  readonly text: string;
  readonly tone: 'good' | 'bad';
  /** What was refused for its distance alone. */
  readonly far?: Order | undefined;
  /** A mode that was refused as nobody has sticks. */
  readonly stickless?: Order | undefined;
}

export interface Commands {
  /** What is under way, for people; null: nothing. */
  readonly running: string | null;
  /** What became of the last one. */
  readonly outcome: Outcome | null;
  /** One after the other, until one is not taken. @param name for people */
  readonly give: (name: string, ...orders: readonly Order[]) => void;
  /** Why it cannot be given now; null: it can. Empty: what is in the way stands elsewhere. */
  readonly whyNot: (cmd: CommandName) => string | null;
  /** Whether the node knows it, an older one perhaps not. */
  readonly offers: (cmd: CommandName) => boolean;
  /** A button begins to be held: what the command will need can be got ready. */
  readonly ready?: () => void;
  /** Whether it would arm, while it is not armed; null: not known. */
  readonly readiness: Readiness | null;
  /** What the page asks for it: where this caller may not, nothing can be given. */
  readonly row?: RowId;
}

/** Motors on: in another mode where the present one does not arm. */
export function armOrders(readiness: Readiness | null): readonly Order[] {
  const first = readiness?.first ?? null;
  return [...(first === null ? [] : [first]), { cmd: 'arm' }];
}

/** Up to a height, m. @param arms it is not armed: that is done first, by the node itself unless it is an old one */
export function takeOffOrders(readiness: Readiness | null, arms: boolean, height: number): readonly Order[] {
  const up = { cmd: 'takeoff', args: [height] } as const;
  if (!arms) return [up];
  return readiness === null || readiness.takeOffMode === undefined
    ? [...armOrders(readiness), up]
    : [{ cmd: 'takeoff', args: [height, 1] }];
}

/** These end what goes on: they wait for no other command, and are tried also when the vehicle has not been heard of late. */
export const ALWAYS: ReadonlySet<CommandName> = new Set(['disarm', 'land', 'rtl', 'stop', 'killSwitch']);

export const STOP_HOLD_MS = 400;
/** For what cannot be undone in the air. */
export const GRAVE_HOLD_MS = 2000;
