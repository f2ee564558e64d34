import { expect } from 'chai';
import { LINK } from '../../shared/rpc/link.ts';
import { encodeAs, heartbeat, SAMPLE_KEY } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

describe('the parts of the link', () => {
  it('in the list each method of the contract has one part', () => {
    const { list } = new Rig().link.parts;
    const answered = list.flatMap(({ methods = {} }) => Object.keys(methods));
    expect(answered.toSorted()).to.deep.equal(Object.keys(LINK.methods).toSorted());
  });

  it("the key of the vehicle before is dropped before another one's telemetry is asked for", async () => {
    const rig = await Rig.met({ version: { capabilities: 8192 } }); // MAVLINK2
    const enrolled = rig.calls.signing_enrol({
      key_hex: SAMPLE_KEY.toString('hex'),
      link_id: 1,
      force: false,
    });
    await rig.clock.advance(300);
    rig.transport.deliver(encodeAs(heartbeat(), 'signed'));
    await enrolled;
    await rig.live(1000);
    expect(rig.calls.signing().signing).to.equal(true);
    await rig.clock.advance(31_000);
    const signed = (): number => rig.calls.signing().counters.tx_signed_count;
    const before = { signed: signed(), sent: rig.sent.length };
    expect(before.signed).to.be.greaterThan(0);
    rig.say(heartbeat(), 2);
    expect(rig.sent.length).to.be.greaterThan(before.sent);
    expect(signed()).to.equal(before.signed);
  });
});
