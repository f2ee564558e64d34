import { readFile } from 'node:fs/promises';
import { RELAY_CALLER_HEADER } from '../../front/control/edge/relay.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { deriveTokenKey, signToken } from '../../shared/auth/token.ts';
import type { Row } from '../../shared/routes/row.ts';
import { KEY } from './edge.ts';
import type { TestNode } from './node.ts';
import type { Credential } from './oracle.ts';
import { targetOf, withReadTicket } from './send-row.ts';

const PIN = '2468';

/** One of each credential that a running node gives out, and two tokens that no longer hold. */
export class RealCredentials {
  readonly #node: TestNode;
  readonly #tokens = new Map<string, string>();
  #session = '';

  private constructor(node: TestNode) {
    this.#node = node;
  }

  /** On an unpaired node there are sessions only; everything else is something of the right shape. */
  static async of(node: TestNode, paired: boolean): Promise<RealCredentials> {
    const made = new RealCredentials(node);
    const key: Record<string, string> = paired ? { 'x-svc-key': KEY } : {};
    await node.post('/api/dashboard/pin/set', { pin: PIN }, key);
    made.#session = String((await node.post('/api/dashboard/pin/verify', { pin: PIN })).body['session']);
    if (paired) await made.#mint(key);
    return made;
  }

  async #mint(key: Record<string, string>): Promise<void> {
    const node = this.#node;
    for (const scope of SCOPES) {
      const scopes = scope === 'secret_read' ? ['read', scope] : [scope];
      const { body } = await node.post('/api/mcp/tokens', { scopes }, key);
      this.#tokens.set(`token:${scope}`, String(body['token']));
    }
    const revoked = await node.post('/api/mcp/tokens', { scopes: ['read'] }, key);
    this.#tokens.set('revoked token', String(revoked.body['token']));
    await node.post('/api/mcp/revoke', { token_id: revoked.body['token_id'] }, key);
    // Expired: what this very node would have minted, with a life that is over.
    const { device_id: id } = (await node.json('/api/pairing/info')).body;
    const store = JSON.parse(await readFile(node.paths.mcpToken, 'utf8')) as { salt: string };
    const claims = {
      tokenId: 'mct_00112233445566778899aabb' as const,
      operatorId: 'local',
      iss: `agent:${String(id)}`,
      scopes: ['read' as const],
      allowedNodes: [],
      expiresAt: Date.now() - 1,
      label: '',
    };
    this.#tokens.set('expired token', signToken(deriveTokenKey(KEY, Buffer.from(store.salt, 'hex')), claims));
  }

  /** Where the credential is part of it, with one for this row, or one for another row if this one takes none. */
  async targetOf(credential: Credential, row: Row): Promise<string> {
    if (credential !== 'read ticket') return targetOf(row);
    const path =
      row.readTicket === 'query'
        ? targetOf(row)
        : row.readTicket === 'segment'
          ? targetOf(row).replace(/\/x1$/, '')
          : '/api/logs/export';
    const { body } = await this.#node.post('/api/_ws/ticket', { scope: 'get', path }, { 'x-svc-key': KEY });
    return withReadTicket(row, String(body['ticket']));
  }

  /** @param host the Host header of everything but `onbox`, whose is localhost */
  async headersOf(credential: Credential, row: Row, host: string): Promise<Record<string, string>> {
    const elsewhere = { host };
    switch (credential) {
      case 'none':
      case 'read ticket':
        return elsewhere;
      case 'onbox':
        return { host: `localhost:${this.#node.port}` };
      case 'wrong key':
        return { ...elsewhere, 'x-svc-key': 'svc_wrong' };
      case 'key':
        return { ...elsewhere, 'x-svc-key': KEY };
      case 'session':
        return { ...elsewhere, 'x-svc-dashboard-session': this.#session };
      case 'ticket': {
        const scope = row.ticket?.replace(/\{[a-z_]+\}/, 'x1') ?? 'telemetry';
        const { body } = await this.#node.post('/api/_ws/ticket', { scope }, { 'x-svc-key': KEY });
        return { ...elsewhere, 'sec-websocket-protocol': `svc-ws-ticket, ${String(body['ticket'])}` };
      }
      case 'relay':
        return { host: 'drone', [RELAY_CALLER_HEADER]: 'key pairing-key *' };
      default:
        return { ...elsewhere, 'x-svc-mcp-token': this.#tokens.get(credential) ?? 'eyJ.nothing' };
    }
  }
}
