import { expect } from 'chai';
import { VehicleEvents } from '../../residual/app/plugins/ipc/vehicle-events.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import type { Telemetry } from '../../shared/rpc/telemetry.ts';
import { linkState } from '../fleet/rig.ts';

interface Change {
  readonly armed?: LinkState['armed'];
  readonly mode?: string;
  /** MAV_AUTOPILOT */
  readonly autopilot?: number;
  readonly battery?: Partial<Telemetry['battery']>;
  readonly mission?: Partial<Telemetry['mission']>;
}

describe('events of the vehicle for extensions', () => {
  let told: [topic: string, payload: unknown][];
  let events: VehicleEvents;
  beforeEach(() => {
    told = [];
    events = new VehicleEvents((topic, payload) => told.push([topic, payload]));
  });
  const see = ({ armed = true, mode = 'AUTO', autopilot = 12, battery, mission }: Change): void => {
    const state = linkState({ armed, mode });
    const { telemetry } = state;
    events.heard({
      ...state,
      telemetry: {
        ...telemetry,
        autopilot,
        fence: null,
        battery: { ...telemetry.battery, state: null, ...battery },
        mission: { current: 2, reached: 1, total: 5, state: 'active', ...mission },
      },
    });
  };
  const topics = (prefix: string): readonly string[] =>
    told.splice(0).flatMap(([topic]) => (topic.startsWith(prefix) ? [topic] : []));

  it('battery_low: when the vehicle calls it low, once, and again when it gets worse', () => {
    see({ battery: { state: 'ok' } });
    see({ battery: { state: 'low', voltage: 10.4, remaining: 20 } });
    expect(told).to.deep.include(['vehicle.battery_low', { state: 'low', voltage: 10.4, remaining: 20 }]);
    told.length = 0;
    see({ battery: { state: 'low' } });
    see({ battery: { state: 'critical' } });
    expect(topics('vehicle.')).to.deep.equal(['vehicle.battery_low']);
    see({ battery: { state: 'low' } });
    see({ battery: { state: 'ok' } });
    see({ battery: { state: 'unhealthy' } });
    see({ battery: { state: null, remaining: 1, voltage: 3 } });
    expect(topics('vehicle.')).to.deep.equal([]);
  });

  it('mission.aborted: a mission that was begun and is not at its end is given up', () => {
    for (const [change, reason] of [
      [{ mode: 'RTL', mission: { state: 'not_started' } }, 'mode'],
      [{ mode: 'LAND' }, 'mode'],
      [{ mode: 'AUTO.RTL', mission: { state: 'paused' } }, 'mode'],
      [{ armed: false }, 'disarmed'],
      [{ mission: { state: 'none', total: 0, current: 0 } }, 'cleared'],
    ] as const) {
      events.forget();
      see({});
      see(change);
      const [, payload] = told.find(([topic]) => topic === 'mission.aborted') ?? [];
      expect(payload, JSON.stringify(change)).to.include({ reason });
      told.length = 0;
      see(change);
      expect(topics('mission.'), 'once').to.deep.equal([]);
    }
  });

  it('mission.aborted: not for a pause, not for a mission at its last item, not for one that was never begun', () => {
    see({});
    see({ mode: 'LOITER', mission: { state: 'not_started' } });
    see({ mode: 'AUTO' });
    see({ mode: 'AUTO', mission: { current: 4 } });
    see({ mode: 'RTL', mission: { current: 4, state: 'not_started' } });
    expect(topics('mission.')).to.deep.equal(['mission.started']);
    events.forget();
    see({ mission: { current: 4 } });
    see({ armed: false, mission: { current: 4 } });
    events.forget();
    // ArduPilot counts them from 1.
    see({ autopilot: 3, mission: { current: 5 } });
    see({ autopilot: 3, armed: false, mission: { current: 5 } });
    events.forget();
    see({ mission: { total: null } });
    see({ armed: false, mission: { total: null } });
    events.forget();
    see({ mode: 'GUIDED', mission: { state: 'not_started' } });
    see({ mode: 'RTL', mission: { state: 'not_started' } });
    expect(topics('mission.')).to.deep.equal([]);
    events.forget();
    see({});
    see({ mission: { state: 'complete' } });
    see({ armed: false, mode: 'RTL', mission: { state: 'complete' } });
    expect(topics('mission.')).to.deep.equal(['mission.completed']);
    events.forget();
    see({ autopilot: 3, mission: { current: 4 } });
    see({ autopilot: 3, armed: false, mission: { current: 4 } });
    expect(topics('mission.'), 'of 1 to 5').to.deep.equal(['mission.aborted']);
  });
});
