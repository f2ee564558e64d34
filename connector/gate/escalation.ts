import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';

/**
 * Arguments that raise the class of a call (reference/connector.md 2; more than there: security paths). They never lower it.
 */

type Arguments = Readonly<Record<string, unknown>>;

/** Which of two classes asks for more: their order in the table of scopes. */
export function higher(a: Scope, b: Scope): Scope {
  return rank(a) >= rank(b) ? a : b;
}

function rank(scope: Scope): number {
  // secret_read stands last in the table of scopes, but a read it is.
  return scope === 'secret_read' ? 0.5 : SCOPES.indexOf(scope);
}

/** Fail-safes, arming checks, motors, servo functions, position sources, compasses, battery arming. */
const CRITICAL_PARAMETERS = [
  /^FS_/,
  /^ARMING_/,
  /^MOT_/,
  /^SERVO\d+_FUNCTION$/,
  /^EK[23]_SRC/,
  /^COMPASS_USE/,
  /^BATT\d?_(?:ARM|FS|LOW|CRT)/,
  // PX4
  /^(?:NAV_RCL|NAV_DLL|COM_ARM|COM_RC|COM_LOW_BAT|COM_.*FAIL|CBRK_|PWM_|CA_|SYS_AUTOSTART)/,
];
const NETWORK_SEGMENTS = new Set(['network', 'wifi', 'wfb', 'uplink', 'modem', 'ethernet', 'radio', 'api']);
const SECURITY_SEGMENTS = new Set(['security', 'mcp', 'pairing']);
/** What carries the link to the vehicle, or shows where it flies. */
const CRITICAL_UNITS = /mavlink|supervisor|video|svc-link|svc-sim/;

export function parameterClass({ name }: Arguments): Scope {
  const upper = String(name).toUpperCase();
  return CRITICAL_PARAMETERS.some((pattern) => pattern.test(upper)) ? 'flight' : 'admin';
}

export function configClass({ key }: Arguments): Scope {
  const segments = String(key).toLowerCase().split('.');
  if (segments.some((segment) => SECURITY_SEGMENTS.has(segment))) return 'destructive';
  // Where ground stations get in, and whether they are held back there.
  if (segments[0] === 'mavlink') return 'flight';
  return segments.some((segment) => NETWORK_SEGMENTS.has(segment)) ? 'admin' : 'safe_write';
}

export function serviceClass({ name }: Arguments): Scope {
  const unit = String(name)
    .trim()
    .toLowerCase()
    .replace(/\.service$/, '')
    .replaceAll(/[_. ]/g, '-');
  return CRITICAL_UNITS.test(unit.startsWith('svc-') ? unit : `svc-${unit}`) ? 'flight' : 'admin';
}
