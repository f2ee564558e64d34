import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import type { Telemetry } from '../../shared/rpc/telemetry.ts';
import { telemetryOf } from '../../shared/rpc/telemetry-body.ts';
import { telemetry as telemetrySchema } from '../../shared/schemas/telemetry.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { globalPosition, statusText } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const ALL = 1 | 2 | 4 | 8 | 16 | 32 | 128;

function aircraft(icao: number, fields: object = {}): MavLinkData {
  return Object.assign(new common.AdsbVehicle(), {
    ICAOAddress: icao,
    lat: 481_000_000,
    lon: 115_000_000,
    altitude: 900_000,
    altitudeType: 1,
    heading: 27_000,
    horVelocity: 6_000,
    verVelocity: -250,
    flags: ALL,
    squawk: 7000,
    callsign: 'DLH4AB  ',
    emitterType: 3,
    tslc: 1,
    ...fields,
  });
}

function collision(fields: object): MavLinkData {
  return Object.assign(new common.Collision(), {
    id: 0xabc,
    src: 0,
    action: 1,
    threatLevel: 1,
    timeToMinimumDelta: 20,
    altitudeMinimumDelta: 30,
    horizontalMinimumDelta: 80,
    ...fields,
  });
}

function fence(breachStatus: number, breachType: number, breachCount = 1): MavLinkData {
  return Object.assign(new common.FenceStatus(), { breachStatus, breachType, breachCount, breachTime: 5 });
}

async function met(): Promise<Rig> {
  const rig = new Rig();
  await rig.meet();
  rig.logged.length = 0;
  return rig;
}

const telemetry = (rig: Rig): Telemetry => rig.state().telemetry;
const vehicles = (rig: Rig): NonNullable<Telemetry['traffic']>['vehicles'] =>
  telemetry(rig).traffic?.vehicles ?? [];

describe('traffic', () => {
  it('is null until the vehicle tells of some, then has it in units, with distance and age', async () => {
    const rig = await met();
    expect(telemetry(rig).traffic).to.equal(null);
    rig.say(globalPosition(100, 48.1, 11.51));
    rig.say(aircraft(0x3c_6444));
    await rig.clock.advance(500);
    const [one] = vehicles(rig);
    expect(one).to.deep.equal({
      icao: '3C6444',
      callsign: 'DLH4AB',
      squawk: 7000,
      emitter: 3,
      lat: 48.1,
      lon: 11.5,
      alt_m: 900,
      alt_type: 'gnss',
      heading_deg: 270,
      speed_mps: 60,
      climb_mps: -2.5,
      speed_ms: 60, // as in 1.0
      climb_ms: -2.5,
      simulated: false,
      distance_m: 743,
      age_s: 1.5,
    });
    expect(telemetry(rig).ages.traffic).to.equal(0.5);
    expect(rig.commands(511).some(({ fields }) => fields['_param1'] === 246)).to.equal(true);
    await rig.link.stop();
  });

  it('has null for what is not valid, by the flags or by itself', async () => {
    const rig = await met();
    rig.say(globalPosition(100, 48.1, 11.5));
    const UNKNOWN = {
      callsign: null,
      squawk: null,
      emitter: null,
      lat: null,
      lon: null,
      alt_m: null,
      alt_type: null,
      heading_deg: null,
      speed_mps: null,
      climb_mps: null,
      distance_m: null,
    };
    rig.say(aircraft(1, { flags: 0, emitterType: 0 }));
    expect(vehicles(rig)[0]).to.deep.include({ icao: '000001', ...UNKNOWN });
    const junk = { lat: 910_000_000, heading: 40_000, horVelocity: 65_535, callsign: '\x01\x1b[2J\x07' };
    rig.say(aircraft(1, junk));
    expect(vehicles(rig)[0]).to.include({ lat: null, lon: null, distance_m: null, heading_deg: null });
    expect(vehicles(rig)[0]).to.include({ speed_mps: null, callsign: '[2J' });
    rig.say(aircraft(0)); // nobody
    rig.say(aircraft(2, { tslc: 200 })); // long gone
    expect(vehicles(rig)).to.have.length(1);
    await rig.clock.advance(11_000);
    rig.say(aircraft(3)); // our own place is old by now
    expect(vehicles(rig).find(({ icao }) => icao === '000003')?.distance_m).to.equal(null);
    await rig.link.stop();
  });

  it('has the nearest 32, the nearest first, until 30 s after they were heard', async () => {
    const rig = await met();
    rig.say(globalPosition(100, 48.1, 11.5));
    for (let index = 60; index >= 1; index--)
      rig.say(aircraft(index, { lat: 481_000_000 + index * 10_000, tslc: 0 }));
    const ids = vehicles(rig).map(({ icao }) => Number.parseInt(icao, 16));
    expect(ids).to.deep.equal(Array.from({ length: 32 }, (_, index) => index + 1));
    await rig.live(20_000);
    rig.say(aircraft(7, { tslc: 0 }));
    await rig.live(10_500);
    expect(vehicles(rig).map(({ icao }) => icao)).to.deep.equal(['000007']);
    await rig.live(21_000);
    expect(telemetry(rig).traffic).to.deep.equal({ vehicles: [] });
    await rig.link.stop();
  });

  it('without a known distance keeps those heard last', async () => {
    const rig = await met();
    for (let index = 1; index <= 40; index++) rig.say(aircraft(index));
    expect(vehicles(rig)).to.have.length(32);
    expect(vehicles(rig).map(({ icao }) => icao))
      .to.include('000028')
      .and.not.include('000008');
    await rig.link.stop();
  });
});

describe('collision', () => {
  it('has the greatest threat until it is over or not told any more, and is logged at both ends', async () => {
    const rig = await met();
    expect(telemetry(rig).collision).to.equal(null);
    rig.say(collision({}));
    await rig.clock.advance(200);
    expect(telemetry(rig).collision).to.deep.equal({
      id: '000ABC',
      source: 'adsb',
      level: 'low',
      action: 'report',
      time_s: 20,
      horizontal_m: 80,
      vertical_m: 30,
    });
    rig.say(collision({ threatLevel: 2, action: 5, timeToMinimumDelta: NaN }));
    await rig.clock.advance(200);
    rig.say(collision({ id: 2, threatLevel: 1 }));
    rig.say(collision({ id: 3, threatLevel: 0 }));
    expect(telemetry(rig).collision).to.include({ id: '000ABC', level: 'high', action: 'rtl', time_s: null });
    rig.say(collision({ threatLevel: 0 }));
    await rig.clock.advance(200);
    expect(telemetry(rig).collision).to.equal(null);
    rig.say(collision({ src: 1, id: 7, threatLevel: 2, action: 77 }));
    await rig.clock.advance(200);
    expect(telemetry(rig).collision).to.include({ id: '7', source: 'mavlink', action: null });
    await rig.live(5000);
    expect(telemetry(rig).collision).to.equal(null);
    expect(rig.logged).to.deep.equal([
      'aircraft 000ABC is a low threat',
      'aircraft 000ABC is a high threat',
      'aircraft 000ABC is no threat any more',
      'aircraft 7 is a high threat',
      'aircraft 7 is no threat any more',
    ]);
    await rig.link.stop();
  });
});

describe('the telemetry of the API', () => {
  it('has all of it as its schema says', async () => {
    const rig = await met();
    rig.say(globalPosition(100, 48.1, 11.5));
    rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    rig.say(aircraft(1));
    rig.say(aircraft(2, { flags: 0, emitterType: 0 }));
    rig.say(collision({}));
    rig.say(fence(1, 3));
    const body = telemetryOf(rig.state());
    expect(body['prearm']).to.include({ can_arm: false });
    expect(body['collision']).to.not.equal(null);
    expect(compileValidator(createAjv({ checkSchemas: true }), telemetrySchema)(body)).to.equal(null);
    await rig.link.stop();
  });
});

describe('fence', () => {
  it('is null until the vehicle tells; a breach and its end are logged once', async () => {
    const rig = await met();
    expect(telemetry(rig).fence).to.equal(null);
    for (const [status, type, shown] of [
      [0, 3, { breached: false, count: 1, type: null }],
      [1, 1, { breached: true, count: 1, type: 'min_alt' }],
      [1, 2, { breached: true, count: 1, type: 'max_alt' }],
      [1, 3, { breached: true, count: 1, type: 'boundary' }],
      [1, 99, { breached: true, count: 1, type: null }],
      [0, 0, { breached: false, count: 1, type: null }],
    ] as const) {
      rig.say(fence(status, type));
      await rig.clock.advance(200);
      expect(telemetry(rig).fence).to.deep.equal(shown);
    }
    rig.say(fence(0, 0, 2));
    await rig.clock.advance(200);
    expect(rig.logged).to.deep.equal([
      'the fence is breached',
      'the fence is not breached any more',
      'the fence was breached meanwhile',
    ]);
    await rig.link.stop();
  });
});
