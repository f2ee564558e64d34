/** What members of these names hold in an example, where their schema says no more than a type. */
import { isObject, type JsonObject, memberOf, recordOf } from '../member.ts';

const BY_NAME: JsonObject = {
  name: 'drone-1',
  device_id: 'svc-a1b2c3',
  version: '1.0.0',
  lat: -35.363262,
  lon: 149.165237,
  latitude: -35.363262,
  longitude: 149.165237,
  detail: 'A sentence that says what to do.',
  mode: 'GUIDED',
  ssid: 'field',
  interface: 'wlan0',
  iface: 'wlan0',
  ip: '192.168.1.20',
  address: '192.168.1.20',
  host: '192.168.1.20',
  mac: '02:00:00:00:00:01',
  port: 8080,
  pid: 1234,
  width: 1280,
  height: 720,
  fps: 30,
  voltage: 15.8,
};

/**
 * One value that fits the schema: its first `examples`, else made of its members' (of an object with every member). Of what a
 * pattern or a condition asks, it makes nothing up: there the schema needs an example of its own, which a test asks for.
 * @param name of the member that it is for
 */
export function exampleOf(schema: unknown, name = ''): unknown {
  if (!isObject(schema)) return {};
  const { examples, const: only, enum: values, default: preset, anyOf, oneOf, type } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (only !== undefined) return only;
  if (Array.isArray(values)) return values[0];
  if (preset !== undefined && typeof preset !== 'object') return preset;
  const choices = anyOf ?? oneOf;
  if (type === undefined && Array.isArray(choices)) return exampleOf(choices.find(isNotNull), name);
  return ofType(Array.isArray(type) ? type.find((one) => one !== 'null') : type, schema, name);
}

function isNotNull(schema: unknown): boolean {
  return memberOf(schema, 'type') !== 'null';
}

function ofType(type: unknown, schema: JsonObject, name: string): unknown {
  const hint = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  switch (type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return 'items' in schema && schema['maxItems'] !== 0 ? [exampleOf(schema['items'], name)] : [];
    case 'null':
      return null;
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return numberOf(schema, typeof hint === 'number' ? hint : 1);
    case 'string':
      return schema['format'] === 'date-time'
        ? '2026-03-01T12:00:00Z'
        : typeof hint === 'string' && schema['pattern'] === undefined
          ? hint
          : 'text';
    default:
      return {};
  }
}

function objectOf({ properties, additionalProperties, minProperties }: JsonObject): JsonObject {
  const members = Object.entries(recordOf(properties)).filter(([, schema]) => schema !== false);
  const made = Object.fromEntries(members.map(([name, schema]) => [name, exampleOf(schema, name)]));
  const free =
    typeof additionalProperties === 'object' && (members.length === 0 || minProperties !== undefined);
  return free ? { ...made, name: exampleOf(additionalProperties, 'name') } : made;
}

function numberOf({ minimum, maximum }: JsonObject, wanted: number): number {
  const least = typeof minimum === 'number' ? minimum : -Infinity;
  const most = typeof maximum === 'number' ? maximum : Infinity;
  return Math.min(Math.max(wanted, least), most);
}
