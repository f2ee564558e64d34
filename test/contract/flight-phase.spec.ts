import { expect } from 'chai';
import { factsOf, phaseOf } from '../../shared/fleet/node-state.ts';
import { type FlightPhase, flightPhase, type PhaseFacts } from '../../shared/flight/phase.ts';
import { seenIn } from '../../shared/flight/seen.ts';

const TABLE: readonly (readonly [PhaseFacts['armed'], string | null, number | null, FlightPhase])[] = [
  [false, 'on_ground', 0, 'disarmed'],
  // Falls, or was disarmed in the air: nothing is offered that wants thrust.
  [false, 'in_air', 30, 'disarmed'],
  [true, 'on_ground', 0, 'on_ground'],
  [true, 'on_ground', 40, 'on_ground'],
  [true, 'takeoff', 0.3, 'in_air'],
  [true, 'in_air', 32, 'in_air'],
  [true, 'landing', 9.5, 'in_air'],
  [true, 'landing', null, 'in_air'],
  [true, null, 12, 'in_air'],
  // Below home, down a slope.
  [true, null, -12, 'in_air'],
  [true, null, 0.4, 'armed'],
  [true, null, null, 'armed'],
  ['unknown', 'in_air', 30, 'unknown'],
  [null, null, null, 'unknown'],
];

describe('the phase of a flight is one for node, hub, pages, CLI and connector', () => {
  for (const [armed, landed, height, phase] of TABLE)
    it(`${String(armed)}, ${landed ?? 'says nothing of landing'}, ${height ?? '?'} m: ${phase}`, () => {
      expect(flightPhase({ armed, landed, height })).to.equal(phase);
      const telemetry = { armed, landed_state: landed, position: { alt_rel: height, state: 'ok' } };
      expect(seenIn(telemetry).phase).to.equal(phase);
      // The hub's list goes by what the node says, and by the height where it is a node of 1.0.
      const node = { online: true, alarm: null, status_at: 0 };
      const flies = (status: object): boolean =>
        phaseOf(node, factsOf({ armed, position: { relative_alt_m: height }, ...status }), 0) === 'flying';
      expect(flies({ flight_phase: phase })).to.equal(phase === 'in_air');
      expect(flies({})).to.equal(armed === true && height !== null && Math.abs(height) >= 2);
    });

  it('a place that is lost has no height', () => {
    const telemetry = { armed: true, landed_state: null, position: { alt_rel: 30, state: 'lost' } };
    expect(seenIn(telemetry).phase).to.equal('armed');
  });
});
