import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import fc from 'fast-check';
import cmdCommands from '../../bin/commands/cmd.ts';
import { ROOT } from '../support/node.ts';

const VERDICT = {
  status: 'accepted',
  cmd: 'goto',
  ack: { observed: true, result: 0, result_name: 'ACCEPTED', accepted: true },
};

describe('what is typed is what is sent', function () {
  this.timeout(120_000);
  let server: Server;
  let got: unknown[] = [];
  const sent = async (...words: string[]): Promise<unknown> => {
    got = [];
    const { port } = server.address() as AddressInfo;
    await cmdCommands.cmd.run([...words, '--host', `127.0.0.1:${port}`, '--json'], { root: ROOT });
    expect(got, words.join(' ')).to.have.length(1);
    return got[0];
  };
  const { log } = console;

  before(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.method === 'POST') got.push(JSON.parse(body));
        response.setHeader('content-type', 'application/json').end(JSON.stringify(VERDICT));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    console.log = () => undefined; // what the command prints
  });
  after(() => {
    console.log = log;
    server.close();
  });

  for (const [words, args] of [
    ['goto 30 31 30', [30, 31, 30]],
    ['orbit 20 5 48.1 11.5 20', [20, 5, 48.1, 11.5, 20]],
    ['yaw 45 20 45', [45, 20, 45]],
    ['goto -35 -35 -35', [-35, -35, -35]],
  ] as const)
    it(`svc cmd ${words}`, async () => {
      expect(await sent(...words.split(' '))).to.deep.include({ args });
    });

  it('for any arguments, equal ones too, with flags among them', async () => {
    const number = fc.constantFrom(-20, -5, 0, 5, 5.5, 20, 48.1);
    const flag = fc.constantFrom([], ['--allow-far'], ['--confirm', '5'], ['--confirm=20']);
    await fc.assert(
      fc.asyncProperty(
        fc.array(number, { minLength: 5, maxLength: 5 }),
        flag,
        fc.nat(5),
        async (args, extra, at) => {
          const words = args.map(String);
          words.splice(at, 0, ...extra);
          expect(await sent('orbit', ...words)).to.deep.include({ cmd: 'orbit', args });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a flag that does not exist is no argument', async () => {
    const refused = await sent('goto', '1', '2', '3', '--allow-fra').then(
      () => 'sent',
      (error: unknown) => String(error),
    );
    expect(refused).to.include('--allow-fra');
    expect(got).to.deep.equal([]);
  });

  it('no command reads the arguments that oclif sorts', () => {
    const files = readdirSync(join(ROOT, 'bin'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const wrong = files.filter((name) =>
      /\bargv\b[^;=]*=\s*await\b/.test(readFileSync(join(ROOT, 'bin', name), 'utf8')),
    );
    expect(wrong).to.deep.equal([]);
  });
});
