import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { Rig, type Sent } from './rig.ts';

const make = <T extends MavLinkData>(clazz: new () => T, fields: Record<string, unknown>): T =>
  Object.assign(new clazz(), fields);

const ours = { targetSystem: 1, targetComponent: 191, missionType: 0 };
/** A vehicle that holds one item, and tells it as MISSION_ITEM: degrees in floats. */
function tells(rig: Rig): void {
  rig.onSent = ({ id, fields }: Sent) => {
    if (id === 43) rig.say(make(common.MissionCount, { ...ours, count: 1 }));
    if (id !== 51) return;
    const item = {
      ...ours,
      seq: Number(fields['seq']),
      frame: 3,
      command: 16,
      current: 0,
      autocontinue: 1,
      z: 20,
    };
    const params = { param1: 0, param2: 0, param3: 0, param4: NaN };
    rig.say(make(common.MissionItem, { ...item, ...params, x: 47.397742, y: 8.545594 }));
  };
}

describe('lists as some vehicles tell them', () => {
  it('a MISSION_ITEM is an answer as well as a MISSION_ITEM_INT', async () => {
    const rig = await Rig.met({ autopilot: 12 });
    tells(rig);
    const reading = rig.calls.mission_read({ part: 'mission', refresh: true, token: '' });
    for (let count = 0; count < 40; count++) await rig.clock.advance(50);
    const { items } = await reading;
    expect(items).to.have.length(1);
    expect(items[0]?.x).to.be.closeTo(47.397742, 1e-5);
    await rig.link.stop();
  });

  it('a parameter list that grows by a write is read again', async () => {
    const rig = await Rig.met({ version: null });
    let count = 2;
    const tell = (index: number): void =>
      rig.say(
        make(common.ParamValue, {
          paramId: `Q${index}`,
          paramValue: 1,
          paramType: 9,
          paramCount: count,
          paramIndex: index,
        }),
      );
    rig.onSent = ({ id, fields }) => {
      if (id === 21) for (let index = 0; index < count; index++) tell(index);
      if (id !== 23) return;
      count = 4;
      rig.say(make(common.ParamValue, { ...fields, paramType: 9, paramCount: 4, paramIndex: 0xffff }));
    };
    await rig.live(15_000);
    expect(rig.state().params).to.include({ cached: 2, expected: 2 });
    const writing = rig.calls.param_set({ name: 'Q0', value: 2, force: false });
    await rig.live(10_000);
    await writing;
    expect(rig.state().params).to.include({ cached: 4, expected: 4 });
    await rig.link.stop();
  });
});
