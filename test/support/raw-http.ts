import { connect } from 'node:net';

export interface RawAnswer {
  /** Everything the server sent, answers before the last one (100) too. */
  readonly text: string;
  /** Of the first answer. */
  readonly status: number | null;
  /** Whether the server closed the connection. One that announces it is waited for. */
  readonly closed: boolean;
}

/** The longest wait for an answer, and for a close that was announced. */
const LIMIT_MS = 20_000;

/**
 * Sends exactly these bytes and collects the answer: to its end, or to the server's close. Whatever an HTTP client library
 * would mend or refuse goes out as it is.
 */
export async function rawHttp(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    let closed = false;
    const text = (): string => Buffer.concat(chunks).toString('latin1');
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the server neither answered to the end nor closed within 20 s: ${text()}`));
    }, LIMIT_MS);
    const done = (): void => {
      clearTimeout(late);
      socket.destroy();
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text())?.[1];
      resolve({ text: text(), status: status === undefined ? null : Number(status), closed });
    };
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') closed = true;
      else {
        clearTimeout(late);
        reject(error);
      }
    });
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isWhole(text())) done();
    });
    socket.on('end', () => {
      closed = true;
    });
    socket.on('close', () => {
      closed = true;
      done();
    });
  });
}

/** Whether the last answer is there, and the connection stays open after it. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const head = text.slice(0, end).toLowerCase();
  const rest = text.slice(end + 4);
  if (/^http\/1\.1 1(?!01)/.test(head)) return isWhole(rest);
  if (/\r\nconnection: close/.test(head)) return false;
  if (/\r\ntransfer-encoding: chunked/.test(head)) return rest.endsWith('0\r\n\r\n');
  return rest.length >= Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
}

/** The JSON body of an answer. */
export function rawBody({ text }: RawAnswer): Record<string, unknown> {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
}
