import { expect } from 'chai';
import { paramEncoding, paramFromBits } from '../../front/link/params/param-encoding.ts';
import { paramValue } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const COUNT = 120;

const nameOf = (index: number): string => `P_${index}`;

/** A vehicle with COUNT parameters; `lost` says which answers do not arrive. */
function withParams(
  rig: Rig,
  lost: (index: number, attempt: number) => boolean,
): { list: number; read: number } {
  const requests = { list: 0, read: 0 };
  const attempts = new Map<number, number>();
  const answer = (index: number): void => {
    const attempt = (attempts.get(index) ?? 0) + 1;
    attempts.set(index, attempt);
    if (!lost(index, attempt)) rig.say(paramValue(nameOf(index), index / 2, index, COUNT));
  };
  rig.onSent = ({ id, fields }) => {
    if (id === 21) {
      requests.list++;
      for (let index = 0; index < COUNT; index++) answer(index);
    } else if (id === 20) {
      requests.read++;
      answer(Number(fields['paramIndex']));
    }
  };
  return requests;
}

describe('parameters', () => {
  it('are downloaded when the vehicle is learned', async () => {
    const rig = new Rig();
    const requests = withParams(rig, () => false);
    await rig.meet();
    const { params, ...progress } = rig.calls.params();
    expect(progress).to.include({ cached: COUNT, expected: COUNT, priming: false, timed_out: false });
    expect(progress.generation).to.be.above(COUNT);
    expect(params['P_7']).to.deep.equal({ value: 3.5, type: 9, index: 7, default: null });
    expect(requests).to.deep.equal({ list: 1, read: 0 });
    expect(rig.state().params.cached).to.equal(COUNT);
    await rig.link.stop();
  });

  it('that were lost on the way are asked for one by one until all are there', async () => {
    const rig = new Rig();
    const requests = withParams(rig, (index, attempt) => index % 3 === 0 && attempt < 3);
    await rig.meet();
    expect(rig.calls.params()).to.include({ cached: 80, priming: true });
    await rig.live(6000);
    expect(rig.calls.params()).to.include({
      cached: COUNT,
      expected: COUNT,
      priming: false,
      timed_out: false,
    });
    expect(requests.list).to.equal(1);
    expect(requests.read).to.equal(80); // forty lost ones, each twice: nothing that was there was asked for
    await rig.link.stop();
  });

  it('of a vehicle that says it has none: it is believed, and not asked again', async () => {
    const rig = new Rig();
    let lists = 0;
    rig.onSent = ({ id }) => {
      if (id !== 21) return;
      lists++;
      rig.say(paramValue('', 0, 0, 0));
    };
    await rig.meet();
    await rig.live(10 * 60_000);
    expect(rig.calls.params()).to.include({ cached: 0, expected: 0, priming: false, timed_out: false });
    expect(lists).to.equal(1);
    await rig.link.stop();
  });

  it('of a vehicle that never answers are asked for a few times, and then no more', async () => {
    const rig = new Rig();
    let lists = 0;
    rig.onSent = ({ id }) => {
      if (id === 21) lists++;
    };
    await rig.meet();
    await rig.live(20 * 60_000);
    expect(rig.calls.params()).to.include({ priming: false, timed_out: true });
    const asked = lists;
    expect(asked).to.be.below(60);
    await rig.live(60 * 60_000);
    expect(lists).to.equal(asked);
    await rig.link.stop();
  });

  it('of a vehicle that keeps some back: the download gives up, says so, and tries again later', async () => {
    const rig = new Rig();
    withParams(rig, (index) => index >= 100);
    await rig.meet();
    await rig.live(10_000);
    expect(rig.calls.params()).to.include({ cached: 100, expected: COUNT, priming: false, timed_out: true });
    withParams(rig, () => false);
    await rig.live(62_000);
    expect(rig.calls.params()).to.include({ cached: COUNT, priming: false, timed_out: false });
    await rig.link.stop();
  });

  it('are asked for again as a list when nothing came at all, and not while the vehicle is away', async () => {
    const rig = new Rig();
    const requests = withParams(rig, () => true);
    await rig.meet();
    await rig.clock.advance(2900);
    expect(requests.list).to.be.within(2, 3);
    const before = requests.list;
    await rig.clock.advance(20_000);
    expect(requests.list - before).to.be.at.most(1);
    withParams(rig, () => false);
    rig.beat();
    await rig.live(1500);
    expect(rig.calls.params()).to.include({ cached: COUNT, priming: false });
    await rig.link.stop();
  });

  it('stay current with every PARAM_VALUE, and the generation tells of changes only', async () => {
    const rig = new Rig();
    withParams(rig, () => false);
    await rig.meet();
    const { generation } = rig.calls.params();
    rig.say(paramValue('P_5', 2.5, 65_535, COUNT)); // the same value, from an answer to a write
    expect(rig.calls.params().generation).to.equal(generation);
    rig.say(paramValue('P_5', 77, 65_535, COUNT));
    expect(rig.calls.params().generation).to.equal(generation + 1);
    expect(rig.calls.params().params['P_5']).to.deep.equal({ value: 77, type: 9, index: 5, default: null });
    rig.say(paramValue('', 1, 3, COUNT));
    rig.say(paramValue('P_6', 1, 6, COUNT), 9); // another vehicle's
    expect(rig.calls.params().generation).to.equal(generation + 1);
    await rig.link.stop();
  });

  it('SIM_* and the message SIMSTATE are evidence of a simulated vehicle', async () => {
    const rig = new Rig();
    await rig.meet();
    expect(rig.state()).to.deep.include({ simulated: false, simulated_evidence: [] });
    rig.say(paramValue('SIM_SPEEDUP', 1, 0, 2));
    rig.say(paramValue('SIMPLE', 1, 1, 2));
    rig.say(paramValue('SIM_SPEEDUP', 1, 0, 2));
    expect(rig.state()).to.deep.include({
      simulated: true,
      simulated_evidence: ['parameter SIM_SPEEDUP'],
    });
    // Another vehicle may be behind a new connection.
    rig.transport.drop();
    rig.transport.connect();
    rig.beat();
    expect(rig.state().simulated).to.equal(false);
    await rig.link.stop();
  });

  it('integers are read the way the vehicle declares', () => {
    const bits = (value: number): number => new DataView(Float32Array.of(value).buffer).getUint32(0, true);
    expect(paramFromBits(bits(12), 6, 'by_value')).to.equal(12);
    expect(paramFromBits(0xffff_fff4, 6, 'bytewise')).to.equal(-12);
    expect(paramFromBits(0x0000_00f4, 2, 'bytewise')).to.equal(-12);
    expect(paramFromBits(0x0000_00f4, 1, 'bytewise')).to.equal(244);
    expect(paramFromBits(0x0000_fff4, 4, 'bytewise')).to.equal(-12);
    expect(paramFromBits(0x0000_fff4, 3, 'bytewise')).to.equal(65_524);
    expect(paramFromBits(0xffff_fff4, 5, 'bytewise')).to.equal(4_294_967_284);
    expect(paramFromBits(bits(0.25), 9, 'bytewise')).to.equal(0.25);
    expect(paramEncoding(null, 'px4')).to.equal('bytewise');
    expect(paramEncoding(null, 'ardupilot')).to.equal('by_value');
    expect(paramEncoding(16, 'unknown')).to.equal('bytewise');
    expect(paramEncoding(131_072, 'px4')).to.equal('by_value');
  });
});
