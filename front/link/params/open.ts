import { MSG } from '../../../shared/mavlink/messages.ts';
import { paramEncoding } from './param-encoding.ts';
import { Params, type ParamsOptions } from './params.ts';

/** MAV_CMD */
const REQUEST_MESSAGE = 512;
const ASK_VERSION = [MSG.AUTOPILOT_VERSION, 0, 0, 0, 0, 0, 0] as const;

/** The parameters, which hear what the vehicle says of them. */
export function openParams(options: Omit<ParamsOptions, 'encoding' | 'identify'>): Params {
  const { vehicle, encoder, ask } = options;
  const params = new Params({
    ...options,
    encoding: () => paramEncoding(vehicle.capabilities, vehicle.firmware),
    identify: () => {
      const { target } = vehicle;
      if (target !== null) ask(encoder.commandLong(target, REQUEST_MESSAGE, ASK_VERSION, 0));
    },
  });
  vehicle.messages.on('param', (value) => params.onValue(value));
  return params;
}
