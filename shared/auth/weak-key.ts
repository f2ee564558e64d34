/** Bytes of an Ed25519 public key: the y of a point, its lowest byte first; the highest bit is the sign of x (RFC 8032, 5.1.2). */
const KEY_BYTES = 32;
/**
 * The y of all points of a small order on the curve, also as y + p. Under a key like these, signatures can be made without a
 * secret that hold for any text (Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs", 2020); libraries differ in whether they
 * take them.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** Whether nobody may be believed by this Ed25519 public key. @param raw its 32 bytes; other lengths are no key */
export function isWeakKey(raw: Uint8Array): boolean {
  const y = Buffer.from(raw);
  if (y.length !== KEY_BYTES) return true;
  y[KEY_BYTES - 1] = y.readUInt8(KEY_BYTES - 1) & 0x7f;
  return SMALL_ORDER.has(y.toString('hex'));
}

/** @param x as in a JWK: base64url */
export function isWeakJwk(x: string): boolean {
  return isWeakKey(Buffer.from(x, 'base64url'));
}
