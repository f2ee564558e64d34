import { access, constants, lstat, readFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { loadConfig } from '../../shared/config/load.ts';
import { codeOf, messageOf } from '../../shared/errors.ts';
import { distrust } from '../../shared/files/private-file.ts';
import { firstBootFile } from '../../shared/first-boot/record.ts';
import type { Paths } from '../../shared/paths.ts';
import { type Check, fail, guarded, ok, skip, warn } from './check.ts';

/** Checks of the files, whether the node runs or not. */

const LEAST_FREE = { fail: 0.02, warn: 0.1 } as const;

export async function checkFiles(paths: Paths): Promise<readonly Check[]> {
  const owner = await ownerOf(paths.state);
  return Promise.all([
    ...[paths.etc, paths.state, paths.run].map(async (path) =>
      guarded(`folder ${path}`, async () => directory(path, owner)),
    ),
    guarded('config', async () => config(paths)),
    ...SECRET_FILES.map(async ({ name, key, advice }) =>
      guarded(name, async () => secretFile(name, paths[key], advice)),
    ),
    ...RAW_SECRETS.map(async ({ name, key }) => guarded(name, async () => trust(name, paths[key]))),
    guarded('first boot', async () => firstBoot(paths.firstBoot)),
    guarded('disk', async () => disk(paths.state)),
  ]);
}

const SECRET_FILES = [
  { name: 'pairing file', key: 'pairing', advice: 'Claim the node again, or restore pairing.json.bak.' },
  { name: 'PIN file', key: 'dashboardPin', advice: 'Set the PIN again with the pairing key.' },
  { name: 'token store', key: 'mcpToken', advice: 'Run `sudo svc mcp revoke --all`, then mint new tokens.' },
  { name: 'sessions', key: 'sessions', advice: 'Remove it: everybody signs in again.' },
  { name: 'bound radios', key: 'radioPairs', advice: 'Remove it, and bind the radios again.' },
  { name: 'place in a fleet', key: 'fleet', advice: 'Run `svc fleet leave`, and enrol again.' },
  { name: 'locks of peers', key: 'peerLocks', advice: 'Remove it, and restart the node.' },
] as const;
/** Secrets that are not JSON. */
const RAW_SECRETS = [{ name: 'key of the audit', key: 'auditKey' }] as const;

/** The user of the node: the owner of its state folder. Null if there is none yet. */
async function ownerOf(path: string): Promise<number | null> {
  return lstat(path).then(
    ({ uid }) => uid,
    () => null, // the folder's own check says so
  );
}

async function directory(path: string, owner: number | null): Promise<Check> {
  const name = `folder ${path}`;
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return warn(name, 'It is not there.', 'Start the node once.');
  if (!found.isDirectory())
    return fail(name, 'It is not a folder.', 'Move it away and start the node again.');
  if ((found.mode & 0o002) !== 0)
    return fail(name, 'Everybody may write in it.', `Run: sudo chmod o-w ${path}`);
  if (found.uid !== 0 && owner !== null && found.uid !== owner)
    return fail(
      name,
      `It belongs to user ${found.uid}; the state belongs to user ${owner}.`,
      `Run: sudo chown ${owner} ${path}`,
    );
  const writable = await access(path, constants.W_OK).then(
    () => true,
    () => false, // run by another user than the node's
  );
  return ok(
    name,
    `There, mode ${(found.mode & 0o777).toString(8)}, of user ${found.uid}${writable ? '' : ', not writable for you'}.`,
  );
}

async function config(paths: Paths): Promise<Check> {
  await readableConfig(paths);
  const { problem } = await loadConfig(paths);
  return problem === null
    ? ok('config', `${paths.config} is valid, or absent.`)
    : fail('config', problem, 'Repair the file; until then the last good copy is used.');
}

/** @throws EACCES: this user may not read it, which is not a fault of the node */
export async function readableConfig(paths: Paths): Promise<void> {
  await access(paths.config, constants.R_OK).catch((error: unknown) => {
    if (codeOf(error) === 'EACCES') throw error; // the check reports any other error
  });
}

/** Whether the node accepts the file's type, owner and mode. */
async function trust(name: string, path: string): Promise<Check> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return skip(name, `${path} does not exist: nothing was set.`);
  if (found.isSymbolicLink())
    return fail(name, `${path} is a symbolic link; the node does not follow it.`, 'Remove it.');
  const why = distrust(path, found);
  if (why !== null)
    return fail(
      name,
      `${path} ${why}; the node refuses it.`,
      `Find out who changed it, then: sudo chown --reference=${dirname(path)} ${path} && sudo chmod 600 ${path}`,
    );
  return ok(name, `${path} is private.`);
}

async function secretFile(name: string, path: string, advice: string): Promise<Check> {
  const trusted = await trust(name, path);
  if (trusted.result !== 'ok') return trusted;
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null
      ? ok(name, `${path} is readable and private.`)
      : fail(name, `${path} holds no object.`, advice);
  } catch (error) {
    if (codeOf(error) === 'EACCES') return skip(name, `You may not read ${path}; use sudo.`);
    return fail(name, `${path}: ${messageOf(error)}`, advice);
  }
}

/** What came of svc.yaml on the card. */
async function firstBoot(file: string): Promise<Check> {
  const name = 'first boot';
  const record = await firstBootFile(file).load();
  if (record === null) return skip(name, 'No svc.yaml was read from the card.');
  if (record.parts === null)
    return fail(
      name,
      `${record.file} was refused, and nothing of it was applied: ${record.problem ?? 'unknown'}`,
      'Correct it; it is read again when the node starts, unless the node is paired by then.',
    );
  const failed = record.parts.filter(({ ok: done }) => !done);
  const names = record.parts.map(({ part }) => part).join(', ');
  if (failed.length === 0) return ok(name, `${record.file} was read and applied: ${names}.`);
  return warn(
    name,
    `Of ${record.file}: ${failed.map(({ part, detail }) => `${part}: ${detail}`).join(' ')}`,
    'It is not read again: do this on the page, or with svc.',
  );
}

async function disk(path: string): Promise<Check> {
  const found = await statfs(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return skip('disk', `${path} is not there yet.`);
  if (found.blocks === 0) return skip('disk', 'This file system does not report its size.');
  const free = found.bavail / found.blocks;
  const inodes = found.files === 0 ? 1 : found.ffree / found.files;
  const least = Math.min(free, inodes);
  const text = `${(free * 100).toFixed(0)} % of the space and ${(inodes * 100).toFixed(0)} % of the inodes are free.`;
  const advice = 'Delete recordings (`DELETE /api/video/recordings/{name}`), or lower logging.store.max_mb.';
  if (least < LEAST_FREE.fail) return fail('disk', text, advice);
  return least < LEAST_FREE.warn ? warn('disk', text, advice) : ok('disk', text);
}
