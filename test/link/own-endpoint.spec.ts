import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { pipeline } from 'node:stream';
import { expect } from 'chai';
import { endpointName, ownEndpointOf, ownHosts } from '../../shared/config/own-endpoint.ts';
import { parseMavlinkEndpoint, parseMavlinkSource, started } from '../../shared/schemas/addresses.ts';
import { freePort } from '../support/temp.ts';
import { LinkProcess } from './link-process.ts';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('a source that is the node itself', () => {
  it('is known by its address, whatever the words for this machine', () => {
    const own = ownHosts();
    const cases: [source: string, endpoint: string, meets: boolean][] = [
      ['tcp:127.0.0.1:5790', 'tcp:127.0.0.1:5790', true],
      ['tcp:localhost:5790', 'tcp:127.0.0.1:5790', true],
      ['tcp:127.0.0.1:5790', 'tcp:0.0.0.0:5790?force=1', true],
      ['tcp:[::1]:5790', 'tcp:[::]:5790', true],
      ['tcp:127.0.0.1:5760', 'tcp:127.0.0.1:5790', false],
      ['tcp:192.0.2.7:5790', 'tcp:0.0.0.0:5790', false],
      ['tcp:127.0.0.1:14550', 'udp:127.0.0.1:14550', false],
      ['udpout:127.0.0.1:14550', 'udp:0.0.0.0:14550', true],
      ['udp:0.0.0.0:14550', 'udpout:127.0.0.1:14550', true],
      ['udp:0.0.0.0:14550', 'udpout:192.0.2.7:14550', false],
      ['auto', 'tcp:127.0.0.1:5790', false],
    ];
    for (const [source, endpoint, meets] of cases) {
      const address = started('endpoint', endpoint, parseMavlinkEndpoint);
      const found = ownEndpointOf(
        started('source', source, parseMavlinkSource),
        [started('endpoint', 'udp:127.0.0.1:9', parseMavlinkEndpoint), address],
        own,
      );
      expect(found === null ? null : endpointName(found), `${source} ${endpoint}`).to.equal(
        meets ? endpointName(address) : null,
      );
    }
  });

  it('is not opened, and said; an endpoint whose port is taken is said too', async () => {
    const other = createServer();
    const taken = await listening(other);
    const port = await freePort();
    const link = await LinkProcess.start(`tcp:127.0.0.1:${port}`, [
      `endpoints: ["tcp:127.0.0.1:${port}", "tcp:127.0.0.1:${taken}"]`,
    ]);
    try {
      const state = await link.until(({ problems }) => problems.length === 2);
      expect(state.problems.map(({ code }) => code)).to.deep.equal([
        'source_is_own_endpoint',
        'endpoint_closed',
      ]);
      expect(state.problems[0]?.detail).to.include(`tcp:127.0.0.1:${port}`);
      expect(state.problems[1]?.detail).to.include(`tcp:127.0.0.1:${taken}`).and.include('EADDRINUSE');
      for (let count = 0; count < 4; count++) await link.nextState();
      expect(link.state).to.deep.include({ transport_open: false });
      expect(link.state?.counters).to.include({ rx_frames: 0, tx_frames: 0 });
    } finally {
      other.close();
      await link.stop();
    }
  });

  it('is known by its frames where no address shows it: they go no further, and it is said', async () => {
    const port = await freePort();
    const relay = createServer((socket) => {
      const onward = connect(port, '127.0.0.1');
      // An end that fails ends the other: the link may connect before its endpoint listens, and has to see that.
      pipeline(socket, onward, socket, () => undefined);
    });
    const source = await listening(relay);
    const link = await LinkProcess.start(`tcp:127.0.0.1:${source}`, [
      `endpoints: ["tcp:127.0.0.1:${port}"]`,
      'heartbeat: on',
    ]);
    try {
      const { counters, heard } = await link.until(({ problems }) =>
        problems.some(({ code }) => code === 'source_loops'),
      );
      expect(heard).to.equal(false);
      // Heartbeats of both ends come back, and nothing that came back went out again.
      expect(counters.tx_frames).to.be.below(20);
      expect(counters.rx_looped).to.be.within(1, 20);
      expect(counters.rx_frames).to.equal(counters.rx_looped);
      const [
        {
          peers: [peer],
        } = expect.fail(),
      ] = await link.endpoints();
      expect(peer?.rx_looped).to.equal(peer?.rx_frames);
    } finally {
      relay.close();
      await link.stop();
    }
  });
});
