import type { IncomingMessage } from 'node:http';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { callTool, connectStdio } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { type StubAnswer, StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Json = Readonly<Record<string, unknown>>;

describe('the list of tools follows the node', function () {
  this.timeout(120_000);

  const names = async (client: Client): Promise<readonly string[]> =>
    (await client.listTools()).tools.map(({ name }) => name);
  const config = (features: Json): StubAnswer => [
    200,
    { agent: { profile: 'drone' }, features, mavlink: { endpoints: [] } },
  ];

  it('features that are off are not listed; while it is away all are', async () => {
    const home = await tempDir();
    await using stub = await StubNode.start();
    stub.answers.set('GET /api/config', config({ video: false, vision: false }));
    await stub.leave();
    try {
      const args = ['--target', 'agent', stub.url, '--token', stub.token('read', 'safe_write')];
      const client = await connectStdio({ args, home, key: KEY });
      expect(await names(client)).to.include.members(['video_snapshot', 'vision_detections', 'status_get']);
      const changed = new Promise<void>((resolve) => {
        client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
      });
      await stub.listen();
      await changed;
      const listed = await names(client);
      expect(listed).to.include('status_get').and.to.include('logs_query');
      for (const gone of ['video_snapshot', 'video_record', 'vision_detections'])
        expect(listed, gone).to.not.include(gone);
      await client.close();
    } finally {
      await removeDir(home);
    }
  });

  it('a node that refuses the connector is not asked again and again, and counts as having everything', async () => {
    const home = await tempDir();
    await using stub = await StubNode.start();
    stub.answers.set('GET /api/config', [401, { code: 'E_UNAUTHORIZED', detail: 'no' }]);
    try {
      const client = await connectStdio({ args: ['--target', 'agent', stub.url], home });
      expect(await names(client)).to.include('video_snapshot');
      await names(client);
      expect(stub.came.filter((came) => came === 'GET /api/config')).to.have.length(1);
      await client.close();
    } finally {
      await removeDir(home);
    }
  });

  it('logs_query asks for 20 entries', async () => {
    const home = await tempDir();
    await using stub = await StubNode.start();
    let asked = '';
    stub.answers.set('GET /api/observability/query', (req: IncomingMessage): StubAnswer => {
      asked = req.url ?? '';
      return [200, { data: [], page: { next_cursor: null, count: 0 }, meta: {} }];
    });
    try {
      const client = await connectStdio({ args: ['--target', 'agent', stub.url], home, key: KEY });
      expect((await callTool(client, 'logs_query', { level: 'warn' })).value).to.deep.equal({
        entries: [],
        next_cursor: null,
      });
      expect(asked).to.equal('/api/observability/query?kind=logs&level=warn&limit=20');
      await client.close();
    } finally {
      await removeDir(home);
    }
  });
});
