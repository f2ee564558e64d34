import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Answer } from 'dns-packet';
import { Avahi } from '../support/avahi.ts';
import { MdnsListener, SERVICE } from '../support/mdns-listener.ts';
import { needs } from '../support/needs.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';

const run = promisify(execFile);
const [NEAR, FAR] = ['10.79.22.1', '10.79.22.2'];

describe('mDNS of the node where avahi-daemon runs', function () {
  this.timeout(120_000);
  let lan: RemoteHost;
  let avahi: Avahi;
  let node: TestNode;
  let other: MdnsListener;
  let id: string;
  before(async function () {
    if (noNamespaces() !== null) return this.skip();
    needs(this, 'avahi-daemon', 'dbus-daemon');
    lan = await RemoteHost.create(`${NEAR}/24`, `${FAR}/24`);
    const { prefix } = lan;
    avahi = await Avahi.start(prefix, 'companion');
    node = await TestNode.start({
      simulated: false,
      config: 'agent:\n  name: Falcon\ndiscovery:\n  mdns: true\n',
      prefix,
      env: avahi.env,
    });
    id = (await readFile(node.paths.deviceId, 'utf8')).trim();
    other = await MdnsListener.open(NEAR, FAR);
  });
  after(async () => {
    other?.close();
    await node?.stop();
    await avahi?.stop();
    await lan?.destroy();
  });

  const is = (record: Answer, type: string, name: string, data: string): boolean =>
    record.type === type && record.name === name && JSON.stringify(record).includes(data);
  const first = (): string => `svc ${id}.${SERVICE}`;
  const host = (): string => `svc-${id.slice(0, 6)}.local`;
  /** Who listens for mDNS there. */
  const listeners = async (): Promise<string> => {
    const [program = '', ...args] = lan.prefix;
    return (await run(program, [...args, 'ss', '-Hnulp', 'sport', '=', '5353'])).stdout;
  };

  it('it publishes the node, its names and its page; the node itself has no socket for it', async () => {
    await other.until(
      'the node is found',
      (records) =>
        records.some((each) => is(each, 'PTR', SERVICE, first())) &&
        records.some((each) => is(each, 'SRV', first(), 'companion.local')) &&
        records.some((each) => each.type === 'TXT' && each.name === first()) &&
        records.some((each) => is(each, 'A', 'companion.local', FAR)),
    );
    for (const name of [host(), 'falcon.local'])
      await other.until(
        name,
        (records) => records.some((each) => is(each, 'CNAME', name, 'companion.local')),
        { type: 'query', questions: [{ name, type: 'A' }] },
      );
    expect((await listeners()).trim().split('\n'))
      .to.have.length(1)
      .and.match(/avahi-daemon/);
  });

  it('where another machine has its name, it takes the next', async () => {
    const data = { port: 9, target: 'stranger.local', priority: 0, weight: 0 };
    other.defend({
      type: 'response',
      answers: [{ name: first(), type: 'SRV', ttl: 120, flush: true, data }],
    });
    await other.until('the next name', (records) =>
      records.some((each) => is(each, 'PTR', SERVICE, `svc ${id} (2).${SERVICE}`)),
    );
    other.defend(null);
  });

  it('when it ends, the node answers itself', async () => {
    await avahi.end();
    await other.until('the node is found', (records) =>
      records.some((each) => is(each, 'SRV', first(), host())),
    );
    expect(await listeners()).to.not.include('avahi-daemon');
  });
});
