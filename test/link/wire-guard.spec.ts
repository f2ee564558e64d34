import { expect } from 'chai';
import { FrameStream } from '../../front/link/router/frame-stream.ts';
import { WireGuard, type WirePolicy } from '../../front/link/router/wire-guard.ts';
import { Arming } from '../../front/link/vehicle/arming.ts';
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import type { Armed } from '../../shared/flight/armed.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { FakeClock } from './fake-clock.ts';
import { rawV2 } from './mavlink-samples.ts';

const OPEN: WirePolicy = { mayWrite: true, force: false, serialControl: true };

/** The frame as it comes from a peer. */
function frame(id: number, payload: Buffer): Frame {
  let got: Frame | null = null;
  const stream = new FrameStream(new FakeClock(), (each) => (got = each));
  stream.push(rawV2({ id, payload, extra: crcExtraOf(id) ?? 0 }));
  if (got === null) throw new Error(`message ${id} is no frame`);
  return got;
}

/** A payload of so many bytes that ends in one that is not zero, so that nothing is cut off. */
function filled(bytes: number, write: (payload: Buffer) => void): Buffer {
  const payload = Buffer.alloc(bytes);
  payload[bytes - 1] = 1;
  write(payload);
  return payload;
}

const command = (id: number, number: number): Frame =>
  frame(
    id,
    filled(33, (payload) => payload.writeUInt16LE(number, 28)),
  );
const ftp = (opcode: number): Frame =>
  frame(
    MSG.FILE_TRANSFER_PROTOCOL,
    filled(254, (payload) => payload.writeUInt8(opcode, 6)),
  );
const plain = (id: number, bytes: number): Frame =>
  frame(
    id,
    filled(bytes, () => undefined),
  );

function judge(what: Frame, armed: Armed, policy: WirePolicy = OPEN, forVehicle = true): string {
  return new WireGuard(() => armed === false).judge(what, policy, forVehicle) ?? 'passes';
}

/** Every opcode of MAVLink FTP (mavlink.io, File Transfer Protocol), and whether it changes something. */
const FTP: readonly (readonly [number, string, boolean])[] = [
  [0, 'None', false],
  [1, 'TerminateSession', false],
  [2, 'ResetSessions', false],
  [3, 'ListDirectory', false],
  [4, 'OpenFileRO', false],
  [5, 'ReadFile', false],
  [6, 'CreateFile', true],
  [7, 'WriteFile', true],
  [8, 'RemoveFile', true],
  [9, 'CreateDirectory', true],
  [10, 'RemoveDirectory', true],
  [11, 'OpenFileWO', true],
  [12, 'TruncateFile', true],
  [13, 'Rename', true],
  [14, 'CalcFileCRC32', false],
  [15, 'BurstReadFile', false],
  [128, 'ACK', false],
  [129, 'NAK', false],
];

describe('the armed guard on the wire', () => {
  const guarded: readonly (readonly [string, Frame])[] = [
    ['PARAM_SET', plain(MSG.PARAM_SET, 23)],
    ['SETUP_SIGNING', plain(MSG.SETUP_SIGNING, 42)],
    ['SERIAL_CONTROL', plain(MSG.SERIAL_CONTROL, 79)],
    ['LOG_ERASE', plain(MSG.LOG_ERASE, 2)],
    ['PARAM_EXT_SET', plain(323, 147)],
    ['PARAM_MAP_RC', plain(50, 37)],
    ['SET_MAG_OFFSETS', plain(151, 8)],
    ['DEVICE_OP_WRITE', plain(11_002, 178)],
    ...[MSG.COMMAND_LONG, MSG.COMMAND_INT].flatMap((id) =>
      [
        241, 242, 243, 245, 246, 311, 420, 500, 2511, 5300, 42_006, 42_424, 42_650, 42_701, 43_003, 65_000,
      ].map((number) => [`command ${number} in message ${id}`, command(id, number)] as const),
    ),
    ...FTP.filter(([, , writes]) => writes).map(([opcode, name]) => [`FTP ${name}`, ftp(opcode)] as const),
  ];
  const free: readonly (readonly [string, Frame])[] = [
    ['PARAM_REQUEST_READ', plain(MSG.PARAM_REQUEST_READ, 20)],
    ['PARAM_REQUEST_LIST', plain(MSG.PARAM_REQUEST_LIST, 2)],
    ['LOG_REQUEST_LIST', plain(MSG.LOG_REQUEST_LIST, 6)],
    // Taking off, landing, arming, killing, a mode: the pilot's decisions.
    // A motor test, which ArduPilot itself arms for, and QGroundControl repeats.
    ...[20, 21, 22, 176, 262, 400, 185, 209, 310].map(
      (number) => [`command ${number}`, command(MSG.COMMAND_LONG, number)] as const,
    ),
    ...FTP.filter(([, , writes]) => !writes).map(([opcode, name]) => [`FTP ${name}`, ftp(opcode)] as const),
  ];

  for (const [name, what] of guarded)
    it(`${name}: refused while armed or unknown, without the override`, () => {
      expect([judge(what, true), judge(what, 'unknown'), judge(what, false)]).to.deep.equal([
        'armed',
        'armed',
        'passes',
      ]);
      expect(judge(what, true, { ...OPEN, force: true })).to.equal('passes');
      expect(judge(what, false, { ...OPEN, mayWrite: false })).to.equal('read-only');
      expect(judge(what, true, { ...OPEN, force: true, mayWrite: false })).to.equal('read-only');
    });

  for (const [name, what] of free)
    it(`${name}: passes whatever the state`, () => {
      for (const armed of [true, false, 'unknown'] as const) expect(judge(what, armed)).to.equal('passes');
    });

  it('an FTP opcode that nobody knows counts as a write', () => {
    const known = new Set(FTP.map(([opcode]) => opcode));
    for (let opcode = 0; opcode < 256; opcode++)
      if (!known.has(opcode)) expect(judge(ftp(opcode), true), `opcode ${opcode}`).to.equal('armed');
  });

  it('SERIAL_CONTROL needs its own permission, armed or not, also with force', () => {
    const shell = plain(MSG.SERIAL_CONTROL, 79);
    for (const armed of [true, false] as const)
      for (const force of [true, false])
        expect(judge(shell, armed, { ...OPEN, force, serialControl: false })).to.equal('serial-control');
  });

  const ask = (id: number, number: number, first = 0, second = 0): Frame =>
    frame(
      id,
      filled(33, (payload) => {
        payload.writeFloatLE(first, 0);
        payload.writeFloatLE(second, 4);
        payload.writeUInt16LE(number, 28);
      }),
    );
  const param = (name: string): Frame =>
    frame(
      MSG.PARAM_SET,
      filled(23, (payload) => payload.write(name, 6)),
    );
  /** MISSION_ITEM_INT */
  const item = (number: number, first = 0): Frame =>
    frame(
      MSG.MISSION_ITEM_INT,
      filled(37, (payload) => {
        payload.writeFloatLE(first, 0);
        payload.writeUInt16LE(number, 30);
      }),
    );
  const wipes = guarded.filter(([name]) =>
    /^(?:SETUP_SIGNING|LOG_ERASE|command (?:245|246|5300) )/.test(name),
  );
  const classed: readonly (readonly [string, Frame, 'admin' | 'destructive'])[] = [
    ...wipes.map(([name, what]) => [name, what, 'destructive'] as const),
    ...guarded
      .filter(([name]) =>
        /^(?:SET_MAG|command (?:241|242|243|311|500|2511|42006|42424|42701|43003) )/.test(name),
      )
      .map(([name, what]) => [name, what, 'admin'] as const),
    ['a parameter', param('RTL_ALT'), 'admin'],
    ['a rate', param('SR1_EXTRA1'), 'admin'],
    ...[MSG.COMMAND_LONG, MSG.COMMAND_INT].flatMap((id) => [
      [`a kill in message ${id}`, ask(id, 400, 0, 21_196), 'destructive'] as const,
      [`a termination in message ${id}`, ask(id, 185, 1), 'destructive'] as const,
      [`a parachute in message ${id}`, ask(id, 208, 2), 'destructive'] as const,
      [`a motor test in message ${id}`, ask(id, 209, 1), 'destructive'] as const,
      [`PX4's motor test in message ${id}`, ask(id, 310, 1), 'destructive'] as const,
    ]),
    ['a fence cleared', frame(MSG.MISSION_CLEAR_ALL, Buffer.from([1, 1, 1])), 'destructive'],
    ['everything cleared', frame(MSG.MISSION_CLEAR_ALL, Buffer.from([1, 1, 255])), 'destructive'],
    ['an empty fence', frame(MSG.MISSION_COUNT, Buffer.from([0, 0, 1, 1, 1])), 'destructive'],
    [
      'a fence of four, which may be larger',
      frame(MSG.MISSION_COUNT, Buffer.from([4, 0, 1, 1, 1])),
      'destructive',
    ],
    [
      'a part of the fence',
      frame(MSG.MISSION_WRITE_PARTIAL_LIST, Buffer.from([0, 0, 1, 0, 1, 1, 1])),
      'destructive',
    ],
    ['an older fence point', frame(160, Buffer.from([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])), 'destructive'],
    ['a parachute in a mission', item(208), 'destructive'],
    ['a motor stop in a mission', item(218, 31), 'destructive'],
    ['a disarming in a mission', item(400), 'destructive'],
  ];
  for (const [name, what, scope] of classed)
    it(`${name}: a token needs ${scope} besides flight, as for the row`, () => {
      const as = (...scopes: Scope[]) => judge(what, false, { ...OPEN, scopes });
      expect([
        as('read', 'flight'),
        as('flight', scope),
        judge(what, false, { ...OPEN, scopes: null }),
      ]).to.deep.equal(['scope', 'passes', 'passes']);
      const other = scope === 'admin' ? 'destructive' : 'admin';
      expect(as('flight', other)).to.equal('scope');
    });
  const both: readonly (readonly [string, Frame])[] = [
    ...[
      'FENCE_ENABLE',
      'ARMING_CHECK',
      'FS_THR_ENABLE',
      'BATT2_FS_LOW_ACT',
      'COM_RC_LOSS_T',
      'GF_ACTION',
    ].map((name) => [name, param(name)] as const),
    ['a fence switched off', ask(MSG.COMMAND_LONG, 207)],
    ['a fence switched off by its function', ask(MSG.COMMAND_INT, 218, 11)],
    ['a fence switched off in a mission', item(207)],
  ];
  for (const [name, what] of both)
    it(`${name}: a token needs admin and destructive besides flight`, () => {
      const as = (...scopes: Scope[]) => judge(what, false, { ...OPEN, scopes });
      expect([as('flight'), as('flight', 'admin'), as('flight', 'destructive')]).to.deep.equal([
        'scope',
        'scope',
        'scope',
      ]);
      expect(as('flight', 'admin', 'destructive')).to.equal('passes');
    });

  const reserved: readonly (readonly [string, Frame])[] = [
    ...guarded.filter(([name]) => /^(?:FTP|SERIAL|PARAM_MAP|DEVICE|command (?:420|42650|65000) )/.test(name)),
    ...[
      'FORMAT_VERSION',
      'RALLY_TOTAL',
      'STAT_RESET',
      'SYSID_MYGCS',
      'SERIAL1_PROTOCOL',
      'SYS_AUTOSTART',
    ].map((name) => [name, param(name)] as const),
    ['a failure in a mission', item(420)],
    ['a message that nobody knows', frame(248, Buffer.from([1, 1]))],
  ];
  for (const [name, what] of reserved)
    it(`${name}: for no token, whatever its scopes`, () => {
      expect(judge(what, false, { ...OPEN, scopes: SCOPES })).to.equal('scope');
      expect(judge(what, false, { ...OPEN, scopes: null }), 'the pairing key').to.equal('passes');
    });

  for (const id of [12_900, 12_902, 12_903, 12_904, 12_905, 12_915])
    it(`message ${id} says who flies: for no token, whatever its scopes`, () => {
      const what = frame(id, Buffer.from([1, 1]));
      expect(judge(what, false, { ...OPEN, scopes: SCOPES })).to.equal('scope');
      expect(judge(what, false, { ...OPEN, scopes: null }), 'the pairing key').to.equal('passes');
    });
  it('where the operator stands may be said by whoever flies', () => {
    const update = frame(12_919, Buffer.from([1, 1]));
    expect(judge(update, true, { ...OPEN, scopes: ['flight'] })).to.equal('passes');
  });

  it('what flies needs no more than flight', () => {
    const scopes = ['flight'] as const;
    for (const [name, what] of [
      ...free.filter(([each]) => !/^command (?:185|209|310)$/.test(each)),
      ['a disarm', ask(MSG.COMMAND_LONG, 400, 0)],
      ['a mission cleared', frame(MSG.MISSION_CLEAR_ALL, Buffer.from([1, 1]))],
      ['a mission of four', frame(MSG.MISSION_COUNT, Buffer.from([4, 0, 1, 1]))],
      ['a mission changed in part', frame(MSG.MISSION_WRITE_PARTIAL_LIST, Buffer.from([0, 0, 1, 0, 1, 1]))],
      ['an item', item(16)],
      ['a position from a camera', frame(102, Buffer.from([1, 1]))],
    ] as const)
      expect(judge(what, true, { ...OPEN, scopes }), name).to.equal('passes');
  });

  it('concerns only what would reach the vehicle', () => {
    expect(judge(plain(MSG.PARAM_SET, 23), true, OPEN, false)).to.equal('passes');
    const closed = { ...OPEN, serialControl: false, scopes: [] };
    expect(judge(plain(MSG.SERIAL_CONTROL, 79), true, closed, false)).to.equal('passes');
  });

  it('asks about the system that the frame is for', () => {
    const asked: unknown[] = [];
    const guard = new WireGuard((system) => {
      asked.push(system);
      return system === 7;
    });
    const to = (system: number): Frame =>
      frame(
        MSG.PARAM_SET,
        filled(23, (payload) => payload.set([system, 1], 4)),
      );
    expect([guard.judge(to(7), OPEN, true), guard.judge(to(8), OPEN, true)]).to.deep.equal([null, 'armed']);
    expect(asked).to.deep.equal([7, 8]);
    // Whatever is not guarded asks nobody.
    guard.judge(plain(MSG.PARAM_REQUEST_LIST, 2), OPEN, true);
    expect(asked).to.have.length(2);
  });

  it('while a killSwitch is under way nothing arms, also with the override; a disarm passes, and so does the rest', () => {
    const says = (what: Frame, killing = true, policy: WirePolicy = OPEN): string =>
      new WireGuard(
        () => true,
        (each) => killing && arms(each),
      ).judge(what, policy, true) ?? 'passes';
    const arming = new Arming({ clock: new FakeClock(), wasArmed: false, onChange: () => undefined });
    const arms = (each: Frame): boolean => arming.arms(each);
    for (const id of [MSG.COMMAND_LONG, MSG.COMMAND_INT]) {
      for (const first of [1.2, 257, -255, 0.4, Number.NaN])
        expect(says(ask(id, 400, first)), `400 with ${first}`).to.equal('killing');
      for (const [number, first] of [
        [300, 0],
        [189, 0],
        [218, 153.7],
        [218, -1],
        [209, 1],
        [42_002, 0],
      ] as const)
        expect(says(ask(id, number, first)), `${number} with ${first}`).to.equal('killing');
      expect(says(ask(id, 218, 9)), 'a harmless function').to.equal('passes');
      const arm = ask(id, 400, 1);
      expect([says(arm), says(arm, true, { ...OPEN, force: true }), says(arm, false)]).to.deep.equal([
        'killing',
        'killing',
        'passes',
      ]);
      expect(says(ask(id, 400, 0)), 'a disarm').to.equal('passes');
      expect(says(ask(id, 22, 1)), 'another command').to.equal('passes');
    }
    // The same bytes in a message that is no command.
    expect(says(plain(MSG.PARAM_REQUEST_LIST, 2))).to.equal('passes');
    const alike = ask(MSG.FILE_TRANSFER_PROTOCOL, 400, 1);
    expect(says(alike)).to.equal('passes');
  });

  it('without a killSwitch and a pilot of its own it knows neither', () => {
    expect(judge(ask(MSG.COMMAND_LONG, 400, 1), true)).to.equal('passes');
    expect(judge(ask(MSG.COMMAND_LONG, 400, 1), true, { ...OPEN, clientId: 'phone' })).to.equal('passes');
    const named = new WireGuard(() => false);
    expect(named.judge(ask(MSG.COMMAND_LONG, 22), { ...OPEN, clientId: 'phone' }, true)).to.equal(null);
  });

  it('only SERIAL_CONTROL needs its permission', () => {
    const policy = { ...OPEN, serialControl: false };
    expect(judge(plain(MSG.PARAM_REQUEST_LIST, 2), false, policy)).to.equal('passes');
  });

  it('what flies is for the pilot in command alone; who has no name is not the pilot, and who needs none is not asked', () => {
    const flying = ask(MSG.COMMAND_LONG, 22);
    const says = (clientId: string | null | undefined, pilot: string | null, flies = true): string =>
      new WireGuard(
        () => true,
        () => false,
        { clientId: () => pilot, flies: () => flies },
      ).judge(flying, { ...OPEN, clientId }, true) ?? 'passes';
    expect(says('phone', 'tablet')).to.equal('not-pilot');
    expect(says(null, 'tablet')).to.equal('not-pilot');
    expect(says('tablet', 'tablet')).to.equal('passes');
    expect(says(undefined, 'tablet')).to.equal('passes');
    expect(says('phone', null)).to.equal('passes');
    expect(says('phone', 'tablet', false)).to.equal('passes');
  });
});
