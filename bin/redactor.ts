import { readFile } from 'node:fs/promises';
import { loadConfig } from '../shared/config/load.ts';
import { configSecrets, MASK } from '../shared/config/mask.ts';
import { messageOf } from '../shared/errors.ts';
import type { Paths } from '../shared/paths.ts';
import { redact } from '../shared/process/logger.ts';

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

export interface Redactor {
  /** Masks the secrets in a line of text: by pattern, and this node's own by value. */
  readonly redact: (line: string) => string;
  /** Files whose secrets could not be read and are only found by pattern, and why. */
  readonly unknown: readonly { readonly file: string; readonly why: string }[];
}

/** Reads this node's secrets, as far as the user may. */
export async function makeRedactor(paths: Paths): Promise<Redactor> {
  const unknown: { file: string; why: string }[] = [];
  const read = async (
    file: string,
    secretsOf: (text: string) => readonly string[],
  ): Promise<readonly string[]> => {
    try {
      return secretsOf(await readFile(file, 'utf8'));
    } catch (error) {
      const absent =
        typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
      if (!absent) unknown.push({ file, why: messageOf(error) });
      return [];
    }
  };
  const found = [
    ...(await Promise.all(
      SECRET_MEMBERS.map(async ({ file, members }) => read(paths[file], (text) => membersOf(text, members))),
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
    redact: (line) => redact(forms.reduce((text, form) => text.replaceAll(form, MASK), line)),
    unknown,
  };
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
