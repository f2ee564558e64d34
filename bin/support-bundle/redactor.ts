import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../shared/config/load.ts';
import { configSecrets } from '../../shared/config/mask.ts';
import { messageOf } from '../../shared/errors.ts';
import { MASK, maskText } from '../../shared/mask.ts';
import type { Paths } from '../../shared/paths.ts';

/** Shorter secrets are not masked, since they would match everywhere. */
const LEAST_CHARS = 4;

/** Members of the node's files that are always secret. */
const SECRET_MEMBERS = [
  { file: 'pairing', members: ['api_key'] },
  { file: 'dashboardPin', members: ['pin_hash', 'salt'] },
  { file: 'mcpToken', members: ['salt'] },
  { file: 'radioPairs', members: ['own_secret', 'relay_secret'] },
  { file: 'fleet', members: ['key', 'signing_key'] },
] as const;

/** Folders of secrets, a file each, and how they may be written elsewhere. */
const SECRET_FOLDERS = [
  { folder: 'radioKeys', secretsOf: halvesOf },
  { folder: 'signingDir', secretsOf: (bytes: Buffer) => membersOf(bytes.toString(), ['key_hex']) },
] as const;

/**
 * What follows a word that announces a secret: others' passwords, as those of Wi-Fi, are in no file that this node may read. As JSON (also
 * in JSON within JSON) and as `word=value`, which may have spaces up to the next `word=`; and one word after it.
 */
const ANNOUNCED =
  /(\b(?:passphrase|password|passwd|psk|secret|api[_-]?key|pin)\b(\\*["'])?[ \t]*[:=][ \t]*)(?:(\\*["'])(?:(?!\3).)*?\3|(?!true\b|false\b|null\b)[^\s"'\\,;{}&()[\]]+(?:[ \t]+(?![\w.-]+[=:])[^\s"'\\,;{}&()[\]]+)*)/gi;
const SPOKEN = /(\b(?:passphrase|password|passwd|psk)[ \t]+)[^\s"'\\,;{}&()[\]=:]+/gi;
const KEY_BLOCK = /-----BEGIN ([A-Z ]{0,20}PRIVATE KEY)-----[\s\S]{0,8192}?-----END \1-----/g;
/** The password in an address. */
const IN_ADDRESS = /([a-z][a-z0-9+.-]{0,15}:\/\/[^\s/@:"]{0,128}):[^\s"/]{1,256}@/gi;

export interface Redactor {
  /** Masks the secrets in whole lines of text: by pattern, and this node's own by value. */
  readonly redact: (lines: string) => string;
  /** Files whose secrets could not be read and are only found by pattern, and why. */
  readonly unknown: readonly { readonly file: string; readonly why: string }[];
}

/** Reads this node's secrets, as far as the user may. */
export async function makeRedactor(paths: Paths): Promise<Redactor> {
  const unknown: { file: string; why: string }[] = [];
  const read = async (
    file: string,
    secretsOf: (bytes: Buffer) => readonly string[],
  ): Promise<readonly string[]> => {
    try {
      return secretsOf(await readFile(file));
    } catch (error) {
      const absent =
        typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
      if (!absent) unknown.push({ file, why: messageOf(error) });
      return [];
    }
  };
  const found = [
    ...(await Promise.all(
      SECRET_MEMBERS.map(async ({ file, members }) =>
        read(paths[file], (bytes) => membersOf(bytes.toString(), members)),
      ),
    )),
    ...(await Promise.all(
      SECRET_FOLDERS.map(async ({ folder, secretsOf }) => {
        const names = await readdir(paths[folder]).catch(() => []); // no folder, or not for this user: found by pattern
        return (
          await Promise.all(names.map(async (name) => read(join(paths[folder], name), secretsOf)))
        ).flat();
      }),
    )),
    // A broken config may contain a password too; the last good copy most likely has it.
    configSecrets((await loadConfig(paths)).config),
  ];
  const forms = [
    ...new Set(
      found
        .flat()
        .filter((value) => value.length >= LEAST_CHARS)
        .flatMap(formsOf),
    ),
  ];
  // Longer ones first, in case one is a prefix of another.
  forms.sort((a, b) => b.length - a.length);
  return {
    redact: (lines) =>
      maskText(
        forms
          .reduce((text, form) => text.replaceAll(form, MASK), lines)
          .replaceAll(KEY_BLOCK, MASK)
          .replaceAll(IN_ADDRESS, `$1:${MASK}@`)
          .replaceAll(ANNOUNCED, maskAnnounced)
          .replaceAll(SPOKEN, `$1${MASK}`),
      ),
    unknown,
  };
}

/** Keeps JSON valid: a number in it becomes a text. */
function maskAnnounced(_match: string, word: string, quoted: string | undefined, around?: string): string {
  const quote = around ?? quoted ?? '';
  return `${word}${quote}${MASK}${quote}`;
}

/** A key file of wfb-ng is two keys of 32 bytes. */
function halvesOf(bytes: Buffer): readonly string[] {
  return [bytes.subarray(0, 32), bytes.subarray(32), bytes].flatMap((part) => [
    part.toString('hex'),
    part.toString('base64'),
  ]);
}

/** The secret as plain text, in JSON and in a URL. */
function formsOf(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
}

/** At whatever depth. */
function membersOf(text: string, members: readonly string[]): readonly string[] {
  const found: string[] = [];
  JSON.parse(text, (name, value: unknown) => {
    if (members.includes(name) && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}
