import { expect } from 'chai';
import { type GoalName, goalOf } from '../../shared/flight/goals.ts';
import { type SeenVehicle, seenIn } from '../../shared/flight/seen.ts';

describe('when a flight has done what it was sent for', () => {
  const copter = seenIn({
    mavlink_alive: true,
    armed: true,
    mode: 'GUIDED',
    mav_type: 2,
    position: { lat: 47, lon: 8, alt_rel: 1 },
    landed_state: 'in_air',
  });
  const home = { lat: 47, lon: 8 };
  const ground: SeenVehicle = { ...copter, landed: 'on_ground', place: { lat: 47.01, lon: 8 }, home };
  const cases: readonly [string, GoalName, readonly number[], readonly [SeenVehicle, number][], unknown][] = [
    [
      'a copter that rests on the ground, armed',
      'land',
      [],
      [
        [ground, 0],
        [ground, 16_000],
      ],
      'reached',
    ],
    [
      'one that touched it a moment ago',
      'land',
      [],
      [
        [ground, 0],
        [ground, 5000],
      ],
      null,
    ],
    [
      'one whose motors have stopped while it still says that it flies',
      'rtl',
      [],
      [
        [copter, 0],
        [{ ...copter, armed: false }, 9000],
      ],
      null,
    ],
    [
      'one that has said both',
      'rtl',
      [],
      [
        [copter, 0],
        [{ ...copter, armed: false }, 9000],
        [{ ...copter, armed: false, landed: 'on_ground' }, 9400],
      ],
      'reached',
    ],
    [
      'one that never says that it has landed',
      'rtl',
      [],
      [
        [copter, 0],
        [{ ...copter, armed: false }, 9000],
        [{ ...copter, armed: false }, 12_000],
      ],
      'reached',
    ],
    [
      'a rover far from home, which is on the ground',
      'rtl',
      [],
      [
        [{ ...ground, type: 10 }, 0],
        [{ ...ground, type: 10 }, 16_000],
      ],
      null,
    ],
    ['a rover at home', 'rtl', [], [[{ ...ground, type: 10, place: home }, 4000]], 'reached'],
    [
      'a fixed wing that circles around the place',
      'goto',
      [47.0005, 8, 2],
      [[{ ...copter, type: 1 }, 0]],
      'reached',
    ],
    ['a copter as far from it', 'goto', [47.0005, 8, 2], [[copter, 0]], null],
    ['the place at another height', 'goto', [47, 8, 20], [[copter, 0]], null],
    ['news of before the arming', 'takeoff', [10], [[{ ...copter, armed: false }, 500]], null],
    ['a vehicle that never armed', 'takeoff', [10], [[{ ...copter, armed: false }, 4000]], 'disarmed'],
    [
      'a mode for a moment',
      'takeoff',
      [10],
      [
        [copter, 0],
        [{ ...copter, mode: 'BRAKE' }, 5000],
        [{ ...copter, mode: 'BRAKE' }, 7000],
        [copter, 9000],
      ],
      null,
    ],
    [
      'a mode that stays',
      'takeoff',
      [10],
      [
        [copter, 0],
        [{ ...copter, mode: 'BRAKE' }, 5000],
        [{ ...copter, mode: 'BRAKE' }, 8500],
      ],
      'mode_changed',
    ],
    [
      'PX4 comes to its mode by another, in which it arms',
      'takeoff',
      [10],
      [
        [{ ...copter, mode: 'AUTO.LOITER', altitude: 0 }, 500],
        [{ ...copter, mode: 'AUTO.TAKEOFF', altitude: 0 }, 1500],
        [{ ...copter, mode: 'AUTO.TAKEOFF', altitude: 3 }, 5500],
        [{ ...copter, mode: 'POSCTL', altitude: 3 }, 6000],
        [{ ...copter, mode: 'POSCTL', altitude: 3 }, 9500],
      ],
      'mode_changed',
    ],
  ];
  for (const [what, name, args, course, wanted] of cases)
    it(`${name}: ${what}: ${String(wanted)}`, () => {
      const goal = goalOf(name, args, 'GUIDED');
      const judged = course.map(([seen, ms]) => goal.judge(seen, ms));
      expect(judged.at(-1)).to.equal(wanted);
      expect(judged.slice(0, -1).every((ended) => ended === null)).to.equal(true);
    });
});
