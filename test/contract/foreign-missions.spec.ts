import { expect } from 'chai';
import { NoText, textOf } from '../../shared/files/text-of.ts';
import { warningsOf } from '../../shared/mission/check.ts';
import { itemsIn, partOfText } from '../../shared/mission/document.ts';
import { makePlan } from '../../shared/mission/plan.ts';
import { writeWpl } from '../../shared/mission/wpl.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';

const ROWS = [
  '0\t1\t0\t16\t0\t0\t0\t0\t47.39\t8.54\t488\t1',
  '1\t0\t3\t22\t0\t0\t0\t0\t47.391\t8.541\t20\t1',
  '2\t0\t3\t16\t0\t0\t0\t0\t47.392\t8.542\t30\t1',
];
const wpl = (rows: readonly string[] = ROWS, header = 'QGC WPL 110', end = '\n'): string =>
  [header, ...rows, ''].join(end);
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
const read = (text: string) => itemsIn(text, 'mission', 1);

const RELATIVE = 3;
const item = (command: number, more: Partial<MissionItem> = {}): MissionItem => ({
  seq: 0,
  frame: RELATIVE,
  command,
  param1: 0,
  param2: 0,
  param3: 0,
  param4: 0,
  x: 48,
  y: 11,
  z: 20,
  autocontinue: 1,
  ...more,
});

describe('waypoint files of others', () => {
  const plain = read(wpl());

  for (const [what, bytes] of [
    ['UTF-16 with a byte order mark', utf16(wpl())],
    ['UTF-16 with its bytes the other way round', utf16(wpl()).swap16()],
    ['UTF-16 without a mark', Buffer.from(wpl(), 'utf16le')],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${wpl()}`)],
    ['a comment in Latin-1', Buffer.from(wpl(['# Flug über Köln', ...ROWS]), 'latin1')],
    ['line ends of a Macintosh', Buffer.from(wpl(ROWS, 'QGC WPL 110', '\r'))],
    ['line ends of Windows', Buffer.from(wpl(ROWS, 'QGC WPL 110', '\r\n'))],
    ['spaces instead of tabs', Buffer.from(wpl(ROWS, 'QGC  WPL 110 ').replaceAll('\t', '   '))],
  ] as const)
    it(`${what}: read as any other`, () => {
      expect(read(textOf(bytes))).to.deep.equal(plain);
    });

  for (const word of ['nan', '-nan', 'NaN', '-nan(ind)', '1.#QNAN000', '-1.#IND'])
    it(`${word} in a parameter is what is not set`, () => {
      const { items = [] } = read(wpl([...ROWS, `3\t0\t3\t16\t0\t0\t0\t${word}\t47\t8\t30\t1`])) ?? {};
      expect(items.at(-1)?.param4).to.equal(null);
    });

  for (const version of ['100', '120'])
    it(`version ${version} with the columns of 110 is read, and said`, () => {
      const { items, warnings } = read(wpl(ROWS, `QGC WPL ${version}`)) ?? {};
      expect(items).to.deep.equal(plain?.items);
      expect(warnings?.join()).to.include(`QGC WPL ${version}; it is read as QGC WPL 110`);
    });

  it('version 100 with its own 13 columns is refused with what to do', () => {
    expect(() => read(wpl(['0 0 22 0 0 0 0 1 8.5 47.3 20 1 1'], 'QGC WPL 100'))).to.throw(/another order/);
  });

  it('more than twelve columns are cut, and said', () => {
    const { items, warnings } = read(wpl(ROWS.map((row) => `${row}\tx`))) ?? {};
    expect(items).to.deep.equal(plain?.items);
    expect(warnings?.join()).to.match(/more than 12 columns/);
  });

  it('bytes that are no text, and a text that is another one, are refused for what they are', () => {
    expect(() => textOf(Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]))).to.throw(NoText);
    expect(() => read('name,lat,lon\n')).to.throw(/does not begin with "QGC WPL 110"\.$/);
  });

  it('a fence has no line of home, and is known by its first item', () => {
    const fence = [item(5003, { param1: 50, frame: 0, z: 0 })];
    const text = writeWpl(fence, 'fence', { lat: 1, lon: 2, alt: 3 });
    expect(text.split('\n')[1]).to.match(/^0\t0\t0\t5003\t/);
    expect(partOfText(text)).to.equal('fence');
    expect(itemsIn(text, 'fence', 0)?.items).to.deep.equal(fence);
  });
});

describe('commands that the table does not have', () => {
  for (const command of [36, 116, 4000, 65535])
    it(`${command} of a mission goes through with a warning, and through files`, () => {
      const items = [item(22, { seq: 1 }), item(command, { seq: 2, x: 0, y: 200 })];
      const checked = itemsIn({ items }, 'mission', 1);
      expect(checked).to.deep.equal({ items, warnings: [] });
      expect(warningsOf(items).map(String).join()).to.include(`Item 2: MAV_CMD ${command} is not known here`);
      expect(itemsIn(writeWpl(items, 'mission', null), 'mission', 1)?.items).to.deep.equal(items);
      const plan = makePlan({ mission: items, fence: [], rally: [], home: null, firmware: null });
      expect(itemsIn(plan, 'mission', 1)?.items).to.deep.equal(items);
    });

  for (const command of [0, -1, 1.5, 65536, 5001, 5100])
    it(`${command} is none of a mission`, () => {
      expect(() => itemsIn({ items: [item(command)] }, 'mission', 0)).to.throw(/is none of a mission/);
    });

  it('5005 of a fence is written back as it was read; a plan, which cannot hold it, says so', () => {
    const fence = [item(5005, { param1: 50, frame: 0, x: 0, y: 0, z: 0 })];
    expect(itemsIn({ items: fence }, 'fence', 1)?.items).to.deep.equal(fence);
    expect(itemsIn(writeWpl(fence, 'fence', null), 'fence', 1)?.items).to.deep.equal(fence);
    expect(() => makePlan({ mission: [], fence, rally: [], home: null, firmware: null })).to.throw(
      /Item 0: a plan has no room for MAV_CMD 5005/,
    );
  });
});

describe('plans of QGroundControl that hold more than items', () => {
  const landing = {
    type: 'ComplexItem',
    complexItemType: 'fwLandingPattern',
    version: 2,
    altitudesAreRelative: true,
    landCoordinate: [48, 11, 0],
    landingApproachCoordinate: [48.003, 11.004, 40],
    loiterClockwise: true,
    loiterRadius: 75,
    stopTakingPhotos: true,
    stopVideoPhotos: true,
    useLoiterToAlt: true,
  };
  const plan = (firmwareType: number, ...items: readonly unknown[]) =>
    ({ fileType: 'Plan', version: 1, mission: { version: 2, firmwareType, items } }) as const;
  const simple = (params: readonly (number | null)[], command = 16) => ({
    type: 'SimpleItem',
    command,
    frame: RELATIVE,
    params,
    autoContinue: true,
  });
  const facts = (document: unknown, first: 0 | 1 = 1) => {
    const { items = [], warnings = [] } = itemsIn(document, 'mission', first) ?? {};
    const told = items.map(({ command, frame, param1, param2, param4, x, y, z }) =>
      [command, frame, param1, param2, param4, x, y, z].join(' '),
    );
    return { told, warnings };
  };

  it('a landing becomes the items that QGroundControl sends for it', () => {
    expect(facts(plan(3, landing))).to.deep.equal({
      told: [
        '189 2 0 0 0 0 0 0',
        '206 2 0 0 0 0 0 0',
        '2001 2 0 0 0 0 0 0',
        '2501 2 0 0 0 0 0 0',
        '31 3 1 75 1 48.003 11.004 40',
        '21 3 0 0 0 48 11 0',
      ],
      warnings: [],
    });
  });

  it('to the left, above the sea, straight in, of a VTOL, of the first version', () => {
    const left = facts(plan(3, { ...landing, loiterClockwise: false, altitudesAreRelative: false })).told;
    expect(left.slice(-2)).to.deep.equal(['31 0 1 -75 1 48.003 11.004 40', '21 0 0 0 0 48 11 0']);
    const straight = { ...landing, complexItemType: 'vtolLandingPattern', useLoiterToAlt: false };
    expect(facts(plan(3, straight)).told.slice(-2)).to.deep.equal([
      '16 3 0 0  48.003 11.004 40',
      '85 3 0 0  48 11 0',
    ]);
    const { altitudesAreRelative: _, landingApproachCoordinate: approach, ...others } = landing;
    const first = { loiterCoordinate: approach, loiterAltitudeRelative: true, landAltitudeRelative: true };
    expect(facts(plan(3, { ...others, ...first, version: 1 })).told.at(-2)).to.equal(
      '31 3 1 75 1 48.003 11.004 40',
    );
  });

  for (const [what, entry] of [
    ['a kind of item of another program', { type: 'ComplexItem', complexItemType: 'lawnMower' }],
    ['a landing that does not say where', { ...landing, landCoordinate: null }],
    ['an entry that is no object', 7],
  ] as const)
    it(`${what} costs itself, and says so`, () => {
      const { told, warnings } = facts(plan(3, entry, simple([0, 0, 0, 0, 48, 11, 20])));
      expect(told).to.have.length(1);
      expect(warnings.join()).to.match(/^Entry 1 of the plan \(.+\) is left out/);
    });

  it('a jump to what was left out, and a plan of nothing else, are refused', () => {
    const lost = { type: 'ComplexItem', complexItemType: 'lawnMower' };
    expect(() => facts(plan(3, lost))).to.throw(/nothing of the plan is understood/);
    const jump = { ...simple([1, 2, 0, 0, 0, 0, 0], 177), doJumpId: 2 };
    expect(() => facts(plan(3, lost, jump))).to.throw(/DO_JUMP to 1/);
  });

  it('a plan for another firmware, and what ArduPilot refuses of it, is said; PX4 takes it', () => {
    const made = plan(12, simple([0, null, 0, null, 48, 11, 20]));
    const { warnings } = facts(made);
    expect(warnings).to.deep.equal([
      'The plan was made for PX4, which this vehicle is not.',
      'Item 1: param2 not set (NaN), which ArduPilot refuses. Set 0.',
    ]);
    expect(facts(made, 0).warnings).to.deep.equal([]);
  });
});
