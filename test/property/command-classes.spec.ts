import { expect } from 'chai';
import fc from 'fast-check';
import { ardupilotmega, common } from 'mavlink-mappings';
import {
  COMMAND_CLASSES,
  COMMANDS,
  type CommandParams,
  classOfCommand,
  classOfItem,
  commandName,
} from '../../shared/mavlink/command-classes.ts';
import { ITEM_COMMANDS } from '../../shared/mission/commands.ts';

/** MAV_CMD of both dialects: number and name, without the reverse entries of the enumeration. */
const dialect = new Map(
  [common.MavCmd, ardupilotmega.MavCmd].flatMap((each) =>
    Object.entries(each).flatMap(([name, id]) => (typeof id === 'number' ? [[id, name] as const] : [])),
  ),
);
const NONE: CommandParams = [0, 0, 0, 0];

describe('the class of every command', () => {
  it('is there for each MAV_CMD of common and ardupilotmega, under its name', () => {
    expect(dialect.size).to.be.above(150);
    const wrong = [...dialect].filter(([id, name]) => COMMANDS.get(id)?.name !== name);
    expect(wrong).to.deep.equal([]);
  });

  it('is there for each command that a mission may have', () => {
    const wrong = [...ITEM_COMMANDS].filter(([id, { name }]) => COMMANDS.get(id)?.name !== name);
    expect(wrong).to.deep.equal([]);
  });

  it('is one of the five for whatever parameters, and keyonly for what the table lacks', () => {
    const param = fc.oneof(fc.constantFrom(0, 1, 2, 21_196, NaN), fc.float());
    const params: fc.Arbitrary<CommandParams> = fc.tuple(param, param, param, param);
    fc.assert(
      fc.property(fc.nat(65_535), params, (command, given) => {
        for (const { classes, guarded } of [classOfCommand(command, given), classOfItem(command, given)]) {
          expect(classes).to.have.length.above(0);
          for (const each of classes) expect(COMMAND_CLASSES).to.include(each);
          if (classes.includes('setup') || classes.includes('keyonly')) expect(guarded).to.equal(true);
          if (!COMMANDS.has(command)) expect(classes).to.deep.equal(['keyonly']);
        }
      }),
      { numRuns: 2000 },
    );
    for (const [id, { classed, name }] of COMMANDS)
      if (classed === null)
        expect(classOfCommand(id, NONE).classes, `${name} has a rule by its parameters`).not.to.include(
          'keyonly',
        );
  });

  const table: readonly (readonly [what: string, command: number, params: CommandParams, classes: string])[] =
    [
      ['an arming', 400, [1, 0, 0, 0], 'flight'],
      ['a disarming', 400, [0, 0, 0, 0], 'flight'],
      ['a disarming in the air', 400, [0, 21_196, 0, 0], 'destructive'],
      ['an arming past the checks', 400, [1, 21_196, 0, 0], 'destructive'],
      ['an arming past the checks (2989)', 400, [1, 2989, 0, 0], 'destructive'],
      ['a fence switched on', 207, [1, 0, 0, 0], 'flight'],
      ['a fence switched off', 207, [0, 0, 0, 0], 'setup destructive'],
      ['its floor switched off', 207, [2, 0, 0, 0], 'setup destructive'],
      ['a camera trigger', 218, [9, 2, 0, 0], 'flight'],
      ['the fence by its switch', 218, [11, 2, 0, 0], 'flight'],
      ['the fence off by its switch', 218, [11, 0, 0, 0], 'setup destructive'],
      ['a parachute', 218, [22, 2, 0, 0], 'destructive'],
      ['a motor stop', 218, [31, 2, 0, 0], 'destructive'],
      ['arming or emergency stop', 218, [165, 0, 0, 0], 'destructive'],
      ['a compass calibration', 218, [171, 2, 0, 0], 'setup'],
      ['a function that nobody knows', 218, [9999, 2, 0, 0], 'destructive'],
      ['an engine stopped', 223, [0, 0, 0, 0], 'destructive'],
      ['an engine started', 223, [1, 0, 0, 0], 'flight'],
      ['a parachute of its own', 208, [2, 0, 0, 0], 'destructive'],
      ['a bootloader', 42_650, [290_876, 0, 0, 0], 'keyonly'],
      ['a failure', 420, NONE, 'keyonly'],
      ['what asks', 512, NONE, 'read'],
    ];
  for (const [what, command, params, wanted] of table)
    it(`${what} (${command}) is ${wanted}`, () => {
      expect(classOfCommand(command, params).classes.join(' ')).to.equal(wanted);
    });
  it('a mission that disarms does so wherever the vehicle is', () => {
    expect(classOfItem(400, [0, 0, 0, 0]).classes).to.deep.equal(['destructive']);
    expect(classOfItem(400, [1, 0, 0, 0]).classes, 'arming is as the command').to.deep.equal(['flight']);
  });
  it('a pause, a return and a landing end a flight; going on does not', () => {
    const ends = (command: number, first: number): boolean => classOfCommand(command, [first, 0, 0, 0]).ends;
    expect([ends(193, 0), ends(193, 1), ends(20, 0), ends(21, 0), ends(22, 0)]).to.deep.equal([
      true,
      false,
      true,
      true,
      false,
    ]);
    expect([1, 5, 7, 0, 2].map((mode) => ends(262, mode))).to.deep.equal([true, true, true, false, false]);
  });
  it('has its name, where it is known', () => {
    expect([commandName(22), commandName(65_000)]).to.deep.equal(['NAV_TAKEOFF', null]);
  });
});
