import { connect } from 'node:net';

export interface RawAnswer {
  /** Everything the server sent until it closed the connection or fell silent. */
  readonly text: string;
  readonly status: number | null;
  readonly closed: boolean;
}

/**
 * Sends exactly these bytes and collects the answer, up to the server's close or `quietMs` of silence after it.
 * Whatever an HTTP client library would mend or refuse goes out as it is.
 */
export async function rawHttp(port: number, bytes: string | Buffer, quietMs = 300): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    let closed = false;
    let late: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(late);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      resolve({ text, status: status === undefined ? null : Number(status), closed });
    };
    late = setTimeout(() => {
      socket.destroy();
      reject(new Error('the server neither answered nor closed within 20 s'));
    }, 20_000);
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
      socket.setTimeout(quietMs, done);
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

/** The JSON body of an answer. */
export function rawBody({ text }: RawAnswer): Record<string, unknown> {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
}
