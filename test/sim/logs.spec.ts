import { expect } from 'chai';
import { common, minimal } from 'node-mavlink';
import { simulatedLogByte } from '../../bin/sim/mavlink/log-link.ts';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const TARGET = { targetSystem: 1, targetComponent: 1 };
const ALL = { ...TARGET, start: 0, end: 0xffff };
const SIZE = 1000;

/** Without one, ArduPilot sends nothing of its logs. */
function beat(client: SimClient): void {
  client.send(minimal.Heartbeat, { type: 6, autopilot: 8 });
}

/** Everything that was sent of logs before the answer to something later: frames keep their order. */
async function silence(client: SimClient): Promise<number> {
  const before = client.packets.filter(({ header }) => header.msgid === 118 || header.msgid === 120).length;
  await client.command(512, 148);
  await client.next(common.GlobalPositionInt);
  await client.next(common.GlobalPositionInt);
  return client.packets.filter(({ header }) => header.msgid === 118 || header.msgid === 120).length - before;
}

async function entries(client: SimClient, count: number): Promise<readonly common.LogEntry[]> {
  const found: common.LogEntry[] = [];
  const all = client.next(common.LogEntry, (entry) => found.push(entry) === count);
  client.send(common.LogRequestList, ALL);
  await all;
  return found;
}

async function data(client: SimClient, id: number, ofs: number, count: number): Promise<Buffer> {
  const parts: number[] = [];
  const wanted = Math.max(0, Math.min(SIZE - ofs, count));
  const all = client.next(common.LogData, (part) => {
    parts.push(...part.data.slice(0, part.count));
    return parts.length >= wanted;
  });
  client.send(common.LogRequestData, { ...TARGET, id, ofs, count });
  await all;
  return Buffer.from(parts);
}

const content = (id: number, start: number, end: number): Buffer =>
  Buffer.from(Array.from({ length: end - start }, (_, i) => simulatedLogByte(id, start + i)));

describe('sim logs', () => {
  it('ArduPilot: counts from 1, wants a heartbeat, sends what was asked for, says nothing of logs while armed', async () => {
    await using sim = await SimProcess.start('--logs', '3', '--log-size', String(SIZE));
    const client = await sim.ready();
    client.send(common.LogRequestList, ALL);
    expect(await silence(client), 'no heartbeat yet').to.equal(0);
    client.send(common.LogRequestEnd, TARGET);
    beat(client);
    const list = await entries(client, 3);
    expect(list.map(({ id, size, numLogs, lastLogNum }) => [id, size, numLogs, lastLogNum])).to.deep.equal(
      [1, 2, 3].map((id) => [id, SIZE, 3, 3]),
    );
    expect((await data(client, 2, 0, SIZE)).equals(content(2, 0, SIZE))).to.equal(true);
    expect((await data(client, 2, 90, 5)).equals(content(2, 90, 95))).to.equal(true);
    expect(await data(client, 2, SIZE, 10), 'the end').to.have.length(0);
    client.send(common.LogRequestData, { ...TARGET, id: 4, ofs: 0, count: 10 });
    expect(await silence(client), 'no such log').to.equal(0);

    await client.command(400, 1, 21196);
    await client.armed(true);
    const warned = client.text('Disarm for log download');
    client.send(common.LogRequestData, { ...TARGET, id: 1, ofs: 0, count: 10 });
    await warned;
    client.send(common.LogErase, TARGET);
    expect(await silence(client), 'armed').to.equal(0);
    await client.command(400, 0, 21196);
    await client.armed(false);
    beat(client);
    expect(await entries(client, 4), 'nothing was erased, and the arming has left one').to.have.length(4);
    client.send(common.LogErase, TARGET);
    const [none] = await entries(client, 1);
    expect(none).to.include({ id: 0, numLogs: 0, size: 0 });
  });

  it('an arming that ends within a step of the simulation has its log', async () => {
    await using sim = await SimProcess.start('--logs', '2', '--log-size', String(SIZE));
    const client = await sim.ready();
    beat(client);
    client.order(400, 1, 21196);
    await client.command(400, 0, 21196);
    expect(await entries(client, 3)).to.have.length(3);
  });

  it('PX4: counts from 0, gives no data before a list, says nothing when there are none', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--logs', '2', '--log-size', String(SIZE));
    const client = await sim.ready();
    client.send(common.LogRequestData, { ...TARGET, id: 0, ofs: 0, count: 10 });
    expect(await silence(client), 'not listed yet').to.equal(0);
    const list = await entries(client, 2);
    expect(list.map(({ id, numLogs }) => [id, numLogs])).to.deep.equal([
      [0, 2],
      [1, 2],
    ]);
    expect((await data(client, 1, 180, 500)).equals(content(1, 180, 680))).to.equal(true);
    client.send(common.LogErase, TARGET);
    client.send(common.LogRequestList, ALL);
    expect(await silence(client)).to.equal(0);
  });
});
