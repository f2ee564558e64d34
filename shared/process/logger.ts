/** The logger of every process: one JSON object a line on stderr, with secrets masked. */
export type Logger = Readonly<Record<Level, Write>>;

/** @param more further members of the line; those of every line (`time`, `level`, `service`, `msg`) stay what they are */
type Write = (msg: string, more?: Readonly<Record<string, unknown>>) => unknown;

/** From the most urgent to the least. */
const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type Level = (typeof LEVELS)[number];

// Pairing keys, scoped tokens (two base64url halves), long hex (signing keys). Masking at the last step means that no call site
// can forget it. Patterns: docs/contract.md 5.
const SECRETS = /svc_[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\b[0-9a-fA-F]{64}\b/g;

/** `text` with `***` in place of everything that looks like a secret. */
export function redact(text: string): string {
  return text.replace(SECRETS, '***');
}

/**
 * Not winston: it and what it needs are 60 files and a megabyte in each process, to write a line (docs/footprint.md).
 * @param service the process's name as in docs/contract.md 1, for example `svc-control`
 * @param level the least urgent that is written; a name that is none of them writes nothing
 */
export function createLogger(service: string, level = 'info'): Logger {
  const written = LEVELS.slice(0, LEVELS.findIndex((each) => each === level) + 1);
  const writer = (each: Level): [Level, Write] => [
    each,
    (msg, more) => {
      if (!written.includes(each)) return;
      const always = { time: new Date().toISOString(), level: each, service, msg };
      process.stderr.write(`${redact(JSON.stringify({ ...always, ...more, ...always }))}\n`);
    },
  ];
  return Object.fromEntries(LEVELS.map(writer)) as Logger;
}
