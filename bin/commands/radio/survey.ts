import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/wfb/survey', {
  summary: 'Listen on every channel with a spare card, and show where it is quiet.',
  examples: ['radio survey'],
  *lines({ card, channels }) {
    yield `with ${card}`;
    for (const { channel, frequency_mhz: mhz, allowed, frames, noise_dbm: noise, best } of channels) {
      const heard = frames === null ? 'not listened to' : `${frames} frames`;
      const noisy = noise === null ? '' : `, noise ${noise} dBm`;
      const mark = best ? ', best' : allowed ? '' : ', not allowed to send';
      yield `${String(channel).padStart(3)}  ${mhz} MHz  ${heard}${noisy}${mark}`;
    }
  },
});
