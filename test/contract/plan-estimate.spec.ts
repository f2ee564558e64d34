import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import { checksOf } from '../../residual/web/src/pages/plan/estimate/checks.ts';
import { profileOf } from '../../residual/web/src/pages/plan/estimate/profile.ts';
import { totalsOf } from '../../residual/web/src/pages/plan/estimate/totals.ts';
import { figuresOf } from '../../residual/web/src/pages/plan/estimate/vehicle-figures.ts';
import { History } from '../../residual/web/src/pages/plan/history.ts';
import { KmzFault, kmlsIn } from '../../residual/web/src/pages/plan/import/kmz.ts';
import { ForeignSystem, shapesIn } from '../../residual/web/src/pages/plan/import/shapes-in.ts';
import { jsonBounds, xmlBounds } from '../../residual/web/src/pages/plan/import/text-bounds.ts';
import type { Items } from '../../residual/web/src/pages/plan/list.ts';
import { checkItems } from '../../shared/mission/check.ts';
import { itemsIn } from '../../shared/mission/document.ts';
import { patternsIn } from '../../shared/mission/plan.ts';

const HOME = { lat: -35.3632621, lon: 149.1652374 };
const COPTER = { WPNAV_SPEED: 1000, WPNAV_SPEED_UP: 250, WPNAV_SPEED_DN: 150, BATT_CAPACITY: 3300 };

function mission(...items: readonly object[]): Items {
  return checkItems('mission', items, 1);
}
const takeoff = { frame: 3, command: 22, x: 0, y: 0, z: 20 };
const to = (north: number, z: number, more: object = {}): object => ({
  frame: 3,
  command: 16,
  x: HOME.lat + north / 111_195,
  y: HOME.lon,
  z,
  ...more,
});
const home = { frame: 2, command: 20 };

describe('what a plan takes, and what speaks against it', () => {
  const figures = figuresOf(COPTER);

  it('takes speeds and capacity from the parameters of each firmware', () => {
    expect(figures).to.include({ speed: 10, climb: 2.5, descent: 1.5, capacity: 3300, fenceHeight: null });
    expect(figuresOf({ MPC_XY_CRUISE: 5, BAT1_CAPACITY: -1, GF_MAX_VER_DIST: 80 })).to.include({
      speed: 5,
      capacity: null,
      fenceHeight: 80,
    });
    expect(figuresOf({ AIRSPEED_CRUISE: 22 }).speed).to.equal(22);
    expect(figuresOf({ FENCE_ENABLE: 0, FENCE_TYPE: 7, FENCE_ALT_MAX: 100 }).fenceHeight).to.equal(null);
    expect(figuresOf({ FENCE_ENABLE: 1, FENCE_TYPE: 7, FENCE_ALT_MAX: 100, FENCE_RADIUS: 300 })).to.include({
      fenceHeight: 100,
      fenceRadius: 300,
    });
  });

  it('counts the way, the climb, waits and changed speeds; without a speed there is no time', () => {
    const items = mission(takeoff, to(100, 20), to(200, 20, { param1: 5 }), home);
    const totals = totalsOf(items, HOME, figures);
    expect(totals.distance).to.be.closeTo(400, 0.5);
    // 20 m at 2.5 m/s, 200 m at 10 m/s, 5 s, 200 m back while it comes down 20 m at 1.5 m/s
    expect(totals.seconds).to.be.closeTo(8 + 20 + 5 + 20, 0.1);
    const slow = mission(takeoff, { frame: 2, command: 178, param1: 1, param2: 2 }, to(100, 20));
    expect(totalsOf(slow, HOME, figures).seconds).to.be.closeTo(8 + 50, 0.1);
    expect(totalsOf(items, HOME, figuresOf({})).seconds).to.equal(null);
  });

  const checks = (
    items: Items,
    {
      fence = [] as Items,
      params = {},
      endurance = null as number | null,
      ground = null as number | null,
    } = {},
  ) => {
    const known = figuresOf({ ...COPTER, ...params });
    const totals = totalsOf(items, HOME, known);
    const profile = profileOf(
      totals.legs,
      ({ lat }) =>
        ground === null
          ? null
          : lat > HOME.lat + 50 / 111_195 && lat < HOME.lat + 150 / 111_195
            ? ground
            : 580,
      HOME,
      580,
    );
    return checksOf({
      mission: items,
      fence,
      home: HOME,
      placed: [],
      totals,
      figures: known,
      endurance,
      profile,
    });
  };
  const kinds = (...given: Parameters<typeof checks>): readonly string[] =>
    checks(...given).map(({ kind, at }) => `${kind} ${at}`);
  const fine = mission(takeoff, to(100, 20), to(200, 20), home);
  const square = (half: number, command: number): Items =>
    checkItems(
      'fence',
      [
        [-half, -half],
        [half, -half],
        [half, half],
        [-half, half],
      ].map(([north = 0, east = 0]) => ({
        frame: 0,
        command,
        param1: 4,
        x: HOME.lat + north / 111_195,
        y: HOME.lon + east / 90_700,
      })),
      null,
    );

  for (const [what, given, wanted] of [
    ['nothing', [fine], []],
    ['no mission at all', [mission()], []],
    ['no take-off and no end', [mission(to(10, 20), to(20, 20))], ['noTakeoff 0', 'noEnd 1']],
    ['the fence left', [fine, { fence: square(150, 5001) }], ['fence 2']],
    [
      'a forbidden square crossed between two points',
      [mission(takeoff, to(-200, 20), to(200, 20), home), { fence: square(50, 5002) }],
      ['fence 1'],
    ],
    ['a fence that is wide enough', [fine, { fence: square(400, 5001) }], []],
    [
      'too high for the vehicle’s fence',
      [fine, { params: { FENCE_ENABLE: 1, FENCE_TYPE: 1, FENCE_ALT_MAX: 15 } }],
      ['height 1'],
    ],
    [
      'too far for the vehicle’s fence',
      [fine, { params: { FENCE_ENABLE: 1, FENCE_TYPE: 2, FENCE_RADIUS: 150 } }],
      ['fenceFar 2'],
    ],
    ['a first point far away', [mission(takeoff, to(3000, 20), home)], ['far 1']],
    ['a point near the ground', [mission(takeoff, to(50, 1), home)], ['low 1']],
    ['more than the battery has, with its reserve', [fine, { endurance: 50 }], ['battery 2']],
    ['enough battery', [fine, { endurance: 200 }], []],
    ['a hill in the way', [fine, { ground: 598 }], ['terrain 1']],
    ['ground that lies low', [fine, { ground: 581 }], []],
    [
      'heights above a terrain that the vehicle does not know',
      [mission(takeoff, to(50, 20, { frame: 10 }), home), { params: { TERRAIN_ENABLE: 0 } }],
      ['noTerrain 1'],
    ],
  ] as [string, Parameters<typeof checks>, readonly string[]][])
    it(`says of ${what}: ${wanted.join(', ') || 'nothing'}`, () => {
      expect(kinds(...given)).to.deep.equal(wanted);
    });

  it('undoes and redoes as far as it remembers', () => {
    const history = new History(0);
    for (let state = 1; state <= 150; state++) history.push(state);
    let steps = 0;
    while (history.undo() !== null) steps++;
    expect(steps).to.equal(100);
    expect(history.state.value).to.equal(50);
    expect(history.redo()).to.equal(51);
    history.push(-1);
    expect(history.canRedo.value).to.equal(false);
    expect(history.undo()).to.equal(51);
  });
});

describe('files of shapes', () => {
  it('are bounded before a parser sees them', () => {
    expect(xmlBounds('<kml><a b=">"/><!-- <x> --><![CDATA[<y>]]></kml>')).to.equal(null);
    expect(xmlBounds('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')).to.equal('doctype');
    expect(xmlBounds('<a>'.repeat(65))).to.equal('depth');
    expect(xmlBounds('<a/>'.repeat(60_001))).to.equal('nodes');
    expect(xmlBounds(' '.repeat(8 * 1024 * 1024 + 1))).to.equal('size');
    expect(xmlBounds('<a b="')).to.equal('unclosed');
    expect(jsonBounds('{"a":"[[[[{{{{,,,,\\""}')).to.equal(null);
    expect(jsonBounds('['.repeat(65))).to.equal('depth');
    expect(jsonBounds(`[${'1,'.repeat(600_001)}1]`)).to.equal('nodes');
  });

  it('a KMZ gives its document; one that grows without end, or is none, is left', () => {
    const kml = '<kml/>';
    expect(kmlsIn(zipSync({ 'files/icon.png': strToU8('x'), 'doc.kml': strToU8(kml) }))).to.deep.equal([kml]);
    const linked = zipSync({
      'doc.kml': strToU8('<a/>'),
      '__MACOSX/._doc.kml': new Uint8Array([0, 5, 22, 7]),
      'files/._A.kml': new Uint8Array([0, 5, 22, 7]),
      'files/A.kml': Buffer.from('\ufeff<b>ü</b>', 'utf16le'),
    });
    expect(kmlsIn(linked)).to.deep.equal(['<a/>', '<b>ü</b>']);
    const bomb = zipSync({ 'doc.kml': new Uint8Array(16 * 1024 * 1024) });
    expect(bomb.length).to.be.below(200_000);
    for (const archive of [bomb, zipSync({ 'a.txt': strToU8(kml) }), strToU8('PK, and then nothing')])
      expect(() => kmlsIn(archive)).to.throw(KmzFault);
  });

  it('GeoJSON of any kind becomes shapes with plain names; what has no place on the earth is left out', () => {
    const ring = [
      [1, 2],
      [3, 2],
      [3, 4],
      [1, 2],
    ];
    const { shapes, dropped } = shapesIn({
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          properties: { name: 'field\u202e<img src=x>' },
          geometry: { type: 'Polygon', coordinates: [ring, ring] },
        },
        {
          type: 'Feature',
          properties: null,
          geometry: {
            type: 'GeometryCollection',
            geometries: [
              {
                type: 'LineString',
                coordinates: [
                  [0, 0],
                  [0, 1],
                  [0, 1],
                ],
              },
            ],
          },
        },
        {
          type: 'Feature',
          geometry: {
            type: 'MultiPoint',
            coordinates: [
              [1, 1],
              [1, 200],
              [360, 1],
              ['a', 1],
            ],
          },
        },
        { type: 'Feature', geometry: { type: 'Polygon', coordinates: 7 } },
        null,
      ],
    });
    expect(
      shapes.map(({ kind, name, places, holes }) => [kind, name, places.length, holes.length]),
    ).to.deep.equal([
      ['polygon', 'field <img src=x>', 3, 1],
      ['line', '', 2, 0],
      ['point', '', 1, 0],
    ]);
    expect(dropped).to.equal(4);
    for (const nothing of [null, 3, [], { type: 'Feature' }, { type: 'FeatureCollection', features: {} }])
      expect(shapesIn(nothing).shapes).to.deep.equal([]);
  });

  const square = [
    [
      [1, 2],
      [3, 2],
      [3, 4],
      [1, 2],
    ],
  ];
  const inSystem = (name: string, coordinates: unknown = square) =>
    shapesIn({ type: 'Polygon', coordinates, crs: { type: 'name', properties: { name } } });

  for (const name of ['EPSG:4326', 'urn:ogc:def:crs:OGC:1.3:CRS84', 'urn:ogc:def:crs:EPSG::4326'])
    it(`GeoJSON that says it is in ${name} is read as any other`, () => {
      expect(inSystem(name)).to.deep.equal(shapesIn({ type: 'Polygon', coordinates: square }));
    });

  for (const name of ['EPSG:3857', 'urn:ogc:def:crs:EPSG::3857', 'EPSG:900913'])
    it(`${name} is turned into degrees`, () => {
      const corner = [1_224_514.3987, 6_106_854.8349]; // 11° E, 48° N
      const { shapes } = inSystem(name, [
        [corner, [1_224_525.5, 6_106_854.8], [1_224_525.5, 6_106_890], corner],
      ]);
      expect(shapes[0]?.places[0]?.lat).to.be.closeTo(48, 1e-6);
      expect(shapes[0]?.places[0]?.lon).to.be.closeTo(11, 1e-6);
    });

  it('another system is refused by its name', () => {
    expect(() => inSystem('EPSG:25832')).to.throw(ForeignSystem, 'EPSG:25832');
    expect(() => shapesIn({ type: 'Point', coordinates: [1, 2], crs: {} })).to.throw(ForeignSystem);
  });

  it('a shape over the 180th meridian stays one; latitude first is noticed', () => {
    const over = (east: number) => [
      [
        [179, -17],
        [east, -17],
        [east, -16],
        [179, -17],
      ],
    ];
    const [beyond] = shapesIn({ type: 'Polygon', coordinates: over(181) }).shapes;
    expect(beyond?.places).to.deep.equal(
      shapesIn({ type: 'Polygon', coordinates: over(-179) }).shapes[0]?.places,
    );
    const { shapes, swapped } = shapesIn({ type: 'Point', coordinates: [-35.36, 149.16] });
    expect([shapes, swapped]).to.deep.equal([[], true]);
  });

  it('a line of many points keeps its form with as many as are taken', () => {
    const coordinates = Array.from({ length: 5000 }, (_, at) => [
      8 + at / 50_000,
      47 + Math.sin(at / 300) / 1000,
    ]);
    const [line] = shapesIn({ type: 'LineString', coordinates }).shapes;
    expect(line?.places.length).to.be.within(20, 400);
    expect(line?.places[0]).to.deep.equal({ lat: 47, lon: 8 });
  });
});

describe('plans of QGroundControl with patterns', () => {
  const calc = {
    version: 2,
    AdjustedFootprintFrontal: 12.5,
    AdjustedFootprintSide: 25,
    CameraName: 'Sony ILCE-QX1',
    DistanceMode: 1,
    DistanceToSurface: 50,
    FixedOrientation: false,
    FocalLength: 16,
    FrontalOverlap: 70,
    ImageDensity: 1.3,
    ImageHeight: 3632,
    ImageWidth: 5456,
    Landscape: true,
    MinTriggerInterval: 0,
    SensorHeight: 15.4,
    SensorWidth: 23.2,
    SideOverlap: 70,
    ValueSetIsDistance: true,
  };
  const polygon = [
    [-35.362, 149.165],
    [-35.362, 149.167],
    [-35.361, 149.167],
  ];
  const plan = (...items: readonly object[]): Parameters<typeof patternsIn>[0] =>
    ({ fileType: 'Plan', version: 1, mission: { version: 2, items } }) as unknown as Parameters<
      typeof patternsIn
    >[0];
  const structure = {
    type: 'ComplexItem',
    complexItemType: 'StructureScan',
    version: 3,
    polygon,
    CameraCalc: calc,
    StructureHeight: 25,
    ScanBottomAlt: 0,
    EntranceAltitude: 40,
    StartFromTop: true,
    GimbalPitch: 0,
    Layers: 2,
  };

  it('a structure scan, of which QGroundControl writes no items, is expanded and keeps its settings', () => {
    const { items = [] } = itemsIn(plan(structure), 'mission', 1) ?? {};
    expect(items.filter(({ command }) => command === 195).length).to.equal(2);
    const [placed] = patternsIn(plan(structure), items);
    expect(placed?.settings).to.include({ kind: 'structure', top: 25, entrance: 40 });
  });

  for (const [what, change] of [
    ['a height that is no number', { StructureHeight: '25' }],
    [
      'a negative step',
      { CameraCalc: { ...calc, CameraName: 'Manual (no camera specs)', AdjustedFootprintFrontal: -1 } },
    ],
    ['a later version', { version: 4 }],
    ['too many corners', { polygon: Array.from({ length: 401 }, (_, at) => [0, at / 1000]) }],
    ['corners that are none', { polygon: [[1, 2], 'x', [3, 4]] }],
  ] as const)
    it(`a structure scan with ${what} is left out, in words; a plan of nothing else is refused`, () => {
      const wrong = { ...structure, ...change };
      expect(() => itemsIn(plan(wrong), 'mission', 1)).to.throw(/StructureScan/);
      const back = { type: 'SimpleItem', command: 20, frame: 2, params: [0, 0, 0, 0, 0, 0, 0] };
      const more = plan(wrong, back);
      const { items, warnings } = itemsIn(more, 'mission', 1) ?? {};
      expect(items?.map(({ command }) => command)).to.deep.equal([20]);
      expect(warnings?.join()).to.match(/^Entry 1 of the plan \(StructureScan\) is left out/);
      expect(patternsIn(more, items ?? [])).to.deep.equal([]);
    });
});
