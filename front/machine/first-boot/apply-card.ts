import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../../shared/config/schema.ts';
import { setConfigKey } from '../../../shared/config/write.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { readOwn } from '../../../shared/files/private-file.ts';
import type { Card } from '../../../shared/first-boot/card-file.ts';
import { MAX_CARD_BYTES } from '../../../shared/first-boot/card-places.ts';
import { hostLabel } from '../../../shared/first-boot/host-label.ts';
import { type FirstBootRecord, firstBootFile, type Part } from '../../../shared/first-boot/record.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { MachineNetwork } from './machine-network.ts';

export interface CardDeps {
  readonly paths: Pick<Paths, 'config' | 'configLastGood' | 'configChecked' | 'heldConfig' | 'firstBoot'>;
  /** Where it may be; the first that is there counts. */
  readonly files: readonly string[];
  readonly deviceId: string;
  readonly config: Pick<Config, 'agent' | 'radio'>;
  readonly network: MachineNetwork['network'];
  readonly hotspot: Pick<MachineNetwork['hotspot'], 'prepare'>;
  readonly helper: Helper;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
}

const OTHERS_WRITE = 0o002;
/** The machine is starting: NetworkManager, or the card's driver, may come later than the node. */
const PATIENCE_MS = 90_000;
const PAUSE_MS = 5000;
const PASSING: ReadonlySet<string> = new Set(['E_UPSTREAM', 'E_UPSTREAM_DOWN', 'E_TIMEOUT', 'E_BUSY']);
/** The last part; without it the passphrases are still on the card. */
const CLEARED = 'passphrases';

/**
 * Does what the file on the card asks for, once in the life of a node, with the code that the API uses.
 * @returns whether the node must restart, so that it is in force
 */
export async function applyCard(deps: CardDeps, signal: AbortSignal): Promise<boolean> {
  const { paths, log } = deps;
  const record = await firstBootFile(paths.firstBoot).load();
  if (record?.parts != null) {
    // A power cut came between.
    if (!record.parts.some(({ part }) => part === CLEARED)) await clear(deps, record, record.parts);
    return false;
  }
  const found = await findCard(deps, record);
  if (found === null) return false;
  const { file, card } = found;
  log.info(`first boot: reads ${file}`);
  const parts: Part[] = [];
  for (const [part, done, work] of steps(deps, card, signal)) {
    const result = await attempt(part, done, work, signal);
    parts.push(result);
    if (result.ok) log.info(`first boot: ${part}: ${result.detail}`);
    else log.warn(`first boot: ${part}: ${result.detail}`);
  }
  const made: FirstBootRecord = {
    version: 1,
    file,
    read_at: new Date(deps.now()).toISOString(),
    parts,
    problem: null,
  };
  await write(deps, made);
  await clear(deps, made, parts);
  const { agent, radio } = deps.config;
  const wanted = [card.profile ?? agent.profile, card.name ?? agent.name, card.country ?? radio.region];
  return wanted.join('\n') !== [agent.profile, agent.name, radio.region].join('\n');
}

/** The file's content; null where there is none, or it is refused, which is then in the log and in the record. */
async function findCard(
  deps: CardDeps,
  before: FirstBootRecord | null,
): Promise<{ readonly file: string; readonly card: Card } | null> {
  for (const file of deps.files) {
    try {
      const text = await readOwn(file, OTHERS_WRITE, MAX_CARD_BYTES);
      // Loaded once in the life of a node, with YAML.
      if (text !== null)
        return { file, card: (await import('../../../shared/first-boot/card-file.ts')).parseCard(text) };
    } catch (error) {
      const problem = messageOf(error);
      deps.log.error(`first boot: ${file} is refused, and nothing of it is applied: ${problem}`);
      const read = new Date(deps.now()).toISOString();
      if (before?.problem !== problem)
        await write(deps, { version: 1, file, read_at: read, parts: null, problem });
      return null;
    }
  }
  return null;
}

type Step = readonly [part: string, done: string, work: () => Promise<unknown>];

function steps(
  deps: CardDeps,
  { profile, name, country, hotspot, wifi }: Card,
  signal: AbortSignal,
): readonly Step[] {
  const { paths, deviceId, config, helper, network } = deps;
  const label = hostLabel(deviceId, name ?? config.agent.name);
  const patient = async (work: () => Promise<unknown>): Promise<unknown> =>
    patiently(work, deps.monotonic, signal);
  const own: Step[] = [['host name', `It is ${label}.`, async () => helper.host_name({ name: label })]];
  if (profile !== null)
    own.push(['profile', `It is a ${profile}.`, async () => setConfigKey(paths, 'agent.profile', profile)]);
  if (name !== null)
    own.push(['name', `It is called ${name}.`, async () => setConfigKey(paths, 'agent.name', name)]);
  if (country !== null)
    own.push([
      'country',
      `Radio and Wi-Fi keep to the rules of ${country}.`,
      async () => {
        await setConfigKey(paths, 'radio.region', country);
        await patient(async () => helper.wifi_on({ country }));
      },
    ]);
  if (hotspot !== null)
    own.push([
      'hotspot',
      hotspot.passphrase === null ? 'Its name is kept.' : 'Its passphrase is kept.',
      async () => patient(async () => deps.hotspot.prepare(hotspot.ssid, hotspot.passphrase)),
    ]);
  if (wifi !== null) {
    const { ssid, passphrase, hidden } = wifi;
    const request = { ssid, hidden, stop_hotspot: true, ...(passphrase === null ? {} : { passphrase }) };
    own.push(['Wi-Fi', `It has joined ${ssid}.`, async () => patient(async () => network.join(request))]);
  }
  return own;
}

async function attempt(
  part: string,
  done: string,
  work: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<Part> {
  try {
    await work();
    return { part, ok: true, detail: done };
  } catch (error) {
    signal.throwIfAborted(); // the next start begins anew
    return { part, ok: false, detail: messageOf(error) };
  }
}

async function patiently(
  work: () => Promise<unknown>,
  now: () => number,
  signal: AbortSignal,
): Promise<unknown> {
  const end = now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error) || now() + PAUSE_MS > end) throw error;
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return PASSING.has(error.code) || error.extras['missing'] === 'Wi-Fi card';
}

/** Whatever came of the file: it is not read again, so its passphrases are of no more use. */
async function clear(deps: CardDeps, record: FirstBootRecord, parts: readonly Part[]): Promise<void> {
  const { helper, log } = deps;
  const cleared = await helper.first_boot_done({}).then(
    () => ({ part: CLEARED, ok: true, detail: 'None is left on the card.' }),
    (error: unknown) => ({ part: CLEARED, ok: false, detail: messageOf(error) }),
  );
  if (!cleared.ok) log.warn(`first boot: ${record.file}: ${cleared.detail}`);
  await write(deps, { ...record, parts: [...parts, cleared] });
}

async function write({ paths }: CardDeps, record: FirstBootRecord): Promise<void> {
  await firstBootFile(paths.firstBoot).write(record);
}
