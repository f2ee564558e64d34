import type { FromSchema } from 'json-schema-to-ts';
import { ApiError } from '../../../shared/errors.ts';
import type { channelAnswer, channelRequest } from '../../../shared/schemas/radio.ts';
import type { Radio } from './radio.ts';

export type ChangeChannel = (
  body: FromSchema<typeof channelRequest>,
) => Promise<FromSchema<typeof channelAnswer>>;

/** The change of the channel on a node that has nobody to agree on it with. */
export function changeChannelAlone(radio: Pick<Radio, 'tune' | 'keepChannel'>): ChangeChannel {
  return async ({ channel, phase }) => {
    if (phase !== undefined)
      throw new ApiError(
        'E_NOT_PAIRED',
        'No radio is bound to this one, so nobody can agree on a channel with it.',
      );
    const { frequency_mhz } = await radio.tune(channel);
    // The cards are there and have reported it; no other end can prove more.
    await radio.keepChannel(channel);
    return {
      channel,
      frequency_mhz,
      proved: false,
      reverted: false,
      reason: 'No radio is bound to this one: nothing can be heard on it.',
    };
  };
}
