import { expect } from 'chai';
import { enabledFeatures } from '../../shared/config/features.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { memberOf } from '../../shared/member.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { KEY } from '../support/edge.ts';
import { needs } from '../support/needs.ts';
import { RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { type Secured, securedBy } from '../support/secure.ts';
import { sendRow, targetOf } from '../support/send-row.ts';
import { freePort } from '../support/temp.ts';

const rows = (ROWS as readonly Row[]).filter(({ method }) => method !== 'ANY');
const features = enabledFeatures(parseConfig('', 'defaults'));

function runs(row: Row): boolean {
  return row.built && features.has(row.feature) && row.profiles !== 'G';
}

/** What somebody gets who may ask: decided from the row alone, without the code under test. */
function allowed(row: Row): readonly number[] {
  if (!runs(row)) return [501];
  // A body that no schema takes; a query that lacks what its schema asks for.
  if (row.bodyKind === 'json' || row.query?.required !== undefined) return [422];
  // A body of a type that the route does not take.
  if (row.bodyKind === 'raw') return [415];
  // No multipart form; no file of its kind. What is passed on is the business of an extension, and none is there.
  if (row.bodyKind === 'stream') return isPassedOn(row) ? [503] : [400, 422];
  // 101: a WebSocket was opened. 404: this vehicle has no parameter x1. 409: paired already. 503: no vehicle, or not ready.
  return [101, 200, 404, 409, 503];
}

/** A 501 of a row that needs a program that this machine lacks, and names it. */
function lacksProgram(answer: { readonly status: number; readonly body: unknown }): boolean {
  return answer.status === 501 && memberOf(answer.body, 'missing') !== undefined;
}

/** Its 503 has a body of its own. */
function isPassedOn({ path }: Row): boolean {
  return path === '/api/plugins/{id}/x/{*path}';
}

const rowsByDoors = rows.flatMap((row) => (['HTTP', 'HTTPS'] as const).map((door) => ({ row, door })));

describe('every row over real sockets', () => {
  describe('on a paired node', () => {
    let node: TestNode;
    let secured: Secured;
    before(async () => {
      node = await TestNode.start({ pairing: { key: KEY }, tlsPort: await freePort() });
      secured = await securedBy(node);
    });
    after(async () => node.stop());

    for (const { row, door } of rowsByDoors) {
      it(`${row.method} ${row.path} by ${door}`, async () => {
        const to = door === 'HTTP' ? node.port : secured;
        // With a loopback Host, root's processes on this machine are trusted where a row says so.
        const host = { host: '192.168.1.7' };
        const nobody = await sendRow(to, row, host);
        const wrong = await sendRow(to, row, { ...host, 'x-svc-key': 'svc_wrong' });
        const key = await sendRow(to, row, { ...host, 'x-svc-key': KEY });
        const open = row.access === 'public' ? allowed(row) : [401];
        expect(nobody.status).to.be.oneOf(open);
        expect(wrong.status).to.be.oneOf(row.orKey ? [401] : open);
        if (nobody.status === 401) expect(wrong.body).to.deep.equal(nobody.body); // C8: nothing tells them apart
        if (lacksProgram(key)) return;
        expect(key.status, JSON.stringify(key.body)).to.be.oneOf(allowed(row));
        if (key.status >= 400)
          expect(key.body).to.include.keys(isPassedOn(row) ? ['detail'] : ['detail', 'code']);
        if (key.status === 501)
          expect(key.body).to.include({ code: 'E_NOT_IMPLEMENTED', feature: row.feature, profile: 'drone' });
      });
    }
  });

  describe('on an unpaired node', () => {
    let node: TestNode;
    let secured: Secured;
    before(async () => {
      node = await TestNode.start({ tlsPort: await freePort() });
      secured = await securedBy(node);
    });
    after(async () => node.stop());

    for (const { row, door } of rowsByDoors) {
      it(`${row.method} ${row.path} from loopback by ${door}`, async () => {
        const answer = await sendRow(door === 'HTTP' ? node.port : secured, row, {});
        if (lacksProgram(answer)) return;
        expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf(allowed(row));
      });
    }

    const REMOTES: readonly [string, string, string][] = [
      ['a public address', '198.51.100.1/24', '198.51.100.2/24'],
      ['a global IPv6 address', '2001:db8::1/64', '2001:db8::2/64'],
    ];
    for (const [name, near, far] of REMOTES) {
      it(`every row from ${name}, in a network namespace (needs root and iproute2)`, async function () {
        needs(this, 'root', 'ip');
        const host = await RemoteHost.create(near, far);
        try {
          const authority = host.near.includes(':') ? `[${host.near}]` : host.near;
          for (const row of rows.filter(({ method }) => method !== 'WS')) {
            const { status } = await host.call({
              url: `http://${authority}:${node.port}${targetOf(row)}`,
              method: row.method,
              ...(row.bodyKind === 'json'
                ? { headers: { 'content-type': 'application/json' }, body: '[]' }
                : {}),
            });
            const wanted = row.access === 'public' && !row.nearOnly && !row.tlsOnly ? allowed(row) : [403];
            expect(status, `${row.method} ${row.path}`).to.be.oneOf(wanted);
          }
        } finally {
          await host.destroy();
        }
      });
    }

    it('the lifelines are let in and the LAN is asked for a session, in network namespaces (needs root and iproute2)', async function () {
      needs(this, 'root', 'ip');
      const cases: readonly [string, string, number][] = [
        ['192.168.4.1/24', '192.168.4.2/24', 200],
        ['192.168.7.1/24', '192.168.7.2/24', 200],
        ['169.254.9.1/16', '169.254.9.2/16', 200],
        ['10.99.0.1/24', '10.99.0.2/24', 403],
        ['fd00:99::1/64', 'fd00:99::2/64', 403],
      ];
      for (const [near, far, wanted] of cases) {
        const host = await RemoteHost.create(near, far);
        try {
          const authority = host.near.includes(':') ? `[${host.near}]` : host.near;
          const { status, body } = await host.call({ url: `http://${authority}:${node.port}/api/status` });
          expect(status, `${far} ${body}`).to.equal(wanted);
          if (wanted === 403) expect(JSON.parse(body)).to.include({ code: 'E_UNPAIRED' });
        } finally {
          await host.destroy();
        }
      }
    });

    it('pairs, and from then on another address needs the key (needs root and iproute2)', async function () {
      needs(this, 'root', 'ip');
      const host = await RemoteHost.create('10.98.0.1/24', '10.98.0.2/24');
      try {
        const url = `http://${host.near}:${node.port}/api/status`;
        const claim = await node.post('/api/pairing/claim', { user_id: 'test' });
        expect(claim.status).to.equal(200);
        const key = String(claim.body['api_key']);
        expect((await host.call({ url })).status).to.equal(401);
        expect((await host.call({ url, headers: { 'x-svc-key': key } })).status).to.equal(200);
      } finally {
        await host.destroy();
      }
    });
  });
});
