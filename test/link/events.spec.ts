import { expect } from 'chai';
import { COMMON_SET } from '../../front/link/events/common-set.ts';
import { EventDefinitions } from '../../front/link/events/definitions.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import { rawV2 } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const EVENT = 410;
const SEQUENCE = 411;
const REQUEST_EVENT = 412;
const PX4 = 12;

function event(id: number, sequence: number, level: number, ...args: number[]): Buffer {
  const payload = Buffer.alloc(53);
  payload.writeUInt32LE(id, 0);
  payload.writeUInt16LE(sequence, 8);
  payload.writeUInt8(level, 12);
  Buffer.from(args).copy(payload, 13);
  return rawV2({ id: EVENT, payload, extra: crcExtraOf(EVENT) });
}

describe('events of the vehicle', () => {
  it("are put into words by libevents' common set and by metadata of the same form", () => {
    const definitions = new EventDefinitions();
    expect(definitions.add(COMMON_SET)).to.equal(4);
    expect(definitions.words(1102, Buffer.from([1 | 4, 2]))).to.deep.equal({
      name: 'cal_orientation_done',
      group: 'calibration',
      summary: false,
      text: 'Orientation Complete: Tail Down, Left Side Down, next step: Rotate as shown',
    });
    expect(definitions.words(1100, Buffer.from([1, 40, 1, 0, 0]))?.text).to.equal(
      'Calibration progress: 40%',
    );
    expect(definitions.words(1100, Buffer.from([1])), 'cut off').to.have.property('text');
    expect(definitions.words(7, Buffer.alloc(40))).to.equal(null);
    const own = {
      components: {
        1: {
          namespace: 'px4',
          enums: { why_t: { type: 'int16_t', entries: { '-3': { name: 'low', description: 'too low' } } } },
          navigation_mode_groups: { groups: { 4: [50_593_792], 5: [84_148_224] } },
          event_groups: {
            default: {
              events: {
                9: {
                  name: 'one',
                  message:
                    'At {1:.1m} <param>X_Y</param> {2} \\{{3}\\}<profile name="dev"> for few</profile>',
                  arguments: [{ type: 'float' }, { type: 'px4::why_t' }, { type: 'uint64_t' }],
                },
                10: 'no event',
              },
            },
          },
        },
      },
    };
    expect(definitions.add(own)).to.equal(1);
    const args = Buffer.alloc(40);
    args.writeFloatLE(12.34, 0);
    args.writeInt16LE(-3, 4);
    args.writeBigUInt64LE(5n, 6);
    expect(definitions.words((1 << 24) + 9, args)?.text).to.equal('At 12.3 m X_Y too low {5}');
    expect(definitions.groupsOf(84_148_224)).to.equal(32);
    for (const nonsense of [null, 3, [], { components: [{ event_groups: { x: { events: { y: 1 } } } }] }]) {
      expect(definitions.add(nonsense)).to.equal(0);
    }
  });

  it('that were lost are asked for, those that come twice or late are not', async () => {
    const rig = new Rig({ autopilot: PX4 });
    await rig.meet();
    const asked = (): unknown[] =>
      rig.sent
        .filter(({ id }) => id === REQUEST_EVENT)
        .map(({ payload }) => [payload.readUInt16LE(0), payload.readUInt16LE(2), payload[4], payload[5]]);
    rig.transport.deliver(event(5, 65_534, 6));
    rig.transport.deliver(event(5, 65_535, 6));
    rig.transport.deliver(event(5, 2, 6)); // 0 and 1 are missing
    expect(asked()).to.deep.equal([[0, 1, 1, 1]]);
    rig.transport.deliver(event(5, 0, 6));
    rig.transport.deliver(event(5, 1, 6));
    const newest = Buffer.from([4, 0, 0]);
    rig.transport.deliver(rawV2({ id: SEQUENCE, payload: newest, extra: crcExtraOf(SEQUENCE) }));
    rig.transport.deliver(rawV2({ id: SEQUENCE, payload: newest, extra: crcExtraOf(SEQUENCE) }));
    expect(asked().slice(1)).to.deep.equal([[3, 4, 1, 1]]);
    await rig.link.stop();
  });
});
