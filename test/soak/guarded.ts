import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { common, type MavLinkData } from 'node-mavlink';
import { encodeAs } from '../link/mavlink-samples.ts';
import { GCS } from './load.ts';

/** Of the simulated vehicle, and not harmless (shared/mavlink/param-classes.ts). */
export const GUARDED_PARAM = 'RTL_ALT';
/** A value of it that nobody sets otherwise. */
export const FORBIDDEN = 4321;
const INT32 = 6;
const REBOOT = 246;

/** Frames that set a vehicle up otherwise or restart it: for ours, for all its components, for everybody. */
export function dangerous(): readonly MavLinkData[] {
  const rest = { _param2: 0, _param3: 0, _param4: 0, _param5: 0, _param6: 0, _param7: 0, confirmation: 0 };
  return (
    [
      [1, 1],
      [1, 0],
      [0, 0],
    ] as const
  ).flatMap(([targetSystem, targetComponent]) => {
    const target = { targetSystem, targetComponent };
    const set = { ...target, paramId: GUARDED_PARAM, paramValue: FORBIDDEN, paramType: INT32 };
    return [
      Object.assign(new common.ParamSet(), set),
      Object.assign(new common.CommandLong(), { ...target, command: REBOOT, _param1: 1, ...rest }),
    ];
  });
}

/** A ground station that comes, says this, and goes. @returns false where nobody takes it */
export async function sayOnce(port: number, messages: readonly MavLinkData[]): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.on('error', () => undefined).resume(); // a fault may cut it off
    socket.write(
      Buffer.concat(messages.map((each, seq) => encodeAs(each, 'v2', seq, GCS.system, GCS.component))),
    );
    await wait(500);
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
