import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { chunksOf } from '../../shared/async/chunks.ts';
import type { Upload } from '../../shared/http/node-request.ts';
import type { OnProgress } from '../../shared/routes/handler.ts';

interface FormFile {
  /** On this machine. */
  readonly path: string;
  /** What the form calls it. */
  readonly name: string;
  readonly type: string;
}

/**
 * A multipart form (RFC 7578) with the field `file`, read from disk as it is sent, after text fields.
 * @returns the upload; it tells how far it is
 */
export async function formUpload(
  { path, name, type }: FormFile,
  fields: Readonly<Record<string, string>> = {},
): Promise<(show: OnProgress) => Upload> {
  const boundary = `svc-${randomBytes(12).toString('hex')}`;
  const part = (field: string, more: string, content: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${field}"${more}\r\n\r\n${content}`;
  const texts = Object.entries(fields).map(([field, content]) => `${part(field, '', content)}\r\n`);
  const head = Buffer.from(
    `${texts.join('')}${part('file', `; filename="${name}"\r\ncontent-type: ${type}`, '')}`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const { size } = await stat(path);
  const chunks = async function* (show: OnProgress): AsyncGenerator<Buffer> {
    let done = 0;
    yield head;
    for await (const chunk of chunksOf(createReadStream(path))) {
      yield chunk;
      done += chunk.length;
      show({ done, total: size, text: 'sending' });
    }
    yield tail;
  };
  return (show) => ({
    type: `multipart/form-data; boundary=${boundary}`,
    length: head.length + size + tail.length,
    content: Readable.from(chunks(show), { objectMode: false }),
  });
}
