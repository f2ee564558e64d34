import { expect } from 'chai';
import { common, minimal } from 'node-mavlink';
import { SimProcess } from './sim-process.ts';

describe('sim fleet', () => {
  it('has each vehicle on its own port, with its own system id, 20 m from the one before', async () => {
    await using sim = await SimProcess.start('--fleet', '3');
    expect(sim.ports.length).to.equal(3);
    expect(new Set(sim.ports).size).to.equal(3);
    expect(sim.port).to.equal(sim.ports[0]);
    const places: number[] = [];
    for (const [i, port] of sim.ports.entries()) {
      const client = await sim.connect(port);
      await client.next(minimal.Heartbeat);
      expect(client.packets[0]?.header.sysid).to.equal(i + 1);
      client.target = i + 1;
      client.order(511, common.GlobalPositionInt.MSG_ID, 20_000);
      places.push((await client.next(common.GlobalPositionInt, ({ lon }) => lon !== 0)).lon);
    }
    const [a = 0, b = 0, c = 0] = places;
    const metres = (degrees: number): number => (degrees / 1e7) * 111_319 * Math.cos((35.36 * Math.PI) / 180);
    expect(metres(b - a)).to.be.within(19.5, 20.5);
    expect(metres(c - b)).to.be.within(19.5, 20.5);
  });

  it('has all vehicles on one link, and each acts on what is for it', async () => {
    await using sim = await SimProcess.start('--fleet', '4', '--shared', '--sysid', '11');
    expect(sim.ports.length).to.equal(1);
    const client = await sim.connect();
    const seen = new Set<number>();
    await client.next(minimal.Heartbeat, () => {
      seen.add(client.packets.at(-1)?.header.sysid ?? 0);
      return seen.size === 4;
    });
    expect([...seen].sort((a, b) => a - b)).to.deep.equal([11, 12, 13, 14]);
    client.target = 13;
    expect(await client.command(520, 1)).to.equal(common.MavResult.ACCEPTED);
    const acks = client.packets.filter(({ header }) => header.msgid === common.CommandAck.MSG_ID);
    expect(acks.map(({ header }) => header.sysid)).to.deep.equal([13]);
  });
});
