import { expect } from 'chai';
import type { AddressClass } from '../../shared/auth/address.ts';
import { enabledFeatures } from '../../shared/config/features.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { ERRORS, errorWord, isErrorCode } from '../../shared/errors.ts';
import { memberOf } from '../../shared/member.ts';
import type { Row } from '../../shared/routes/row.ts';
import { KEY } from '../support/edge.ts';
import { MATRIX_ROWS } from '../support/matrix.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { CREDENTIALS, type Credential, oracle } from '../support/oracle.ts';
import { RealCredentials } from '../support/real-credentials.ts';
import { harmlessBody, targetOf } from '../support/send-row.ts';

const features = enabledFeatures(parseConfig('', 'defaults'));

/**
 * Of each credential from each peer class every so many-th row, each time others: every pair of row and credential, of row and class, of
 * credential and class is asked over a socket. All three together are in test/contract/oracle.spec.ts, without one.
 */
const [SHARE, OF] = [2, 5];

/** Enough for the budgets below, and all classes together fewer than the kernel keeps in its neighbour table (1024). */
const POOL = 125;
const AT_ONCE = 16;

interface PeerClass {
  readonly from: AddressClass;
  readonly near: string;
  readonly far: string;
  readonly pool: string;
  /** The n-th address of the pool. */
  readonly address: (n: number) => string;
}

/**
 * A budget of 60 requests a second and ten failures a minute belongs to each address, so each request comes from the next
 * one of the pool. Loopback is in test/contract/credentials.spec.ts.
 */
const PEERS: readonly PeerClass[] = [
  {
    from: 'link-local',
    near: '169.254.9.1/16',
    far: '169.254.9.2/16',
    pool: '169.254.128.0/17',
    address: (n) => `169.254.128.${1 + (n % POOL)}`,
  },
  {
    from: 'hotspot',
    near: '192.168.4.1/24',
    far: '192.168.4.2/24',
    pool: '192.168.4.128/25',
    address: (n) => `192.168.4.${129 + (n % POOL)}`,
  },
  {
    from: 'usb',
    near: '192.168.7.1/24',
    far: '192.168.7.2/24',
    pool: '192.168.7.128/25',
    address: (n) => `192.168.7.${129 + (n % POOL)}`,
  },
  {
    from: 'lan',
    near: '10.99.0.1/16',
    far: '10.99.0.2/16',
    pool: '10.99.128.0/17',
    address: (n) => `10.99.128.${1 + (n % POOL)}`,
  },
  {
    from: 'remote',
    near: '198.18.0.1/16',
    far: '198.18.0.2/16',
    pool: '198.18.128.0/17',
    address: (n) => `198.18.128.${1 + (n % POOL)}`,
  },
];

describe('C1 every row by every credential, from every peer class, over real sockets from network namespaces', function () {
  this.timeout(180_000);

  for (const paired of [true, false]) {
    it(paired ? 'paired' : 'unpaired', async () => {
      expect(noNamespaces()).to.equal(null);
      const config = 'mcp:\n  token_accept_enabled: true\n';
      const node = await TestNode.start(paired ? { pairing: { key: KEY }, config } : { config });
      const hosts: RemoteHost[] = [];
      try {
        const credentials = await RealCredentials.of(node, paired);
        let asked = 0;
        await Promise.all(
          PEERS.map(async (peer, at) => {
            const host = await RemoteHost.create(peer.near, peer.far, peer.pool);
            hosts.push(host);
            for (const [turn, credential] of CREDENTIALS.entries()) {
              // Tickets are the key's to ask for; without a pairing there are none.
              if (credential === 'ticket' && !paired) continue;
              // A relayed caller has one way in, the tunnel, and a read ticket is in the target: test/contract/credentials.spec.ts
              // has them.
              if (credential === 'relay' || credential === 'read ticket') continue;
              const rows = MATRIX_ROWS.filter((_, row) => (row + at + turn) % OF < SHARE);
              await everyRow(rows, node, host, peer, credential, credentials, paired);
              asked += rows.length;
            }
          }),
        );
        expect(asked).to.be.greaterThan(
          (PEERS.length * (CREDENTIALS.length - 3) * (MATRIX_ROWS.length - OF) * SHARE) / OF,
        );
      } finally {
        await Promise.all(hosts.map(async (host) => host.destroy()));
        await node.stop();
      }
    });
  }
});

async function everyRow(
  rows: readonly Row[],
  node: TestNode,
  host: RemoteHost,
  peer: PeerClass,
  credential: Credential,
  credentials: RealCredentials,
  paired: boolean,
): Promise<void> {
  const first = CREDENTIALS.indexOf(credential) * MATRIX_ROWS.length;
  const ask = async (row: Row, index: number): Promise<void> => {
    const wanted = oracle({ row, credential, from: peer.from, paired, features });
    // A program of its own each time, and five hosts at once: those who are let in are in test/contract/credentials.spec.ts.
    if (row.id === 'support-bundle.get' && wanted === 'pass') return;
    const headers = await credentials.headersOf(credential, row, `${host.near}:${node.port}`);
    const body = harmlessBody(row);
    const answer = await host.call({
      url: `http://${host.near}:${node.port}${targetOf(row)}`,
      method: row.method === 'WS' ? 'GET' : row.method,
      upgrade: row.method === 'WS',
      from: peer.address(first + index),
      headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === null ? {} : { body }),
    });
    // Refusals are JSON; of what passes the status is enough.
    const parsed: unknown = answer.status >= 400 ? JSON.parse(answer.body) : {};
    const code = errorWord(parsed as Readonly<Record<string, unknown>>);
    const at = `${credential} from ${peer.from}: ${row.method} ${row.path}: ${answer.status} ${String(code)}`;
    // 400: no multipart form. 429: five hosts at once ask for more exports and streams of the log than the store gives.
    // A token of secret_read holds read as well: it may not be minted alone.
    const mayRead = paired && credential === 'token:secret_read' && row.scope === 'read';
    if (mayRead && wanted === 'E_SCOPE') expect(code, at).to.not.equal('E_SCOPE');
    else if (wanted === 'pass') {
      // 501: a program of this machine is missing, and the answer names it.
      const others = memberOf(parsed, 'missing') === undefined ? [] : [501];
      expect(answer.status, at).to.be.oneOf([101, 200, 400, 404, 409, 415, 422, 503, 429, ...others]);
    } else {
      expect(code, at).to.equal(wanted);
      expect(isErrorCode(code) && ERRORS[code][0], at).to.equal(answer.status);
    }
  };
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    await Promise.all(rows.slice(at, at + AT_ONCE).map(async (row, index) => ask(row, at + index)));
  }
}
