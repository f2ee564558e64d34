import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { FirstBootOperations } from '../../bin/helper/first-boot-operations.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { TwoHosts } from '../support/two-hosts.ts';

const PORT = 8080;
const FIREWALL = join(ROOT, 'deploy/root/usr/lib/svc/firewall.nft');
/** What must be closed, and what has to stay open: TCP and UDP. */
const CLOSED = { tcp: [8084, 8102, 8103, 8173], udp: [5600, 5602, 5607] } as const;
const OPEN = { tcp: [8083, 5790], udp: [5599, 14_550, 5608] } as const;
const ALL = { tcp: [...CLOSED.tcp, ...OPEN.tcp], udp: [...CLOSED.udp, ...OPEN.udp] };

/** Answers with `here` on all ports. */
const ANSWER = `
  const { tcp, udp } = ${JSON.stringify(ALL)};
  const up = [];
  for (const port of tcp) up.push(new Promise((done) => require('net').createServer((s) => s.end('here')).listen(port, done)));
  for (const port of udp) {
    const socket = require('dgram').createSocket('udp4');
    socket.on('message', (_m, { port: to, address }) => socket.send('here', to, address));
    up.push(new Promise((done) => socket.bind(port, done)));
  }
  Promise.all(up).then(() => console.log('up'));
`;
/** Prints those that answer. A port that drops is silent, so each is given some time. */
const PROBE = `
  const host = process.argv[1];
  const { tcp, udp } = ${JSON.stringify(ALL)};
  const asked = [
    ...tcp.map((port) => new Promise((done) => {
      const socket = require('net').connect(port, host);
      const end = (found) => { socket.destroy(); done(found); };
      socket.on('data', () => end('tcp ' + port)).on('error', () => end(null)).setTimeout(2000, () => end(null));
    })),
    ...udp.map((port) => new Promise((done) => {
      const socket = require('dgram').createSocket('udp4');
      const again = setInterval(() => socket.send('?', port, host), 200);
      const end = (found) => { clearInterval(again); clearTimeout(late); socket.close(); done(found); };
      const late = setTimeout(() => end(null), 2000);
      socket.on('message', () => end('udp ' + port)).on('error', () => end(null));
    })),
  ];
  Promise.all(asked).then((found) => console.log(JSON.stringify(found.filter(Boolean))));
`;

function named(ports: {
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
}): readonly string[] {
  return [...ports.tcp.map((port) => `tcp ${port}`), ...ports.udp.map((port) => `udp ${port}`)];
}

describe('the node’s own networks, with a host on the other end', function () {
  this.timeout(90_000);
  let hosts: TwoHosts;

  before(async () => {
    hosts = await TwoHosts.create([
      ['wlan0', '192.168.4.1/24', '192.168.4.20/24'],
      ['usb0', '192.168.7.1/24', '192.168.7.20/24'],
      ['eth0', '192.168.1.7/24', '192.168.1.20/24'],
      ['drone-wfb', '10.5.0.2/24', '10.5.0.1/24'],
    ]);
  });
  after(async () => hosts?.destroy());

  describe('the firewall', () => {
    let servers: ChildProcess;
    before(async () => {
      const [program = '', ...args] = hosts.near;
      servers = spawn(program, [...args, process.execPath, '-e', ANSWER], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(servers.stdout ?? servers, 'data');
    });
    after(async () => {
      const gone = once(servers, 'exit');
      servers.kill();
      await gone;
    });
    const answering = async (host: string): Promise<unknown> =>
      JSON.parse(await hosts.onFar(process.execPath, '-e', PROBE, host)) as unknown;

    it('closes internal ports to other hosts, not to the tunnel and this machine, and touches nothing else', async () => {
      expect(await answering('192.168.1.7')).to.have.members(named(ALL));
      await hosts.onNear('nft', 'add table inet others { chain c { type filter hook input priority 0; }; }');
      await hosts.onNear('nft', '-f', FIREWALL);
      await hosts.onNear('nft', '-f', FIREWALL); // a restart of its unit
      for (const host of ['192.168.1.7', '192.168.4.1', '192.168.7.1'])
        expect(await answering(host), host).to.have.members(named(OPEN));
      // The tunnel's own address, from another network.
      await hosts.onFar('ip', 'route', 'replace', '10.5.0.2/32', 'via', '192.168.1.7');
      expect(await answering('10.5.0.2')).to.have.members(named(OPEN));
      await hosts.onFar('ip', 'route', 'del', '10.5.0.2/32');
      expect(await answering('10.5.0.2')).to.have.members(named(ALL));
      const here = await hosts.onNear(process.execPath, '-e', PROBE, '127.0.0.1');
      expect(JSON.parse(here)).to.have.members(named(ALL));
      expect(await hosts.onNear('nft', 'list', 'tables')).to.equal('table inet others\ntable inet svc\n');
      await hosts.onNear('nft', 'delete', 'table', 'inet', 'svc');
      expect(await answering('192.168.1.7')).to.have.members(named(ALL));
    });
  });

  describe('a phone', () => {
    let node: TestNode;
    let operations: FirstBootOperations;
    before(async () => {
      operations = new FirstBootOperations(async (program, args) => hosts.onNear(program, ...args), {
        sharedDns: '/nowhere',
        cards: [],
      });
      node = await TestNode.start({ port: PORT, prefix: hosts.near, simulated: false });
    });
    after(async () => node?.stop());

    /** `302 http://…` */
    const look = async (address: string, host: string, path: string, ...more: string[]): Promise<string> => {
      const url = `http://${address}${path}`;
      const format = '%{http_code} %{redirect_url}';
      const args = ['-s', '-o', '/dev/null', '-w', format, '-H', `Host: ${host}`, '-m', '20', ...more, url];
      return (await hosts.onFar('curl', ...args)).trim();
    };
    const PROBES = [
      ['captive.apple.com', '/hotspot-detect.html'],
      ['connectivitycheck.gstatic.com', '/generate_204'],
      ['www.msftconnecttest.com', '/connecttest.txt'],
      ['www.msftconnecttest.com', '/redirect'],
      ['detectportal.firefox.com', '/success.txt?ipv4'],
    ] as const;

    it('that looks for the internet at port 80 gets the page of the set-up, and only while the node is not paired', async () => {
      await operations.captive({ enabled: true, port: PORT });
      await operations.captive({ enabled: true, port: PORT });
      for (const [host, path] of PROBES) {
        expect(await look('192.168.4.1', host, path), host).to.equal('302 http://192.168.4.1:8080/setup');
        expect(await look('192.168.7.1', host, path), host).to.equal('302 http://192.168.7.1:8080/setup');
      }
      const dns = ['--connect-to', 'captive.apple.com:80:192.168.4.1:80'];
      const page = await hosts.onFar('curl', '-sL', '-m', '20', ...dns, 'http://captive.apple.com/');
      expect(page).to.include('<!doctype html>');
      const apple = ['captive.apple.com', '/hotspot-detect.html'] as const;
      // Not on another network, not with another method, and a page of another site gets nothing.
      expect(await look('192.168.1.7:8080', ...apple)).to.equal('403');
      expect(await look('192.168.4.1', ...apple, '-X', 'POST')).to.equal('403');
      expect(await look('192.168.4.1', 'evil.example', '/api/status', '-X', 'PUT')).to.equal('403');
      expect(await look('192.168.4.1', '192.168.4.1', '/api/status')).to.equal('200');
      // Port 80 of another address of the machine is nobody's.
      expect(await look('192.168.1.7', ...apple).catch(() => 'refused')).to.equal('refused');

      await hosts.onNear(
        'curl',
        '-sf',
        '-X',
        'POST',
        '-H',
        'content-type: application/json',
        '-d',
        '{"user_id":"test"}',
        `http://127.0.0.1:${PORT}/api/pairing/claim`,
      );
      expect(await look('192.168.4.1', ...apple)).to.equal('401');
      await operations.captive({ enabled: false, port: PORT });
      expect(await look('192.168.4.1', ...apple).catch(() => 'refused')).to.equal('refused');
      expect(await hosts.onNear('nft', 'list', 'tables')).to.not.include('svc_captive');
    });
  });
});
