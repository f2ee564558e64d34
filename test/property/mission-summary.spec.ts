import { expect } from 'chai';
import fc from 'fast-check';
import { summaryOf } from '../../shared/mission/summary.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';

const item = (command: number, param1 = 0): Omit<MissionItem, 'seq'> => ({
  frame: 3,
  command,
  param1,
  param2: 0,
  param3: 0,
  param4: 0,
  x: 47.39,
  y: 8.54,
  z: 20,
  autocontinue: 1,
});

describe('what a mission is said to do', () => {
  it('names each item that is more than flight first, however many others there are', () => {
    const fly = fc.constantFrom(item(16), item(178), item(207, 1), item(218, 9));
    const more = fc.constantFrom(
      [item(208, 2), 'DO_PARACHUTE', 'parachute'] as const,
      [item(207, 0), 'DO_FENCE_ENABLE', 'fence off'] as const,
      [item(218, 31), 'DO_AUX_FUNCTION', 'stops the motors'] as const,
      [item(400, 0), 'COMPONENT_ARM_DISARM', 'disarms'] as const,
      [item(31_010), 'USER_1', 'can cost the vehicle'] as const,
    );
    fc.assert(
      fc.property(fc.array(fly, { maxLength: 300 }), fc.array(fc.tuple(more, fc.nat(300))), (usual, odd) => {
        const list: { item: Omit<MissionItem, 'seq'>; words: readonly string[] }[] = usual.map((each) => ({
          item: each,
          words: [],
        }));
        for (const [[each, name, words], at] of odd) list.splice(at, 0, { item: each, words: [name, words] });
        const items = list.map(({ item: each }, index) => ({ ...each, seq: index + 1 }));
        if (items.length === 0) return;
        const text = summaryOf('mission', items);
        const usualAt = text.indexOf(`${items.length} items`);
        for (const [index, { words }] of list.entries()) {
          const [name, what] = words;
          const at = text.indexOf(`Item ${index + 1}, ${name}`);
          if (name === undefined || what === undefined) continue;
          expect(at).to.be.within(0, usualAt);
          expect(text.slice(at).split('.')[0]).to.include(what);
        }
      }),
      { numRuns: 50 },
    );
  });
});
