import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { callTool, HttpConnector, newClient } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const MOST_BYTES = 32 * 1024;
const BUCKETS = Array.from({ length: 2000 }, (_, n) => ({
  bucket_us: n * 1e6,
  metric: 'node.load',
  value: n / 3,
  count: 1,
}));

describe('an answer that is too long for one result', function () {
  this.timeout(60_000);
  let home: string;
  let stub: StubNode;
  let http: HttpConnector;
  before(async () => {
    home = await tempDir();
    stub = await StubNode.start();
    stub.answers.set('GET /api/status', [200, {}]);
    stub.answers.set('GET /api/pairing/info', [200, { paired: true, device_id: stub.deviceId }]);
    stub.answers.set('GET /api/observability/aggregate', [200, { data: BUCKETS, page: {}, meta: {} }]);
    http = await HttpConnector.start({ args: ['--target', 'agent', stub.url], home, key: KEY });
  });
  after(async () => {
    await http[Symbol.asyncDispose]();
    await stub.leave();
    await removeDir(home);
  });

  const as = async (...scopes: readonly string[]): Promise<Client> => {
    const client = newClient();
    const headers = { authorization: `Bearer ${stub.token(...scopes)}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers } }));
    return client;
  };
  const asked = { name: 'logs_aggregate', arguments: { metric: 'node.load' } };

  it('comes in pages of at most 32 kB, text and structure together, each asked by a cursor of its caller, and says how to narrow it', async () => {
    const [client, other] = await Promise.all([as('read'), as('read')]);
    const times: unknown[] = [];
    let cursor: string | undefined;
    do {
      const args = { ...asked.arguments, ...(cursor === undefined ? {} : { cursor }) };
      const result = await client.callTool({ ...asked, arguments: args });
      expect(Buffer.byteLength(JSON.stringify(result))).to.be.at.most(MOST_BYTES);
      const { buckets, next_cursor, narrow } = result.structuredContent as {
        readonly buckets: readonly { readonly at: string }[];
        readonly next_cursor?: string;
        readonly narrow?: string;
      };
      times.push(...buckets.map(({ at }) => Date.parse(at) * 1000));
      if (next_cursor !== undefined) {
        expect(narrow)
          .to.include(next_cursor)
          .and.to.match(/2000 entries.*narrow it with metric, since, bucket/);
        const stolen = await callTool(other, asked.name, { ...asked.arguments, cursor: next_cursor });
        expect(stolen.value).to.include({ reason: 'invalid_arguments' });
        const elsewhere = await callTool(client, 'audit_query', { cursor: next_cursor });
        expect(elsewhere.value).to.include({ reason: 'invalid_arguments' });
      }
      cursor = next_cursor;
    } while (cursor !== undefined);
    expect(times).to.deep.equal(BUCKETS.map(({ bucket_us: at }) => at));
    expect(
      stub.came.filter((came) => came.endsWith('/aggregate')),
      'the node was asked once',
    ).to.have.length(1);
    await Promise.all([client.close(), other.close()]);
  });

  it('and has no list to be cut is an error that says so, within the same bound', async () => {
    const client = await as('read');
    stub.answers.set('GET /api/observability/aggregate', [
      200,
      { data: [{ bucket_us: 0, value: 'x'.repeat(100_000) }], page: {}, meta: {} },
    ]);
    const result = await client.callTool(asked);
    expect(result.isError).to.equal(true);
    expect(JSON.stringify(result))
      .to.include('more than fits')
      .and.to.include('narrow it with')
      .and.have.length.below(4096);
    await client.close();
  });
});
