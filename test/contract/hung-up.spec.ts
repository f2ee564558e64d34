import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { sendValue } from '../../shared/http/answer.ts';
import { Reply } from '../../shared/routes/handler.ts';

describe('a stream for a client that has hung up', () => {
  // It took a place among the 16 readers of the log for ever, and svc-residual grew by 80 MiB an hour.
  it('ends at once, and what would feed it is told', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    const server = createServer((_req, res) => asked.resolve(res));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const res = await asked.promise;
    const gone = once(res, 'close');
    client.destroy();
    await gone;
    const body = new PassThrough();
    const told = once(body, 'close');
    sendValue(res, new Reply(200, body, 'text/event-stream'));
    await told;
    expect(body.destroyed).to.equal(true);
    server.close();
  });
});
