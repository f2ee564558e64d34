import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Answer, type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { KnownNodes } from '../../shared/http/known-nodes.ts';
import { requestNode } from '../../shared/http/node-request.ts';
import { namedNode, placeOfNode, reachNode } from '../../shared/http/reach-node.ts';
import { askAgain } from '../support/ask-again.ts';
import { MdnsListener, QUERY, SERVICE } from '../support/mdns-listener.ts';
import { NO_SYSTEM_BUS, noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';

const [NEAR, FAR] = ['10.79.21.1', '10.79.21.2'];
const FLOOD_MS = 5000;

/** 10 800 times the same question, 64 kB: the name once, and pointers to it. */
function largest(): Buffer {
  const first = encode({ type: 'query', questions: [{ name: SERVICE, type: 'PTR' }] });
  const again = Buffer.from([0xc0, 12, 0, 12, 0, 1]);
  const count = 10_800;
  first.writeUInt16BE(count, 4);
  return Buffer.concat([first, ...Array.from({ length: count - 1 }, () => again)]);
}

describe('mDNS of the node', function () {
  this.timeout(120_000);
  let lan: RemoteHost;
  let node: TestNode;
  let other: MdnsListener;
  let id: string;
  before(async function () {
    if (noNamespaces() !== null) return this.skip();
    lan = await RemoteHost.create(`${NEAR}/24`, `${FAR}/24`);
    const { prefix } = lan;
    node = await TestNode.start({
      simulated: false,
      config: 'discovery:\n  mdns: true\n',
      env: NO_SYSTEM_BUS,
      prefix,
    });
    id = (await readFile(node.paths.deviceId, 'utf8')).trim();
    other = await MdnsListener.open(NEAR, FAR);
    await other.until('the node is found', isFound);
  });
  after(async () => {
    other?.close();
    await node?.stop();
    await lan?.destroy();
  });

  const isFound = (records: readonly Answer[]): boolean =>
    ['PTR', 'SRV', 'TXT', 'A'].every((type) => records.some((each) => each.type === type)) &&
    records.some((each) => each.type === 'PTR' && each.data === `svc ${id}.${SERVICE}`) &&
    records.some((each) => each.type === 'A' && each.data === FAR);
  const host = (): string => `svc-${id.slice(0, 6)}.local`;

  /** Sends that as fast as it may be, while it asks the node. @returns how long each answer took, ms, and what the node sent */
  async function flooded(
    packets: readonly (Packet | Buffer)[],
    everyMs: number,
  ): Promise<{ readonly slowest: number; readonly pings: number; readonly sent: number }> {
    other.heard.length = 0;
    const timer = setInterval(() => {
      for (const packet of packets) other.send(packet);
    }, everyMs);
    let [slowest, pings] = [0, 0];
    const until = performance.now() + FLOOD_MS;
    while (performance.now() < until) {
      const began = performance.now();
      const { status } = await lan.call({ url: `http://127.0.0.1:${node.port}/api/ping` });
      expect(status).to.equal(200);
      slowest = Math.max(slowest, performance.now() - began);
      pings++;
      await delay(50);
    }
    clearInterval(timer);
    await delay(1200);
    return { slowest, pings, sent: other.responses.length };
  }

  const probe = (): Packet => ({
    type: 'query',
    questions: [{ name: host(), type: 'A' }],
    authorities: [{ name: host(), type: 'A', ttl: 120, data: NEAR }],
  });
  /** Its own announcement may be among what it sends. */
  const floods: readonly (readonly [string, () => readonly (Packet | Buffer)[], number, number])[] = [
    ['of 64 kB with 10 800 questions', () => [largest()], 100, 2],
    ['that are as they should be', () => Array.from({ length: 20 }, () => QUERY), 10, 8],
    ['that ask whether its name is free', () => Array.from({ length: 5 }, probe), 10, 28],
  ];
  for (const [what, packets, everyMs, most] of floods)
    it(`a flood of packets ${what}: the node answers in time, sends few, and is found afterwards`, async () => {
      const { slowest, pings, sent } = await flooded(packets(), everyMs);
      expect(slowest, 'the slowest GET /api/ping, ms').to.be.below(1000);
      expect(pings).to.be.above(20);
      expect(sent, 'answers').to.be.at.most(most);
      await other.until('the node is found', isFound);
      expect(node.service('svc-control').restarts).to.equal(0);
    });

  it('does not say what the other knows', async () => {
    await delay(1200);
    const [last] = other.responses.slice(-1);
    const known = (last?.answers ?? []).filter(({ type }) => type === 'PTR');
    expect(known).to.have.length(2);
    other.heard.length = 0;
    for (let turn = 0; turn < 3; turn++) {
      other.send({ ...QUERY, answers: known });
      await delay(600);
    }
    expect(other.responses).to.deep.equal([]);
  });

  it('an address that comes is answered, one that has gone is not', async () => {
    const has = (records: readonly Answer[], address: string): boolean =>
      records.some(({ type, ...rest }) => type === 'A' && 'data' in rest && rest.data === address);
    await lan.address('add', '10.79.21.3/24');
    await other.until('the new address', (records) => has(records, '10.79.21.3') && has(records, FAR));
    await lan.address('del', '10.79.21.3/24');
    await other.until('the old address alone', (records) => !has(records, '10.79.21.3') && has(records, FAR));
  });

  /** The first answer that comes to this socket alone. */
  const answerTo = async (socket: Socket, query: Buffer): Promise<DecodedPacket> => {
    const answers: Buffer[] = [];
    socket.on('message', (bytes: Buffer) => answers.push(bytes));
    await askAgain(
      'an answer comes to this socket',
      async () => {
        socket.send(query, 5353, '224.0.0.251');
        return answers;
      },
      (all) => all.length > 0,
    );
    socket.close();
    return decode(answers[0] ?? Buffer.alloc(0));
  };
  const socketAt = async (port: number): Promise<Socket> => {
    const socket = createSocket({ type: 'udp4', reuseAddr: true }).bind({ port, address: NEAR });
    await once(socket, 'listening');
    socket.setMulticastInterface(NEAR);
    return socket;
  };

  it('answers to one alone who asks so, whether or not it hears the group', async () => {
    const query = encode(QUERY);
    query.writeUInt16BE(0x8001, query.length - 2);
    const { answers = [], additionals = [] } = await answerTo(await socketAt(5353), query);
    expect(answers.map(({ type }) => type)).to.deep.equal(['PTR']);
    expect(isFound([...answers, ...additionals])).to.equal(true);
  });

  it('answers a resolver that knows no mDNS as plain DNS', async () => {
    const query = encode({ type: 'query', id: 4711, questions: [{ name: host(), type: 'A' }] });
    const { id: of, questions, answers = [] } = await answerTo(await socketAt(0), query);
    expect(of).to.equal(4711);
    expect(questions?.map(({ name }) => name)).to.deep.equal([host()]);
    const [own] = answers;
    expect(own).to.deep.include({ name: host(), type: 'A', data: FAR, flush: false, class: 'IN' });
    expect(own !== undefined && 'ttl' in own ? own.ttl : null).to.equal(10);
  });

  it('answers by IPv6, too', async () => {
    const [device = ''] =
      Object.entries(networkInterfaces()).find(([, all]) => all?.some(({ address }) => address === NEAR)) ??
      [];
    const group = `ff02::fb%${device}`;
    const socket = createSocket({ type: 'udp6', reuseAddr: true }).bind({ port: 5353, address: group });
    await once(socket, 'listening');
    socket.setMulticastInterface(`::%${device}`);
    socket.addMembership('ff02::fb', `::%${device}`);
    const heard: Answer[] = [];
    socket.on('message', (bytes) => heard.push(...(decode(bytes).answers ?? [])));
    try {
      await askAgain(
        'the node is found by IPv6',
        async () => {
          socket.send(encode(QUERY), 5353, group);
          return heard;
        },
        (records) => isFound(records) && records.some(({ type }) => type === 'AAAA'),
      );
    } finally {
      socket.close();
    }
    // At the address that it announces, of which only this machine knows the zone.
    const own = heard.flatMap((each) =>
      each.type === 'AAAA' && each.data.startsWith('fe80:') ? each.data : [],
    );
    const named = namedNode(`[${own[0] ?? ''}%${device}]:${node.port}`);
    if (named === null) throw new Error('it is no address of a node');
    const known = new KnownNodes(join(node.base, 'known'));
    const place = placeOfNode(await reachNode(named, known, async () => Promise.resolve()));
    const told = await requestNode(place, { method: 'GET', path: '/api/pairing/info', timeoutMs: 5000 });
    expect([told.status, told.bytes.toString().includes(id)]).to.deep.equal([200, true]);
  });

  it('takes another name where a machine has its own already, and says so', async () => {
    const taken: Packet = {
      type: 'response',
      answers: [{ name: host(), type: 'A', ttl: 120, flush: true, data: NEAR }],
    };
    other.defend(taken);
    try {
      const next = host().replace('.local', '-2.local');
      await other.until('the next name', (records) =>
        records.some(({ type, ...rest }) => type === 'SRV' && JSON.stringify(rest).includes(next)),
      );
    } finally {
      other.defend(null);
    }
    expect(node.stderr).to.match(/mDNS: another machine of this network is svc-/);
  });
});
