const VALID = /^[0-9a-f]{12}$/;

/** Whether it is the id of a node, as nodes make it: 12 hexadecimal digits, lower case. */
export function isDeviceId(value: unknown): value is string {
  return typeof value === 'string' && VALID.test(value);
}
