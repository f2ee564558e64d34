import type { ModeWords } from './modes.ts';

/** A check that fails. */
export type ArmReason = 'attitude' | 'gps' | 'arm-voltage' | 'battery' | 'fence' | 'position' | 'mode';

/** The sentences of a firmware's STATUSTEXTs. */
export interface Words extends ModeWords {
  readonly armed: string;
  disarmed(cause: 'command' | 'landing'): string;
  reason(reason: ArmReason, mode: string): string;
  /** What is said of an arming that is refused. */
  armRefused(reasons: readonly string[]): readonly string[];
  /** The regular report of a check that fails; undefined: there is none. */
  preArm(reason: string): string | undefined;
  readonly missionReceived: string | undefined;
  readonly positionFound: readonly string[];
  /** What its simulator says of a touchdown, m/s; undefined: nothing. */
  readonly hitGround: ((speed: number) => string) | undefined;
}
