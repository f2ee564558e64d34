import { join } from 'node:path';
import winston from 'winston';

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_FILES = 3;

interface LogFile {
  readonly path: string;
  write(line: string): void;
  close(): Promise<void>;
}

/** The log file of all processes if there is no journal: `svc.log`, rotated at 5 MiB, three are kept. */
export function openLogFile(directory: string): LogFile {
  const path = join(directory, 'svc.log');
  const file = new winston.transports.File({
    filename: path,
    maxsize: MAX_BYTES,
    maxFiles: MAX_FILES,
    tailable: true,
  });
  const logger = winston.createLogger({
    format: winston.format.printf(({ message }) => String(message)),
    transports: [file],
  });
  return {
    path,
    write(line) {
      logger.info(line);
    },
    async close() {
      const finished = new Promise<void>((resolve) => file.once('finish', () => resolve()));
      logger.end();
      await finished;
    },
  };
}
