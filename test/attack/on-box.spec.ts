import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { createOnBoxRule, groupMembers, uidOfPeer } from '../../front/control/edge/on-box.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

const log = createLogger('test', 'silent');
const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 20 4 30 10 -1
   1: 0100007F:A1B2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 65534        0 2 1 0 20 4 30 10 -1`;
const TABLE6 = `  sl  local_address                         remote_address                        st tx rx tr tm retr uid
   0: 00000000000000000000000001000000:A1B3 00000000000000000000000001000000:1F90 01 0:0 0:0 0 1000 0 3
   1: 0000000000000000FFFF00000100007F:A1B4 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 1001 0 4`;

describe('who is at the other end of a loopback connection', () => {
  const tables = { tcp: TABLE, tcp6: TABLE6 };
  const peer = (remoteAddress: string, remotePort: number, localAddress = '127.0.0.1') => ({
    remoteAddress,
    remotePort,
    localAddress,
    localPort: 0x1f90,
  });
  it('is read from the kernel, for IPv4, IPv6 and mapped addresses', () => {
    expect(uidOfPeer(peer('127.0.0.1', 0xa1b2), tables)).to.equal(65534);
    const dual = '::ffff:127.0.0.1'; // as a dual-stack listener sees it
    expect(uidOfPeer(peer(dual, 0xa1b2, dual), tables)).to.equal(65534);
    expect(uidOfPeer(peer('::1', 0xa1b3, '::1'), tables)).to.equal(1000);
    expect(uidOfPeer(peer(dual, 0xa1b4, dual), tables)).to.equal(1001);
    expect(uidOfPeer({}, tables)).to.equal(null);
  });
  it('is nobody if one of the four ends is another one, or is not known', () => {
    const whole = peer('127.0.0.1', 0xa1b2);
    for (const change of [
      { remoteAddress: '127.0.0.2' },
      { remotePort: 0xa1b9 },
      { localAddress: '127.0.0.2' },
      { localAddress: '::1' },
      { localPort: 0x1f91 },
      { localPort: 0x90 },
      { remoteAddress: undefined },
      { remotePort: undefined },
      { localAddress: undefined },
      { localPort: undefined },
    ])
      expect(uidOfPeer({ ...whole, ...change }, tables), JSON.stringify(change)).to.equal(null);
    // Each family stands in its own table, in its own form.
    expect(uidOfPeer(whole, { tcp: TABLE6, tcp6: TABLE })).to.equal(null);
    expect(uidOfPeer(peer('::1', 0xa1b3, '::1'), { tcp: TABLE6, tcp6: '' })).to.equal(null);
  });
  it('is nobody if two rows have the same ends, whosoever they are', () => {
    const twice = `${TABLE}\n${TABLE.split('\n')[2]}`;
    expect(uidOfPeer(peer('127.0.0.1', 0xa1b2), { tcp: twice, tcp6: '' })).to.equal(null);
    const mapped = TABLE6.replaceAll(':A1B4', ':A1B2');
    expect(uidOfPeer(peer('127.0.0.1', 0xa1b2), { tcp: TABLE, tcp6: mapped })).to.equal(null);
    expect(uidOfPeer(peer('127.0.0.1', 0xa1b2), { tcp: '', tcp6: mapped })).to.equal(1001);
  });
  // The states of include/net/tcp_states.h: only 01, ESTABLISHED, is a connection that somebody holds.
  for (const state of ['02', '03', '04', '05', '06', '07', '08', '09', '0A', '0B', '0C', '00', '1', '011'])
    it(`is nobody where the socket's state is ${state}`, () => {
      const tcp = TABLE.replaceAll(' 01 ', ` ${state} `);
      expect(uidOfPeer(peer('127.0.0.1', 0xa1b2), { tcp, tcp6: '' })).to.equal(null);
    });
  it('counts members of the group by name and by first group', () => {
    const groups = 'root:x:0:\nsvc:x:990:alice,bob\n';
    const passwd =
      'root:x:0:0::/:/bin/sh\nalice:x:1000:1000::/:/bin/sh\ncarol:x:1002:990::/:/bin/sh\ndave:x:1003:1003::/:/bin/sh';
    expect([...groupMembers('svc', groups, passwd)]).to.deep.equal([1000, 1002]);
    expect(groupMembers('none', groups, passwd).size).to.equal(0);
  });
  it('trusts root and its own user, and nobody where the table cannot be read', () => {
    const rule = (text: string) =>
      createOnBoxRule({
        ownUid: 1234,
        group: 'svc',
        log,
        read: (path) => (path.endsWith('tcp') ? text : ''),
      });
    expect(rule(TABLE).trusts(peer('127.0.0.1', 0xa1b2))).to.equal(false);
    expect(rule(TABLE.replace('65534', '    0')).trusts(peer('127.0.0.1', 0xa1b2))).to.equal(true);
    expect(rule(TABLE.replace('65534', ' 1234')).trusts(peer('127.0.0.1', 0xa1b2))).to.equal(true);
    const unreadable = createOnBoxRule({
      ownUid: 0,
      group: 'svc',
      log,
      read: () => {
        throw new Error('EACCES');
      },
    });
    expect(unreadable.trusts(peer('127.0.0.1', 0xa1b2))).to.equal(false);
  });
  it('reads the table again where the row was left out or came twice, and no more than twice again', () => {
    const [head, ours] = TABLE.replace('65534', '    0').split(/\n(?= +1:)/);
    const after = (...missing: readonly string[]): { trusted: boolean; reads: number } => {
      let reads = 0;
      const read = (path: string): string =>
        path === '/proc/net/tcp' ? (missing[reads++] ?? `${head}\n${ours}`) : '';
      const trusted = createOnBoxRule({ ownUid: 1, group: 'svc', log, read }).trusts(
        peer('127.0.0.1', 0xa1b2),
      );
      return { trusted, reads };
    };
    expect(after()).to.deep.equal({ trusted: true, reads: 1 });
    expect(after(head ?? '', `${head}\n${ours}\n${ours}`)).to.deep.equal({ trusted: true, reads: 3 });
    expect(after('', '', '')).to.deep.equal({ trusted: false, reads: 3 });
    expect(after(TABLE), 'a stranger is not asked for again').to.deep.equal({ trusted: false, reads: 1 });
  });
  it('D18 tells a real process of nobody from one of root (needs root)', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const rule = createOnBoxRule({ ownUid: 0, group: 'svc', log });
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const accepted = async (): Promise<Socket> => ((await once(server, 'connection')) as [Socket])[0];
    const mine = accepted();
    const socket = connect(port, '127.0.0.1');
    expect(rule.trusts(await mine)).to.equal(true);
    const theirs = accepted();
    const child = spawn(process.execPath, ['-e', `require('net').connect(${port}, '127.0.0.1').resume()`], {
      uid: uidOf('nobody'),
      stdio: 'ignore',
    });
    expect(rule.trusts(await theirs)).to.equal(false);
    child.kill();
    socket.destroy();
    server.close();
  });
});

/** A request from this source port to `to`, as `nobody`. @returns its status, or the error of the connection */
async function askAsNobody(from: string, to: string, localPort: number, port: number): Promise<string> {
  const body = '{"scopes":["read","admin"]}';
  const script = `
    const socket = require('net').connect({ port: ${port}, host: '${to}', localAddress: '${from}', localPort: ${localPort} });
    socket.on('error', (error) => process.stdout.write(error.code));
    socket.once('data', (data) => { process.stdout.write(String(data).split(' ')[1]); socket.destroy(); });
    socket.write('POST /api/mcp/tokens HTTP/1.1\\r\\nHost: localhost:${port}\\r\\nContent-Type: application/json\\r\\nContent-Length: ${body.length}\\r\\n\\r\\n${body}');`;
  const child = spawn(process.execPath, ['-e', script], { uid: uidOf('nobody'), timeout: 10_000 });
  let said = '';
  child.stdout.on('data', (data: Buffer) => (said += data.toString()));
  await once(child, 'close');
  return said;
}

function uidOf(user: string): number {
  return Number(spawnSync('id', ['-u', user]).stdout.toString());
}

describe('minting on the node itself, from the port of somebody who may', () => {
  let node: TestNode;
  before(async function () {
    if (process.getuid?.() !== 0) this.skip();
    node = await TestNode.start({ pairing: { key: KEY } });
  });
  after(async () => node?.stop());

  for (const [from, to] of [
    ['127.0.0.1', '127.0.0.2'],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.2'],
    ['127.0.0.3', '127.0.0.1'],
    ['::ffff:127.0.0.3', '::ffff:127.0.0.1'],
  ] as const)
    it(`D18 nobody may not from ${from} to ${to}, beside a connection of root's with the same ports (needs root)`, async () => {
      const { port } = node;
      const ends = { host: '127.0.0.1', localAddress: '127.0.0.1', localPort: await freePort() };
      const trusted = connect({ ...ends, port });
      await once(trusted, 'connect');
      expect(await askAsNobody(from, to, ends.localPort, port)).to.equal('401');
      trusted.destroy();
    });
});

describe('minting on the node itself', () => {
  it('D18 root may without a key, a process of nobody may not (needs root)', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const node = await TestNode.start({ pairing: { key: KEY } });
    try {
      const script = `fetch('http://localhost:${node.port}/api/mcp/tokens', { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: '{"scopes":["read"]}' })
        .then((response) => process.stdout.write(String(response.status)))`;
      const mintAs = (user: string): string => {
        const uid = Number(spawnSync('id', ['-u', user]).stdout.toString());
        return execFileSync(process.execPath, ['-e', script], { uid }).toString();
      };
      expect(mintAs('root')).to.equal('200');
      expect(mintAs('nobody')).to.equal('401');
    } finally {
      await node.stop();
    }
  });
});
