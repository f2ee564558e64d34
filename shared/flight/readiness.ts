import { recordOf } from '../member.ts';
import { seenIn } from './seen.ts';

/** A body of POST /api/command. */
interface HelpingOrder {
  readonly cmd: 'mode';
  readonly args: readonly string[];
}

export interface Readiness {
  /** Null: the vehicle does not say, is armed, or is not there. */
  readonly canArm: boolean | null;
  /** For people: what speaks against it, with what takes it away. */
  readonly reasons: readonly string[];
  /** Any of these takes a reason away, the best first. */
  readonly help: readonly HelpingOrder[];
  /** Only its mode speaks against it, and this changes it; a take-off does so by itself. */
  readonly first: HelpingOrder | null;
  /** The mode that a take-off changes to; undefined: the node is an old one, whose `takeoff` does not arm. */
  readonly takeOffMode: string | null | undefined;
}

/**
 * Whether the vehicle would arm: what `svc check`, the connector's `flight_check` and the page say.
 * @param telemetry what `GET /api/telemetry` answers
 * @returns null: a node that does not say, an old one
 */
export function readinessOf(telemetry: unknown): Readiness | null {
  const body = recordOf(telemetry);
  if (body['prearm'] === undefined) return null;
  const { alive, armed } = seenIn(body);
  const { can_arm: canArm, reasons, takeoff_mode: mode } = recordOf(body['prearm']);
  const takeOffMode = mode === null || typeof mode === 'string' ? mode : undefined;
  if (!alive || armed === true || typeof canArm !== 'boolean')
    return { canArm: null, reasons: [], help: [], first: null, takeOffMode };
  const given = listOf(reasons).map(recordOf);
  const help = given.flatMap(({ help: remedy }) =>
    listOf(recordOf(remedy)['commands']).flatMap((order) => {
      const { cmd, args } = recordOf(order);
      return cmd === 'mode' ? [{ cmd, args: listOf(args).map(String) } as const] : [];
    }),
  );
  return {
    canArm,
    takeOffMode,
    first: given.every(({ source }) => source === 'mode' || source === 'remote_id')
      ? (help[0] ?? null)
      : null,
    reasons: given.map(({ text, help: remedy }) => {
      const { text: sentence } = recordOf(remedy);
      return typeof sentence === 'string' ? `${String(text)}. ${sentence}` : String(text);
    }),
    help,
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
