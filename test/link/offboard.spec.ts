import { expect } from 'chai';
import type { SetPoint } from '../../shared/rpc/link-state.ts';
import { globalPosition } from './mavlink-samples.ts';
import { Rig, type RigOptions, type Sent } from './rig.ts';

const LOCAL = 84;
const GLOBAL = 86;
const GUIDED: RigOptions = { type: 2, customMode: 4 };
const OFFBOARD: RigOptions = { type: 2, autopilot: 12, customMode: 6 << 16 };
const EAST: SetPoint = { type: 'velocity', frame: 'ned', vx: 0, vy: 3, vz: 0 };

async function met(options: RigOptions): Promise<Rig> {
  const rig = await Rig.met(options);
  rig.sent.length = 0;
  return rig;
}

const targets = (rig: Rig): readonly Sent[] => rig.sent.filter(({ id }) => id === LOCAL || id === GLOBAL);

describe('set-points', () => {
  it('go out in the frames and masks that both firmwares take', async () => {
    const rig = await met(GUIDED);
    const cases: [point: SetPoint, id: number, fields: Record<string, number>][] = [
      [
        { ...EAST, yaw_rate: 90 },
        LOCAL,
        { coordinateFrame: 1, typeMask: 0x5c7, vy: 3, yawRate: Math.fround(Math.PI / 2) },
      ],
      [
        { type: 'velocity', frame: 'body', vx: 2, vy: 0, vz: -1 },
        LOCAL,
        { coordinateFrame: 8, vx: 2, vz: -1, yawRate: 0 },
      ],
      [
        { type: 'position', lat: 48.1, lon: 11.5, alt: 20 },
        GLOBAL,
        { coordinateFrame: 6, typeMask: 0xdf8, latInt: 481_000_000, alt: 20 },
      ],
      [
        { type: 'position', lat: 48.1, lon: 11.5, alt: 20, yaw: 180 },
        GLOBAL,
        { typeMask: 0x9f8, yaw: Math.fround(Math.PI) },
      ],
    ];
    for (const [point, id, fields] of cases) {
      rig.sent.length = 0;
      rig.calls.setpoint({ holder: 'a', point });
      expect(targets(rig)).to.have.length(1);
      expect(targets(rig)[0]?.id).to.equal(id);
      expect(targets(rig)[0]?.fields).to.include(fields);
      await rig.live(20);
    }
    await rig.link.stop();
  });

  it('to a place reach PX4 as heights above sea level, and not while nobody knows how high its home is', async () => {
    const rig = await met(OFFBOARD);
    const point: SetPoint = { type: 'position', lat: 48, lon: 11, alt: 20, allow_far: true };
    expect(() => rig.calls.setpoint({ holder: 'a', point })).to.throw('has not reported its altitude');
    expect(targets(rig)).to.deep.equal([]);
    rig.say(globalPosition(100, 48, 11)); // 500 m above the sea, 12 m above home
    rig.calls.setpoint({ holder: 'a', point });
    expect(targets(rig)[0]?.fields).to.include({ coordinateFrame: 5, typeMask: 0xdf8, alt: 508 });
    await rig.link.stop();
  });

  it('more than 50 a second are left out and counted', async () => {
    const rig = await met(GUIDED);
    for (let count = 0; count < 100; count++) {
      rig.calls.setpoint({ holder: 'a', point: EAST });
      await rig.live(10);
    }
    const { setpoints, dropped } = rig.state().offboard;
    expect(setpoints).to.be.within(45, 51);
    expect(setpoints + dropped).to.equal(100);
    await rig.link.stop();
  });

  it('one client holds them; after half a second of silence ArduPilot is told to stand still', async () => {
    const rig = await met(GUIDED);
    rig.calls.setpoint({ holder: 'a', point: EAST });
    expect(() => rig.calls.setpoint({ holder: 'b', point: EAST }))
      .to.throw('Another client')
      .with.property('code', 'E_BUSY');
    await rig.live(450);
    expect(targets(rig)).to.have.length(1);
    await rig.live(200);
    expect(
      targets(rig)
        .slice(1)
        .map(({ fields }) => fields['vy']),
    ).to.deep.equal([0, 0, 0]);
    expect(rig.state().offboard).to.include({ holder: null, following: true });
    rig.calls.setpoint({ holder: 'b', point: EAST });
    expect(rig.state().offboard.holder).to.equal('b');
    rig.calls.setpoint_end({ holder: 'a' }); // not its own
    expect(rig.state().offboard.holder).to.equal('b');
    await rig.link.stop();
  });

  it('PX4 is put into AUTO.LOITER, unless a command about its course is under way', async () => {
    for (const busy of [false, true]) {
      const rig = await met(OFFBOARD);
      rig.calls.setpoint({ holder: 'a', point: EAST });
      const landing = busy ? rig.calls.command({ cmd: 'land', args: [] }) : null;
      rig.calls.setpoint_end({ holder: 'a' });
      await rig.live(10);
      const modes = rig.commands(176).map(({ fields }) => [fields['_param2'], fields['_param3']]);
      expect(modes, String(busy)).to.deep.equal(busy ? [] : [[4, 3]]);
      await rig.link.stop();
      await landing;
    }
  });

  it('in another mode somebody else flies: nothing is sent when they end', async () => {
    const rig = await met({ ...GUIDED, customMode: 6 }); // RTL
    rig.calls.setpoint({ holder: 'a', point: EAST });
    await rig.live(700);
    expect(targets(rig)).to.have.length(1);
    expect(rig.state().offboard).to.include({ holder: null, following: false });
    await rig.link.stop();
  });

  it('are refused without a vehicle, and for an autopilot of another kind', async () => {
    const strange = await met({ type: 2, autopilot: 4 });
    expect(() => strange.calls.setpoint({ holder: 'a', point: EAST })).to.throw('ArduPilot and PX4');
    await strange.link.stop();
    const silent = new Rig(GUIDED);
    expect(() => silent.calls.setpoint({ holder: 'a', point: EAST }))
      .to.throw()
      .with.property('code', 'E_NO_FC');
  });
});
