/** Grants of a part of the telemetry, `telemetry.subscribe.battery`, beside the whole, `telemetry.subscribe`. */

const WHOLE = 'telemetry.subscribe';
const PART = /^[A-Za-z][A-Za-z0-9_]{0,31}(?:\.[A-Za-z0-9_]{1,32}){0,3}$/;

/** `battery` of `telemetry.subscribe.battery`; null for any other id. */
export function telemetryPart(id: string): string | null {
  const part = id.startsWith(`${WHOLE}.`) ? id.slice(WHOLE.length + 1) : '';
  return PART.test(part) ? part : null;
}

/** Whether these grants let it read this part: by itself, as a part of a part (`mavlink` of `mavlink.STATUSTEXT`), or as all. */
export function mayReadPart(part: string, grants: readonly string[]): boolean {
  const wanted = `${WHOLE}.${part}`;
  return grants.some(
    (id) => (id === WHOLE || telemetryPart(id) !== null) && `${wanted}.`.startsWith(`${id}.`),
  );
}

/** Whether it may read any part, which is what its own values need. */
export function mayReadAny(grants: readonly string[]): boolean {
  return grants.some((id) => id === WHOLE || telemetryPart(id) !== null);
}
