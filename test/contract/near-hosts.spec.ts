import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { farOnly } from '../../front/link/corrections/stream.ts';
import { storeRequest } from '../../residual/app/uploads/s3-request.ts';
import { isNear, nearRefusal } from '../../shared/auth/asked-address.ts';
import { messageOf } from '../../shared/errors.ts';

describe('where the configuration may lead the node', () => {
  for (const [host, near] of [
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['[::1]', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:7f00:1', true],
    ['0.0.0.0', true],
    ['localhost', true],
    ['db.LOCALHOST.', true],
    ['169.254.169.254', true],
    ['fe80::1', true],
    ['fd00:ec2::254', true],
    ['64:ff9b::a9fe:a9fe', true],
    ['224.0.0.1', true],
    ['10.0.0.5', false],
    ['192.168.1.9', false],
    ['fd12::1', false],
    ['caster.example', false],
    ['8.8.8.8', false],
  ] as const)
    it(`${host} is ${near ? 'refused unless listed' : 'allowed'}`, () => {
      expect(isNear(host)).to.equal(near);
      expect(nearRefusal(host, [])).to.equal(nearRefusal(host, ['10.1.1.1']));
      expect(nearRefusal(host, [host.replace(/^\[|\]$/g, '')])).to.equal(null);
    });

  describe('at the moment of the connection', () => {
    let server: Server;
    let port = 0;
    let met = 0;
    before(async () => {
      server = createServer((_request, response) => response.end());
      server.on('connection', () => {
        met += 1;
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      port = typeof address === 'object' && address !== null ? address.port : 0;
    });
    beforeEach(() => {
      met = 0;
    });
    after(() => server.close());

    const corrections = async (host: string, listed: readonly string[]): Promise<string> => {
      const socket = farOnly(connect, listed)({ host, port, noDelay: true });
      const said = await Promise.race([
        once(socket, 'connect').then(() => 'connected'),
        once(socket, 'close').then(() => 'closed'),
      ]).catch(messageOf);
      socket.on('error', () => undefined).destroy();
      return said;
    };
    const upload = async (host: string, nearHosts: readonly string[]): Promise<string> => {
      const keys = { bucket: 'b', region: 'r', accessKeyId: 'a', secretAccessKey: 's' };
      const signal = AbortSignal.timeout(5000);
      return storeRequest(
        { endpoint: `http://${host}:${port}`, ...keys, nearHosts },
        { method: 'GET', key: 'k', signal },
        Date.now(),
      ).then(() => 'connected', messageOf);
    };

    for (const [what, go] of [
      ['corrections', corrections],
      ['uploads', upload],
    ] as const)
      for (const host of ['127.0.0.1', 'localhost'])
        it(`${what}: ${host} gets nothing unless it is listed, also by the address that it leads to`, async () => {
          expect(await go(host, [])).to.include('security.near_hosts');
          expect(await go(host, ['10.1.1.1'])).to.include('security.near_hosts');
          expect(met).to.equal(0);
          expect(await go(host, [host])).to.equal('connected');
        });
  });
});
