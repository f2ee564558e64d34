import winston from 'winston';
import { maskText } from '../mask.ts';

/** The logger of every process: one JSON object a line on stderr, with secrets masked. */
export type Logger = winston.Logger;

const line = winston.format.printf(({ level, message, time, service, ...rest }) =>
  maskText(JSON.stringify({ time, level, service, msg: message, ...rest })),
);
const stamp = winston.format((info) => {
  info['time'] = new Date().toISOString();
  return info;
});

/** @param service the process's name as in docs/contract/node.md#processes, for example `svc-control` */
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
