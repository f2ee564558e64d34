import { expect } from 'chai';
import { common, type MavLinkPacket, minimal } from 'node-mavlink';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const KEY = Buffer.alloc(32, 7);
const OTHER = Buffer.alloc(32, 8);
const TARGET = { targetSystem: 1, targetComponent: 1 };

function setup(client: SimClient, key: Buffer, initialTimestamp = 1n): void {
  client.send(common.SetupSigning, { ...TARGET, secretKey: [...key], initialTimestamp });
}

const now = (): number => Date.now();

/** Rising, as two frames within a millisecond would have the same time. */
function clock(start: number): () => number {
  let at = start;
  return () => at++;
}

async function silent(client: SimClient): Promise<boolean> {
  const ack = client.ack(520, 300);
  client.order(520, 1);
  return ack.then(
    () => false,
    () => true,
  );
}

async function heard(client: SimClient): Promise<MavLinkPacket> {
  await client.next(minimal.Heartbeat);
  const packet = client.packets.findLast(({ header }) => header.msgid === 0);
  if (packet === undefined) throw new Error('no heartbeat');
  return packet;
}

describe('sim signing', () => {
  it('signs with a rising time once it has a key, and hears only what is signed with it', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    expect((await heard(client)).signature).to.equal(null);
    setup(client, KEY);
    await client.next(minimal.Heartbeat);
    const first = (await heard(client)).signature;
    const second = (await heard(client)).signature;
    expect(first?.matches(KEY)).to.equal(true);
    expect(first?.matches(OTHER)).to.equal(false);
    expect(second?.timestamp ?? 0).to.be.greaterThan(first?.timestamp ?? 0);

    expect(await silent(client)).to.equal(true);
    client.sign({ key: KEY, linkId: 4, at: clock(now()) });
    expect(await silent(client)).to.equal(false);
    client.sign({ key: OTHER, linkId: 4, at: clock(now() + 1000) });
    expect(await silent(client)).to.equal(true);
    client.sign({ key: KEY, linkId: 4, at: clock(now() - 60_000) });
    expect(await silent(client)).to.equal(true);
    client.sign({ key: KEY, linkId: 5, at: clock(now() - 120_000) });
    expect(await silent(client)).to.equal(true);
  });

  it('hears a radio that does not sign, has the key from the command line, and gives it up for zeros', async () => {
    await using sim = await SimProcess.start('--signing-key', KEY.toString('hex'));
    const client = await sim.connect();
    expect((await heard(client)).signature?.matches(KEY)).to.equal(true);
    client.send(common.RadioStatus, { rssi: 100 });
    client.sign({ key: KEY, linkId: 1, at: clock(now()) });
    setup(client, Buffer.alloc(32));
    client.sign(undefined);
    expect(await silent(client)).to.equal(false);
    expect((await heard(client)).signature).to.equal(null);
  });

  it('survives a time that no signature can hold', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    setup(client, KEY, 2n ** 64n - 1n);
    await client.next(minimal.Heartbeat);
    expect((await heard(client)).signature?.matches(KEY)).to.equal(true);
  });

  it('keeps the key through a reboot', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    setup(client, KEY);
    await client.next(minimal.Heartbeat);
    await sim.fault({ reboot: true });
    expect((await heard(await sim.connect())).signature?.matches(KEY)).to.equal(true);
  });

  it('refuses a key, or is deaf for what is signed, where a test asks for it', async () => {
    await using sim = await SimProcess.start('--refuse-signing');
    const client = await sim.ready();
    setup(client, KEY);
    expect(await silent(client)).to.equal(false);
    expect((await heard(client)).signature).to.equal(null);
    await sim.fault({ refuseSigning: false, signingDeaf: true });
    setup(client, KEY);
    await client.next(minimal.Heartbeat);
    expect((await heard(client)).signature?.matches(KEY)).to.equal(true);
    client.sign({ key: KEY, linkId: 1, at: clock(now()) });
    expect(await silent(client)).to.equal(true);
    await sim.fault({ signingDeaf: false });
    expect(await silent(client)).to.equal(false);
  });
});
