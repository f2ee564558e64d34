import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { createOnBoxRule, groupMembers, uidOfPeer } from '../../front/control/edge/on-box.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const log = createLogger('test', 'silent');
const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 20 4 30 10 -1
   1: 0100007F:A1B2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 65534        0 2 1 0 20 4 30 10 -1`;
const TABLE6 = `  sl  local_address                         remote_address                        st tx rx tr tm retr uid
   0: 00000000000000000000000001000000:A1B3 00000000000000000000000001000000:1F90 01 0:0 0:0 0 1000 0 3
   1: 0000000000000000FFFF00000100007F:A1B4 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 1001 0 4`;

describe('who is at the other end of a loopback connection', () => {
  const peer = (remoteAddress: string, remotePort: number) => ({
    remoteAddress,
    remotePort,
    localPort: 0x1f90,
  });
  it('is read from the kernel, for IPv4, IPv6 and mapped addresses', () => {
    expect(uidOfPeer(peer('127.0.0.1', 0xa1b2), [TABLE])).to.equal(65534);
    expect(uidOfPeer(peer('::ffff:127.0.0.1', 0xa1b2), [TABLE])).to.equal(65534);
    expect(uidOfPeer(peer('::1', 0xa1b3), [TABLE, TABLE6])).to.equal(1000);
    expect(uidOfPeer(peer('::ffff:127.0.0.1', 0xa1b4), [TABLE, TABLE6])).to.equal(1001);
    expect(uidOfPeer(peer('127.0.0.1', 0xa1b9), [TABLE, TABLE6])).to.equal(null);
    expect(uidOfPeer({}, [TABLE])).to.equal(null);
  });
  it('counts members of the group by name and by first group', () => {
    const groups = 'root:x:0:\nsvc:x:990:alice,bob\n';
    const passwd =
      'root:x:0:0::/:/bin/sh\nalice:x:1000:1000::/:/bin/sh\ncarol:x:1002:990::/:/bin/sh\ndave:x:1003:1003::/:/bin/sh';
    expect([...groupMembers('svc', groups, passwd)]).to.deep.equal([1000, 1002]);
    expect(groupMembers('none', groups, passwd).size).to.equal(0);
  });
  it('trusts root and its own user, and nobody where the table cannot be read', () => {
    const rule = (text: string) => createOnBoxRule({ ownUid: 1234, group: 'svc', log, read: () => text });
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
    const { spawn } = await import('node:child_process');
    const nobody = Number(spawnSync('id', ['-u', 'nobody']).stdout.toString());
    const child = spawn(process.execPath, ['-e', `require('net').connect(${port}, '127.0.0.1').resume()`], {
      uid: nobody,
      stdio: 'ignore',
    });
    expect(rule.trusts(await theirs)).to.equal(false);
    child.kill();
    socket.destroy();
    server.close();
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
