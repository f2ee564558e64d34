/** A word for each reason in `failsafe.reasons` that its name does not say. */
const WORDS: Readonly<Record<string, string>> = { estimator: 'its position', station: 'the ground station' };

/** Why a failsafe acts, in a line of text. Empty: the vehicle does not say. */
export function failsafeText(reasons: readonly string[]): string {
  return reasons.map((reason) => WORDS[reason] ?? reason.replaceAll('_', ' ')).join(', ');
}
