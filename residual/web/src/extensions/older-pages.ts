import { recordOf } from '../../../../shared/member.ts';
import { kindOf } from './older-telemetry.ts';

/**
 * The messages of pages that were written for ADOS Mission Control (its `@altnautica/plugin-sdk`), read as what this page does
 * (docs/extensions.md, "Pages for another host"). One shape both ways:
 * `{id, type: request|response|event, method, capability, args, version: 1, error?: {code, message}}`.
 */

type Args = Readonly<Record<string, unknown>>;

export interface OlderRequest {
  readonly id: string;
  readonly method: string;
  readonly capability: string;
  readonly args: unknown;
}

export type Meaning =
  /** A request of our own pages. */
  | { readonly kind: 'ours'; readonly m: string; readonly a: Args; readonly accepted?: true }
  | { readonly kind: 'subscribe' | 'unsubscribe'; readonly topic: string }
  | { readonly kind: 'set'; readonly key: string; readonly value: unknown }
  | { readonly kind: 'answer'; readonly value: unknown };

/** An answer that says why not; codes are those of the other host. */
export class OlderError extends Error {
  readonly code:
    | 'schema_invalid'
    | 'method_unknown'
    | 'permission_denied'
    | 'handler_unset'
    | 'handler_error';

  constructor(code: OlderError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const MAX_ID = 128;
const MAX_TOPIC = 128;
/** Known there, and not to be had here. */
const NOT_HERE: ReadonlySet<string> = new Set([
  'recording.mark',
  'cloud.read',
  'cockpit.marks',
  'cockpit.marks.clear',
  'events.subscribe',
  'events.publish',
  'events.unsubscribe',
  'perception.subscribe',
  'perception.unsubscribe',
  'perception.health',
  'i18n.t',
]);

/** A request in the form of the other host; null for anything else, which nobody waits for. */
export function askedIn(message: unknown): OlderRequest | null {
  const { id, type, method, capability, args, version } = recordOf(message);
  if (version !== 1 || type !== 'request' || typeof id !== 'string' || typeof method !== 'string')
    return null;
  if (id === '' || id.length > MAX_ID || method === '' || method.length > MAX_ID) return null;
  return { id, method, capability: typeof capability === 'string' ? capability.slice(0, MAX_ID) : '', args };
}

/** @throws OlderError */
export function meaningOf({ method, args }: OlderRequest): Meaning {
  const given = recordOf(args);
  switch (method) {
    case 'ping':
      return { kind: 'answer', value: { ok: true } };
    case 'telemetry.subscribe':
    case 'telemetry.unsubscribe': {
      const { topic } = given;
      if (typeof topic !== 'string' || topic === '' || topic.length > MAX_TOPIC)
        throw new OlderError('schema_invalid', `bad args for ${method}`);
      if (kindOf(topic) === null)
        throw new OlderError('handler_error', `the topic ${topic} is not offered by this node`);
      return { kind: method === 'telemetry.subscribe' ? 'subscribe' : 'unsubscribe', topic };
    }
    case 'notify':
      return { kind: 'ours', m: 'notification.publish', a: { title: given['message'] } };
    case 'notification.publish':
      return { kind: 'ours', m: 'notification.publish', a: given };
    case 'recording.start':
    case 'recording.stop':
      return { kind: 'ours', m: 'recording.write', a: { action: method.slice('recording.'.length) } };
    case 'mission.read':
      return { kind: 'ours', m: 'mission.read', a: { part: 'mission' } };
    case 'mission.write':
      return { kind: 'ours', m: 'mission.write', a: { part: 'mission', plan: given['payload'] } };
    case 'perception.read':
      return { kind: 'ours', m: 'perception.read', a: {} };
    case 'command.send':
      return commandOf(given);
    default:
      if (NOT_HERE.has(method)) throw new OlderError('handler_unset', `this node has no ${method}`);
      throw new OlderError('method_unknown', `unknown method ${method.slice(0, MAX_ID)}`);
  }
}

/** Commands by name, and those of the gimbal by their number, as COMMAND_INT and COMMAND_LONG write their parameters. */
function commandOf({ command, args }: Args): Meaning {
  const given = recordOf(args);
  const send = (cmd: string, ...values: unknown[]): Meaning => ({
    kind: 'ours',
    m: 'command.send',
    a: { cmd, args: values },
    accepted: true,
  });
  switch (command) {
    case 'takeoff':
      return send('takeoff', given['alt']);
    case 'land':
    case 'rtl':
      return send(command);
    case 'plugin.config.write': {
      const { key, value } = given;
      if (typeof key !== 'string' || key === '') throw new OlderError('schema_invalid', 'it needs a key');
      return { kind: 'set', key, value };
    }
    case 'mavlink.command_int':
    case 'mavlink.command_long': {
      const { param1, param2, param5, param6, param7 } = given;
      const scale = command === 'mavlink.command_int' ? 1e7 : 1;
      switch (given['command']) {
        case 195: // MAV_CMD_DO_SET_ROI_LOCATION
          return send('roi', Number(param5) / scale, Number(param6) / scale, param7);
        case 197: // MAV_CMD_DO_SET_ROI_NONE
          return send('roiClear');
        case 1000: // MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW
          return send('gimbal', param1, param2);
        default:
      }
    }
  }
  throw new OlderError(
    'handler_error',
    `the command ${String(command).slice(0, MAX_ID)} cannot be sent from a page here`,
  );
}
