import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { signRelayTicket } from '../../front/edge/relay.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { deriveTokenKey, signToken } from '../../shared/auth/token.ts';
import { enabledFeatures, parseConfig } from '../../shared/config.ts';
import { ERRORS, isErrorCode } from '../../shared/errors.ts';
import type { Row } from '../../shared/routes/row.ts';
import { KEY } from '../support/edge.ts';
import { MATRIX_ROWS } from '../support/matrix.ts';
import { TestNode } from '../support/node.ts';
import { CREDENTIALS, type Credential, oracle } from '../support/oracle.ts';
import { harmlessBody, sendRow, targetOf } from '../support/send-row.ts';

const features = enabledFeatures(parseConfig('', 'defaults'));
const SECRET = randomBytes(32);
// An address that is not this machine's: with a loopback Host a caller from here, run by root, would be trusted on-box.
const ELSEWHERE = { host: '192.168.1.7:8080' };

describe('C1 every row with every real credential, over real sockets', () => {
  let node: TestNode;
  const tokens = new Map<string, string>();
  let session = '';
  let nonce = 0;
  const key = { 'x-svc-key': KEY };

  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, config: 'mcp:\n  token_accept_enabled: true\n' });
    await writeFile(node.paths.relaySecret, SECRET.toString('hex'), { mode: 0o600 });
    expect((await node.post('/api/dashboard/pin/set', { pin: '2468' }, key)).status).to.equal(200);
    session = String((await node.post('/api/dashboard/pin/verify', { pin: '2468' })).body['session']);
    for (const scope of SCOPES) {
      const scopes = scope === 'secret_read' ? ['read', scope] : [scope];
      tokens.set(
        `token:${scope}`,
        String((await node.post('/api/mcp/tokens', { scopes }, key)).body['token']),
      );
    }
    const revoked = await node.post('/api/mcp/tokens', { scopes: ['read'] }, key);
    tokens.set('revoked token', String(revoked.body['token']));
    await node.post('/api/mcp/revoke', { token_id: revoked.body['token_id'] }, key);
    // Expired: what this very node would have minted, with a life that is over.
    const { device_id: id } = (await node.json('/api/pairing/info')).body;
    const store = JSON.parse(await readFile(node.paths.mcpToken, 'utf8')) as { salt: string };
    const tokenKey = deriveTokenKey(KEY, Buffer.from(store.salt, 'hex'));
    tokens.set(
      'expired token',
      signToken(tokenKey, {
        tokenId: 'mct_00112233445566778899aabb',
        operatorId: 'local',
        iss: `agent:${String(id)}`,
        scopes: ['read'],
        allowedNodes: [],
        expiresAt: Date.now() - 1,
        label: '',
      }),
    );
  });
  after(async () => node.stop());

  async function headersOf(credential: Credential, row: Row): Promise<Record<string, string>> {
    switch (credential) {
      case 'none':
        return ELSEWHERE;
      case 'onbox':
        return { host: `localhost:${node.port}` };
      case 'wrong key':
        return { ...ELSEWHERE, 'x-svc-key': 'svc_wrong' };
      case 'key':
        return { ...ELSEWHERE, ...key };
      case 'session':
        return { ...ELSEWHERE, 'x-svc-dashboard-session': session };
      case 'ticket': {
        const scope = row.ticket?.replace(/\{[a-z_]+\}/, 'x1') ?? 'telemetry';
        const { body } = await node.post('/api/_ws/ticket', { scope }, key);
        return { ...ELSEWHERE, 'sec-websocket-protocol': `svc-ws-ticket, ${String(body['ticket'])}` };
      }
      case 'relay': {
        const bodyHash = createHash('sha256')
          .update(harmlessBody(row) ?? '')
          .digest('hex');
        const method = row.method === 'WS' ? 'GET' : row.method;
        const ticket = signRelayTicket(SECRET, 'gs-1', Math.floor(Date.now() / 1000), `nonce-${++nonce}-x`, {
          method,
          target: targetOf(row),
          bodyHash,
        });
        return { ...ELSEWHERE, 'x-svc-relayed': '1', 'x-svc-relay-ticket': ticket };
      }
      default:
        return { ...ELSEWHERE, 'x-svc-mcp-token': tokens.get(credential) ?? '' };
    }
  }

  for (const credential of CREDENTIALS) {
    it(credential, async () => {
      for (const row of MATRIX_ROWS) {
        const wanted = oracle({ row, credential, from: 'loopback', paired: true, features });
        // A token of secret_read holds read as well: it may not be minted alone.
        const mayRead = credential === 'token:secret_read' && row.scope === 'read';
        let answer = await sendRow(node.port, row, await headersOf(credential, row));
        // A relayed caller is not exempt from the budget of 60 a second.
        while (answer.body['code'] === 'E_RATE_LIMITED') {
          await wait(1000);
          answer = await sendRow(node.port, row, await headersOf(credential, row));
        }
        const { status, body } = answer;
        const { code } = body;
        const at = `${row.method} ${row.path}: ${status} ${String(code)}`;
        if (wanted === 'pass' || (mayRead && status !== 501)) {
          expect(status, at).to.be.oneOf([101, 200, 404, 409, 422, 503]);
        } else if (!mayRead) {
          expect(code, at).to.equal(wanted);
          expect(isErrorCode(code) && ERRORS[code][0], at).to.equal(status);
        }
      }
    });
  }
});
