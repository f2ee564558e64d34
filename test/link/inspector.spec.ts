import { expect } from 'chai';
import fc from 'fast-check';
import { ardupilotmega, common, minimal } from 'node-mavlink';
import { fieldsOf, messageOf } from '../../front/link/inspector/decode.ts';
import { DIALECT_TABLE } from '../../shared/mavlink/dialect-table.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import type { SeenMessage } from '../../shared/rpc/link-answers.ts';
import { seenMessages } from '../../shared/schemas/inspector.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { KEY } from '../support/edge.ts';
import { linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { attitude, encodeAs, rawV2 } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const valid = compileValidator(createAjv(), seenMessages);
/** Without extension fields the first ten bytes of a payload are every message's. */
const IDS = DIALECT_TABLE.filter((_, index) => index % 4 === 0);

function seen(rig: Rig, name: string | null = null): readonly SeenMessage[] {
  const messages = rig.calls.messages({ name });
  expect(valid({ messages })).to.equal(null);
  return messages;
}

describe('the messages on the link', () => {
  it('are there with fields by their names, how often they come, and how old they are', async () => {
    const rig = await Rig.met();
    for (let second = 0; second < 8; second++)
      for (let frame = 0; frame < 4; frame++) {
        rig.say(attitude(1000 * second + frame, 0.25, Number.NaN));
        await rig.clock.advance(250);
      }
    await rig.clock.advance(500);
    const [one, ...others] = seen(rig, 'ATTITUDE').filter(({ hz }) => hz > 0);
    expect(others).to.deep.equal([]);
    expect(one).to.deep.include({ system: 1, component: 1, id: 30, age_s: 0.75 });
    expect(one?.hz, 'of the last whole seconds, the last of which has a part').to.be.within(3.4, 4);
    expect(one?.last).to.deep.include({ time_boot_ms: 7003, roll: 0.25, pitch: null });
    expect(seen(rig).map(({ name }) => name)).to.include.members(['HEARTBEAT', 'ATTITUDE']);
    expect(seen(rig, 'NO_SUCH')).to.deep.equal([]);
    await rig.clock.advance(10_000);
    expect(seen(rig, 'ATTITUDE')[0]).to.deep.include({ hz: 0, age_s: 10.75 });
  });

  it('a new one has its rate from its first second on', async () => {
    const rig = await Rig.met();
    for (let frame = 0; frame < 10; frame++) {
      rig.say(Object.assign(new common.RadioStatus(), { rssi: frame }));
      await rig.clock.advance(100);
    }
    expect(seen(rig, 'RADIO_STATUS')[0]?.hz).to.be.within(9, 10);
  });

  it('each sender is shown by itself', async () => {
    const rig = await Rig.met();
    rig.transport.deliver(encodeAs(new minimal.Heartbeat(), 'v2', 0, 1, 154));
    rig.transport.deliver(encodeAs(new minimal.Heartbeat(), 'v1', 0, 7, 1));
    const senders = seen(rig, 'HEARTBEAT').map(({ system, component }) => `${system}/${component}`);
    expect(senders).to.deep.equal(['1/1', '1/154', '7/1']);
  });

  it('whatever comes, at most 512 are kept; those that are silent for a minute make room', async () => {
    const rig = await Rig.met();
    const flood = (system: number): void => {
      for (let component = 0; component < 256; component++)
        for (let id = 0; id < 8; id++)
          rig.transport.deliver(rawV2({ id: 500_000 + id, payload: Buffer.alloc(4), system, component }));
    };
    flood(9);
    expect(seen(rig)).to.have.length(512);
    expect(seen(rig).at(-1)).to.include({ name: null, last: null });
    await rig.clock.advance(61_000);
    flood(10);
    expect(seen(rig).filter(({ system }) => system === 10).length).to.be.above(400);
    expect(seen(rig)).to.have.length(512);
  });

  it('a signing key is not shown', async () => {
    const rig = await Rig.met();
    const key = [...Buffer.alloc(32, 0xab)];
    rig.say(
      Object.assign(new common.SetupSigning(), { targetSystem: 1, targetComponent: 1, secretKey: key }),
    );
    const [setup] = seen(rig, 'SETUP_SIGNING');
    expect(setup).to.include({ id: MSG.SETUP_SIGNING, last: null });
  });

  it('ids that two dialects use otherwise are read as the vehicle means them', () => {
    expect(messageOf(ardupilotmega.Wind.MSG_ID, 'copter')?.MSG_NAME).to.equal('WIND');
    expect(messageOf(ardupilotmega.Wind.MSG_ID, 'px4')).to.equal(null);
    expect(messageOf(ardupilotmega.Wind.MSG_ID, null)).to.equal(null);
  });

  it('no payload of any message fails, and each is JSON', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...IDS),
        fc.uint8Array({ maxLength: 255 }),
        fc.constantFrom('copter' as const, 'px4' as const, null),
        (id, payload, family) => {
          const found = messageOf(id, family);
          const name = found?.MSG_NAME ?? null;
          const last = found === null ? null : fieldsOf(found, Buffer.from(payload));
          const message = { system: 1, component: 1, id, name, hz: 0, bytes: 0, age_s: 0, last };
          expect(valid({ messages: [message] }), name ?? '').to.equal(null);
          expect(JSON.parse(JSON.stringify(last))).to.deep.equal(last);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are answered by the node, all or one', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    try {
      await linkState(node, ({ mavlink_alive: alive }) => alive);
      const headers = { 'x-svc-key': KEY };
      const all = await node.json('/api/mavlink/messages', { headers });
      expect(valid(all.body)).to.equal(null);
      const one = await node.json('/api/mavlink/messages?name=HEARTBEAT', { headers });
      const names = (one.body['messages'] as readonly SeenMessage[]).map(({ name }) => name);
      expect([...new Set(names)]).to.deep.equal(['HEARTBEAT']);
      expect((await node.json('/api/mavlink/messages?name=x', { headers })).status).to.equal(422);
      expect((await node.json('/api/mavlink/messages')).status).to.equal(401);
    } finally {
      await node.stop();
    }
  });
});
