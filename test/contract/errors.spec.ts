import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { expect } from 'chai';
import { messageOf } from '../../shared/errors.ts';
import { freePort } from '../support/temp.ts';

/** What the machine itself says of each fault, and what a person reads of it. */
const FAULTS: readonly (readonly [string, () => Promise<unknown>, RegExp])[] = [
  [
    'a file that is not there',
    async () => readFile('/nowhere/x'),
    /^\/nowhere\/x does not exist \(ENOENT\)$/,
  ],
  ['a file that is a directory', async () => readFile('/tmp'), /^EISDIR|is a directory/],
  [
    'a directory that is a file',
    async () => readdir('/etc/passwd'),
    /^\/etc\/passwd has a file where .* \(ENOTDIR\)$/,
  ],
  [
    'a port where nobody listens',
    async () => {
      const port = await freePort();
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
    },
    /^127\.0\.0\.1:\d+ refused the connection \(ECONNREFUSED\)$/,
  ],
  [
    'a port that is taken',
    async () => {
      const first = createServer().listen(0, '127.0.0.1');
      await once(first, 'listening');
      try {
        const { port } = first.address() as { port: number };
        await once(createServer().listen(port, '127.0.0.1'), 'listening');
      } finally {
        first.close();
      }
    },
    /^127\.0\.0\.1:\d+ is in use by another program \(EADDRINUSE\)$/,
  ],
  [
    'a name that nobody has',
    async () => lookup('nobody.invalid'),
    /^nobody\.invalid (?:is an unknown host name|could not be looked up) \((?:ENOTFOUND|EAI_AGAIN)\)$/,
  ],
];

describe('an error of the system, in words', () => {
  for (const [name, run, words] of FAULTS)
    it(name, async () => {
      const error = await run().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(messageOf(error)).to.match(words);
    });
  it('an error without a place, and what is none, stay as they are', () => {
    expect(messageOf(new Error('it broke'))).to.equal('it broke');
    expect(messageOf(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))).to.equal('write EPIPE');
    expect(messageOf(7)).to.equal('7');
  });
});
