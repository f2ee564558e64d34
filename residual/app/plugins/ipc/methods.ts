import type { JsonObject } from '../../../../shared/member.ts';
import { mayPublish, maySubscribe } from '../../../../shared/plugins/capabilities.ts';
import { publishedBatch } from '../../../../shared/plugins/detections.ts';
import { METHOD_CAPABILITIES, type MethodName } from '../../../../shared/plugins/methods.ts';
import { extensionValues } from '../../../../shared/schemas/extension-values.ts';
import { faultOf } from '../../../../shared/schemas/fault.ts';
import type { JsonSchema } from '../../../../shared/schemas/json-schema.ts';
import type { Described } from '../../../../shared/schemas/made.ts';
import { MISSION_PARTS } from '../../../../shared/schemas/mission-item.ts';
import { validatorOf } from '../../../../shared/schemas/validator.ts';
import { CAMERA_FORMATS } from '../../../../shared/video/extension-cameras.ts';
import type { Session } from './session.ts';

/** What an extension may ask the node over its socket, by method; the capability is looked up at each call. */

/** One method: checks the arguments, then does it. */
type Method = (session: Session, name: MethodName, args: unknown) => unknown;

/** @param run gets arguments that fit the schema */
function method<const S extends JsonSchema>({
  schema,
  run,
}: {
  readonly schema: S;
  readonly run: (session: Session, args: Described<S>) => unknown;
}): Method {
  const validate = validatorOf<S>(schema);
  return (session, name, args) => {
    if (validate.fits(args)) return run(session, args);
    const wrong = validate(args) ?? [];
    throw new Error(`${name}: ${wrong.map((each) => faultOf(each, 'it')).join('; ')}`);
  };
}

const MAX_TOPICS = 32;
/** The node's own time-outs are shorter. */
const COMMAND_MS = 35_000;
const MISSION_MS = 510_000;
const componentId = { type: 'integer', minimum: 1, maximum: 255 } as const;
const topic = { type: 'string', minLength: 1, maxLength: 128 } as const;
const object = <const P extends JsonObject, const R extends readonly (keyof P & string)[] = []>(
  properties: P,
  ...required: R
) => ({ type: 'object', properties, required, additionalProperties: false }) as const;

/** A capability is missing; the text is the protocol's. */
export function denied(capability: string): Error {
  return new Error(`capability_denied: ${capability}`);
}

const METHODS: Readonly<Record<MethodName, Method>> = {
  ping: method({ schema: object({}), run: () => ({ pong: true }) }),

  'event.publish': method({
    schema: object({ topic, payload: {} }, 'topic'),
    run: ({ host }, { topic: name, payload }) => {
      if (!mayPublish(host.id, name, host.grants())) throw denied('event.publish');
      host.topics.publish(name, payload ?? null);
      return { published: true };
    },
  }),
  'event.subscribe': method({
    schema: object({ topics: { type: 'array', maxItems: MAX_TOPICS, items: topic } }, 'topics'),
    run: (session, { topics }) => {
      for (const name of topics)
        if (!maySubscribe(session.host.id, name, session.host.grants()))
          throw denied(`event.subscribe ${name}`);
      session.subscribe(topics);
      return { topics };
    },
  }),
  'telemetry.subscribe': method({
    schema: object({
      rate_hz: { type: 'number', exclusiveMinimum: 0, maximum: 10 },
      fields: { type: 'array', maxItems: 64, items: { type: 'string', maxLength: 64 } },
    }),
    run: (session, { rate_hz: rate, fields }) => {
      session.followTelemetry(rate ?? null, fields ?? null);
      return { subscribed: true };
    },
  }),
  'mavlink.subscribe': method({
    schema: object({
      messages: { type: 'array', maxItems: 64, items: { type: 'integer', minimum: 0, maximum: 16_777_215 } },
    }),
    run: (session, { messages }) => {
      session.followMavlink(messages ?? null);
      return { subscribed: true };
    },
  }),
  'mavlink.send': method({
    schema: object({ frame: {} }, 'frame'),
    run: (session, { frame }) => {
      if (!(frame instanceof Uint8Array)) throw new Error('frame: the bytes of one MAVLink frame');
      session.sendMavlink(frame);
      return { sent: true };
    },
  }),
  'mavlink.register_component': method({
    schema: object({ component_id: componentId }, 'component_id'),
    run: async ({ components }, { component_id: id }) => {
      await components.register(id);
      return { registered: true };
    },
  }),
  'mavlink.component_send': method({
    schema: object({ component_id: componentId, frame: {} }, 'component_id', 'frame'),
    run: ({ components }, { component_id: id, frame }) => {
      if (!(frame instanceof Uint8Array)) throw new Error('frame: the bytes of one MAVLink frame');
      components.send(id, frame);
      return { sent: true };
    },
  }),
  'command.send': method({
    schema: object(
      {
        cmd: { type: 'string', minLength: 1, maxLength: 32 },
        args: { type: 'array', maxItems: 8, items: { type: ['number', 'string'] } },
        timeout_ms: { type: 'integer', minimum: 500, maximum: 20_000 },
      },
      'cmd',
    ),
    run: async ({ host }, args) => {
      host.limits.take('commands');
      return host.nodeCalls(host.id, {
        method: 'POST',
        path: '/api/command',
        body: args,
        timeoutMs: COMMAND_MS,
      });
    },
  }),
  'mission.write': method({
    schema: object({ part: { enum: MISSION_PARTS }, plan: { type: 'object' } }, 'part', 'plan'),
    run: async ({ host }, { part, plan }) => {
      host.limits.take('commands');
      return host.nodeCalls(host.id, {
        method: 'PUT',
        path: `/api/${part}`,
        body: plan,
        timeoutMs: MISSION_MS,
      });
    },
  }),
  'telemetry.extend': method({
    schema: object({ values: extensionValues }, 'values'),
    run: async ({ host }, { values }) => {
      await host.telemetry.extend(values);
      return { extended: true };
    },
  }),
  'camera.register': method({
    schema: object({ format: { enum: CAMERA_FORMATS } }, 'format'),
    run: async ({ host }, { format }) => {
      await host.camera.offer(format);
      return { registered: true, source: `extension:${host.id}` };
    },
  }),
  'vision.read_frame': method({
    schema: object({}),
    run: async ({ host }) => {
      host.limits.take('pictures');
      const { jpeg, capturedAt } = await host.picture();
      return { jpeg, captured_at: capturedAt };
    },
  }),
  'vision.designate_track': method({
    schema: object({ track_id: { type: ['integer', 'null'], minimum: 1 } }, 'track_id'),
    run: async ({ host }, { track_id: id }) => {
      host.limits.take('commands');
      return host.nodeCalls(host.id, {
        method: 'POST',
        path: '/api/vision/designate',
        body: id === null ? { release: true } : { track_id: id },
        timeoutMs: COMMAND_MS,
      });
    },
  }),
  'mission.read': method({
    schema: object({ part: { enum: MISSION_PARTS } }, 'part'),
    run: async ({ host }, { part }) => host.vehicle.mission(part),
  }),
  'recording.start': method({
    schema: object({}),
    run: async ({ host }) => host.recording.start(),
  }),
  'recording.stop': method({
    schema: object({}),
    run: async ({ host }) => host.recording.stop(),
  }),
  'vision.publish_detection': method({
    schema: publishedBatch,
    run: ({ host }, args) => {
      host.detections.publish(args);
      return { published: true };
    },
  }),
  'vision.subscribe_detections': method({
    schema: object({}),
    run: (session) => {
      session.followDetections();
      return { subscribed: true };
    },
  }),
  'config.get': method({
    schema: object({ key: { type: 'string', maxLength: 128 } }),
    run: async ({ host }, { key }) => {
      const values = await host.settings.read();
      if (typeof key !== 'string') return { values };
      return { value: Object.hasOwn(values, key) ? values[key] : null };
    },
  }),
  'config.set': method({
    schema: object({ key: { type: 'string', minLength: 1, maxLength: 128 }, value: {} }, 'key', 'value'),
    run: async ({ host }, { key, value }) => {
      await host.settings.write(key, value, 'drone');
      return { set: true };
    },
  }),
  'state.publish': method({
    schema: object({ topic, payload: {} }, 'topic', 'payload'),
    run: ({ host }, { topic: name, payload }) => {
      host.published.set(name, payload);
      return { published: true };
    },
  }),
};

/** Calls methods. */
export class Methods {
  /** @throws Error with a text for the extension: `unknown method <m>`, `capability_denied: <c>`, what is wrong in its arguments */
  async call(session: Session, name: string, args: unknown): Promise<unknown> {
    if (!isMethod(name)) throw new Error(`unknown method ${name}`);
    const capability = METHOD_CAPABILITIES[name];
    if (capability !== null && !session.host.grants().has(capability)) {
      session.host.denied(capability);
      throw denied(capability);
    }
    return METHODS[name](session, name, args ?? {});
  }
}

function isMethod(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name);
}
