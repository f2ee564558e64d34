import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { enabledFeatures } from '../../shared/config/features.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { ERRORS, errorWord, isErrorCode } from '../../shared/errors.ts';
import { memberOf } from '../../shared/member.ts';
import type { Row } from '../../shared/routes/row.ts';
import { KEY } from '../support/edge.ts';
import { MATRIX_ROWS } from '../support/matrix.ts';
import { TestNode } from '../support/node.ts';
import { CREDENTIALS, type Credential, oracle } from '../support/oracle.ts';
import { bindTo, boundPair, DRONE } from '../support/radios.ts';
import { RealCredentials } from '../support/real-credentials.ts';
import { type Secured, securedBy } from '../support/secure.ts';
import { sendRow } from '../support/send-row.ts';
import { freePort } from '../support/temp.ts';

const features = enabledFeatures(parseConfig('', 'defaults'));
// An address that is not this machine's: with a loopback Host a caller from here, run by root, would be trusted on-box.
const ELSEWHERE = '192.168.1.7:8080';

describe('C1 every row with every real credential, over real sockets', () => {
  let node: TestNode;
  let credentials: RealCredentials;
  let relay: number;
  let secured: Secured;
  const pair = boundPair();

  before(async () => {
    relay = await freePort();
    node = await TestNode.start({
      tlsPort: await freePort(),
      pairing: { key: KEY },
      config: `mcp:\n  token_accept_enabled: true\nradio:\n  relay_port: ${relay}\n  tunnel:\n    drone: 127.0.0.2\n`,
      prepare: bindTo(DRONE, pair.atDrone),
    });
    secured = await securedBy(node);
    credentials = await RealCredentials.of(node, true);
  });
  after(async () => node.stop());

  const headersOf = async (credential: Credential, row: Row): Promise<Record<string, string>> =>
    credentials.headersOf(credential, row, ELSEWHERE);

  const send = async (credential: Credential, row: Row, door: 'HTTP' | 'HTTPS') =>
    sendRow(
      credential === 'relay' ? { port: relay, secret: pair.secret } : door === 'HTTP' ? node.port : secured,
      row,
      await headersOf(credential, row),
      await credentials.targetOf(credential, row),
    );

  const doors = CREDENTIALS.flatMap((credential) =>
    (credential === 'relay' ? (['HTTP'] as const) : (['HTTP', 'HTTPS'] as const)).map(
      (door) => [credential, door] as const,
    ),
  );
  for (const [credential, door] of doors) {
    it(`${credential} by ${door}`, async () => {
      for (const row of MATRIX_ROWS) {
        // None is given for what is not there yet.
        if (credential === 'read ticket' && row.readTicket !== null && !row.built) continue;
        const wanted = oracle({ row, credential, from: 'loopback', paired: true, features });
        // A token of secret_read holds read as well: it may not be minted alone.
        const mayRead = credential === 'token:secret_read' && row.scope === 'read';
        let answer = await send(credential, row, door);
        // A relayed caller is not exempt from the budget of 60 a second.
        while (errorWord(answer.body) === 'E_RATE_LIMITED') {
          await wait(1000);
          answer = await send(credential, row, door);
        }
        const { status, body } = answer;
        const code = errorWord(body);
        const at = `${row.method} ${row.path}: ${status} ${String(code)}`;
        if (wanted === 'pass' || (mayRead && status !== 501)) {
          // 400: no multipart form. 501: a program of this machine is missing, and the answer names it.
          const others = memberOf(body, 'missing') === undefined ? [] : [501];
          expect(status, at).to.be.oneOf([101, 200, 400, 404, 409, 415, 422, 503, ...others]);
        } else if (!mayRead) {
          expect(code, at).to.equal(wanted);
          expect(isErrorCode(code) && ERRORS[code][0], at).to.equal(status);
        }
      }
    });
  }
});
