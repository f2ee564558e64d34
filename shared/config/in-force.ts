import { rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../errors.ts';
import { writeAtomic } from '../files/atomic-write.ts';
import { withLock } from '../files/lock.ts';
import { readPrivate } from '../files/private-file.ts';
import { type JsonObject, parseJson } from '../member.ts';
import type { Paths } from '../paths.ts';
import { checked } from '../schemas/checked.ts';
import { fileValidatorOf } from '../schemas/validator.ts';
import { configLeaf, configLeaves, valueAt } from './keys.ts';
import { loadConfig } from './load.ts';
import type { Config } from './schema.ts';

/**
 * The guarded keys (`x-armed`) while the vehicle is armed: a process that starts in flight goes on with the values that it had at
 * the arming, whatever was written before it or beside the API (docs/contract/flight.md). They lie in `paths.heldConfig`, which
 * exists only while armed: also a supervisor that is killed in flight comes back to them.
 */

/** Dotted key -> value, null for a key without one. */
export type KeyValues = JsonObject;

/** The config with which a process starts. */
export interface ConfigInForce {
  readonly config: Config;
  /** What is wrong with the config file; null for nothing. */
  readonly problem: string | null;
  /** The values of the guarded keys. */
  readonly guarded: KeyValues;
  /** The guarded keys that the file has changed, and this process has not: it needs a restart once the vehicle is disarmed. */
  readonly waiting: readonly string[];
}

const MAX_BYTES = 1024 * 1024;

const validHeld = fileValidatorOf({
  type: 'object',
  required: ['version', 'held'],
  properties: {
    version: { const: 1 },
    held: { type: 'object', additionalProperties: { type: 'object' } },
  },
  additionalProperties: false,
});

/** Who is told: a logger. */
interface ConfigLog {
  error(message: string): void;
  warn(message: string): void;
}

type HeldValues = Readonly<Record<string, KeyValues>>;
type HeldPaths = Pick<Paths, 'heldConfig'>;

/**
 * The config for the process `name`: that of the file, and while the vehicle is armed the guarded keys as they were.
 * @param log told what waits, and what is wrong with either file
 */
export async function configInForce(
  paths: HeldPaths & Pick<Paths, 'config' | 'configLastGood' | 'configChecked'>,
  name: string,
  log: ConfigLog,
): Promise<ConfigInForce> {
  const { config: wanted, problem } = await loadConfig(paths);
  if (problem !== null) log.error(`config: ${problem}`);
  const held = await readHeld(paths).catch((error: unknown) => {
    log.error(`config: what held when the vehicle armed is not known: ${messageOf(error)}`);
    return null;
  });
  const own = held !== null && Object.hasOwn(held, name) ? (held[name] ?? {}) : {};
  const kept = Object.entries(own).filter(
    ([key, value]) =>
      configLeaf(key)?.['x-armed'] === 'guard' && !isDeepStrictEqual(valueAt(wanted, key) ?? null, value),
  );
  const config =
    kept.length === 0 ? wanted : (await import('./parse.ts')).validConfig(withValues(wanted, kept));
  if (config === null)
    log.error(`config: what held when the vehicle armed does not fit any more, and does not hold`);
  const waiting = config === null ? [] : kept.map(([key]) => key);
  if (waiting.length > 0)
    log.warn(
      `config: the vehicle is armed, so these keys stay as they were; restart ${name} once it is disarmed: ${waiting.join(', ')}`,
    );
  return { config: config ?? wanted, problem, guarded: guardedOf(config ?? wanted), waiting };
}

/** Keeps the values of processes that are not held yet. @param held by the name of the process */
export async function holdConfig(paths: HeldPaths, held: HeldValues): Promise<void> {
  await change(paths, (before) => ({ ...held, ...before }));
}

/** Of a key that was written past the guard on purpose: the next start uses what the file says. */
export async function letGoOfKey(paths: HeldPaths, key: string): Promise<void> {
  if ((await readHeld(paths)) === null) return;
  await change(
    paths,
    (before) =>
      before &&
      Object.fromEntries(
        Object.entries(before).map(([name, { [key]: _written, ...rest }]) => [name, rest] as const),
      ),
  );
}

/** The vehicle is disarmed: every start uses the file again. */
export async function letGo(paths: HeldPaths): Promise<void> {
  await rm(paths.heldConfig, { force: true });
}

async function change(
  paths: HeldPaths,
  next: (before: HeldValues | null) => HeldValues | null,
): Promise<void> {
  await withLock(`${paths.heldConfig}.lock`, async () => {
    const held = next(await readHeld(paths));
    if (held !== null) await writeAtomic(paths.heldConfig, JSON.stringify({ version: 1, held }));
  });
}

async function readHeld({ heldConfig }: HeldPaths): Promise<HeldValues | null> {
  const text = await readPrivate(heldConfig, MAX_BYTES);
  if (text === null) return null;
  const damaged = (fault: string): Error => new Error(`${heldConfig} is damaged: ${fault}`);
  return checked(validHeld, parseJson(text), damaged).held;
}

function guardedOf(config: Config): KeyValues {
  return Object.fromEntries(
    configLeaves()
      .filter(([, leaf]) => leaf['x-armed'] === 'guard')
      .map(([key]) => [key, valueAt(config, key) ?? null]),
  );
}

function withValues(config: Config, values: readonly (readonly [key: string, value: unknown])[]): unknown {
  const copy: unknown = structuredClone(config);
  for (const [key, value] of values) {
    const at = key.lastIndexOf('.');
    const section = valueAt(copy, key.slice(0, at)) as Record<string, unknown>;
    if (value === null) delete section[key.slice(at + 1)];
    else section[key.slice(at + 1)] = value;
  }
  return copy;
}
