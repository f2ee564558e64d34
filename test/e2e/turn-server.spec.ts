import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { classes, createTurnClient, Message, methods } from 'werift';
import { turnCredentials } from '../../shared/video/turn-credentials.ts';
import { noCoturn } from '../support/nat-world.ts';
import { ROOT } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const SECRET = 'the-secret-of-this-test-0123456789';
/** RFC 8656 19: forbidden. */
const FORBIDDEN = 403;

/** Where the example's coturn must not relay to, and one address to which it does. */
const DENIED = {
  '127.0.0.1': [
    '0.0.0.0',
    '0.0.0.1',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ],
  '::1': [
    '::',
    '::1',
    '::a01:203',
    '::ffff:10.1.2.3',
    '64:ff9b::a01:203',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:a01:203::1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
  ],
} as const;
const ALLOWED = { '127.0.0.1': '9.9.9.9', '::1': '2620:fe::fe' } as const;

describe('the TURN server that we ship a configuration of', function () {
  this.timeout(60_000);
  before(function () {
    if (noCoturn() !== null) this.skip();
  });

  for (const address of ['127.0.0.1', '::1'] as const)
    it(`relays to nothing behind it, and not to what means another address: from ${address}`, async () => {
      const folder = await tempDir();
      const port = await freePort();
      const options = {
        '-c': join(ROOT, 'deploy/turn/turnserver.conf'),
        '--static-auth-secret': SECRET,
        '-L': address,
        '-E': address,
        '-p': String(port),
        '--realm': 'svc.test',
        '--log-file': 'stdout',
        '--pidfile': join(folder, 'pid'),
        '--userdb': join(folder, 'db'),
        '--allocation-default-address-family': 'keep',
        '-m': '1',
      };
      const server = spawn('turnserver', [...Object.entries(options).flat(), '--no-tls', '-v'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const ended = once(server, 'exit');
      try {
        await new Promise<void>((resolve) => {
          createInterface(server.stdout).on('line', (line) => {
            if (/TCP listener opened on/.test(line)) resolve();
          });
        });
        const { username, credential } = turnCredentials(SECRET, 'node', Date.now() / 1000 + 600);
        const turn = await createTurnClient(
          { address: [address, port], username, password: credential },
          { transport: 'udp', lifetime: 600 },
        );
        const refusal = async (peer: string): Promise<number> => {
          const request = new Message(methods.CREATE_PERMISSION, classes.REQUEST).setAttribute(
            'XOR-PEER-ADDRESS',
            [peer, 9],
          );
          try {
            await turn.requestWithRetry(request, turn.server, AbortSignal.timeout(3000));
            return 0;
          } catch (error) {
            const response = error instanceof Error && 'response' in error ? error.response : null;
            const [code]: readonly unknown[] =
              response instanceof Message ? response.getAttributeValue('ERROR-CODE') : [error];
            return Number(code);
          }
        };
        expect(await refusal(ALLOWED[address]), ALLOWED[address]).to.equal(0);
        for (const peer of DENIED[address]) expect(await refusal(peer), peer).to.equal(FORBIDDEN);
        await turn.close();
      } finally {
        server.kill('SIGKILL');
        await ended;
        await removeDir(folder);
      }
    });
});
