import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { runCall } from '../../front/control/fleet/run-call.ts';

describe('a picture that is asked for over the fleet', () => {
  it('comes with its time, which stands in a header that the fleet does not carry', async () => {
    const at = '2026-11-25T00:00:00.000Z';
    const server = createServer((req, res) => {
      const time = req.url === '/api/video/snapshot' ? { 'x-captured-at': at } : {};
      res.writeHead(200, { 'content-type': 'image/jpeg', ...time }).end('picture');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = async (path: string): Promise<unknown> => {
      const call = { method: 'GET', path, node: 'n', nonce: 'n', within_ms: 1, jti: 'j' } as const;
      return (await runCall(connect(port, '127.0.0.1'), call)).body;
    };
    const picture = { media_type: 'image/jpeg', base64: Buffer.from('picture').toString('base64') };
    try {
      expect(await ask('/api/video/snapshot')).to.deep.equal({ ...picture, captured_at: at });
      expect(await ask('/other')).to.deep.equal(picture);
    } finally {
      server.close();
    }
  });
});
