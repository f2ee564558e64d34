import winston from 'winston';

/** The logger of every process: one JSON object a line on stderr, with secrets masked. */
export type Logger = winston.Logger;

// Pairing keys, scoped tokens (two base64url halves), long hex (signing keys). Masking at the last step means that no call site
// can forget it. Patterns: docs/contract.md 5.
const SECRETS = /svc_[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\b[0-9a-fA-F]{64}\b/g;

/** `text` with `***` in place of everything that looks like a secret. */
export function redact(text: string): string {
  return text.replace(SECRETS, '***');
}

const line = winston.format.printf(({ level, message, time, service, ...rest }) =>
  redact(JSON.stringify({ time, level, service, msg: message, ...rest })),
);
const stamp = winston.format((info) => {
  info['time'] = new Date().toISOString();
  return info;
});

/** @param service the process's name as in docs/contract.md 1, for example `svc-control` */
export function createLogger(service: string, level = 'info'): Logger {
  return winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(stamp(), line),
    transports: [
      new winston.transports.Console({ stderrLevels: ['error', 'warn', 'info', 'debug', 'verbose'] }),
    ],
    exitOnError: false,
  });
}
