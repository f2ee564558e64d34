import { Args, Flags } from '@oclif/core';
import { forceFlag } from '../cli/node-command.ts';
import { requestCommand, switchFlag, usageError } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';
import { hiddenInput } from '../terminal/hidden-input.ts';

export default {
  'radio:status': requestCommand('GET /api/wfb', {
    summary: 'Show the radio link: what is heard, what is lost, and what is wrong with it.',
    examples: ['radio status'],
    *lines(radio) {
      const { bitrate_kbps: rate, fec_recovered: rebuilt, packets_lost: lost } = radio;
      yield `radio      ${radio.state}, ${radio.quality} (${radio.mode})`;
      yield `channel    ${shown(radio.channel)}, ${shown(radio.frequency_mhz, 'MHz')}, ${shown(radio.tx_power_dbm, 'dBm')}`;
      yield `signal     ${shown(radio.rssi_dbm, 'dBm')}, SNR ${shown(radio.snr_db, 'dB')}`;
      yield `loss       ${shown(radio.loss_before_fec_percent, '%')} before FEC, ${shown(radio.loss_percent, '%')} after; rebuilt ${shown(rebuilt)}, lost ${shown(lost)}`;
      yield `video      ${shown(rate, 'kbit/s')}${radio.camera_silent ? ', CAMERA SILENT' : ''}`;
      for (const { name, driver, rssi_dbm: rssi, sends } of radio.cards)
        yield `card       ${name} (${driver}), ${shown(rssi, 'dBm')}${sends ? ', sends' : ''}`;
      for (const { slot, name, device_id: id, state, quality } of radio.links)
        if (id !== null) yield `slot ${slot}     ${name ?? id}: ${state}, ${quality}`;
      if (radio.diagnosis !== null) yield `diagnosis  ${radio.diagnosis.sentence}`;
      if (radio.problem !== null) yield `problem    ${radio.problem}`;
    },
  }),
  'radio:pair': requestCommand('POST /api/wfb/pair', {
    summary: "Bind a drone's radio to this ground station's.",
    description:
      'The drone is reached over LAN, hotspot or USB. Its pairing key is typed at a prompt that does not show it, or the first line of stdin, and not kept. A drone that nobody has paired yet takes its pairing code instead (svc pair on the drone, or its screen), and its new key is printed once. Compare the fingerprint on both ends with: svc radio pairs',
    examples: [
      'radio pair 192.168.4.1',
      'radio pair svc-3fa2b1.local --code 7KXM2P',
      'radio pair 192.168.4.1 < key.txt',
    ],
    args: { host: Args.string({ description: 'the drone, host or host:port', required: true }) },
    flags: {
      code: Flags.string({ summary: 'the pairing code of a drone that is not paired' }),
      force: switchFlag('also while the vehicle is armed, or its state unknown'),
    },
    ask: async ({ args: { host }, flags: { code, force } }) => {
      const key = code === undefined ? await hiddenInput(`Pairing key of the drone at ${host}: `) : undefined;
      if (key === '') throw usageError("The drone's pairing key is missing. Nothing was changed.");
      return { body: { host, key, code, force } };
    },
    *lines({ device_id: id, fingerprint, drone_key: key }) {
      yield `Bound to ${id}. The fingerprint, the same on both ends:`;
      yield fingerprint;
      if (key === undefined) return;
      yield 'The drone was claimed. Keep its pairing key; it is not shown again:';
      yield key;
    },
  }),
  'radio:pairs': requestCommand('GET /api/wfb/pair', {
    summary: 'List the bound radios with their fingerprints.',
    examples: ['radio pairs'],
    *lines({ pairs, paired }) {
      for (const { slot, device_id: id, name, fingerprint, proved } of pairs)
        yield `slot ${slot}  ${id} ${name}  ${fingerprint}  ${proved ? 'proved' : 'has carried no data yet'}`;
      if (!paired) yield 'No bound radios.';
    },
  }),
  'radio:unpair': requestCommand('DELETE /api/wfb/pair', {
    summary: 'Forget a bound radio; its key and the relay end at once.',
    description:
      'On a drone this cuts off a lost ground station; on a ground station it ends the way to a drone.',
    examples: ['radio unpair 3fa2b1c4d5e6'],
    args: { device: Args.string({ description: 'the other end, see radio pairs', required: true }) },
    flags: { force: switchFlag('also while the vehicle is armed, or its state unknown') },
    ask: ({ args: { device }, flags: { force } }) => ({ query: { device_id: device, force } }),
    lines: ({ device_id: id }) => [`${id} is no longer bound.`],
  }),
  'radio:channel': requestCommand('POST /api/wfb/channel', {
    summary: 'Put the radio on another channel.',
    examples: ['radio channel 149'],
    args: { channel: Args.string({ description: 'Wi-Fi channel', required: true }) },
    flags: forceFlag,
    ask: ({ args, flags: { force } }) => {
      const channel = Number(args.channel);
      if (!Number.isInteger(channel)) throw usageError(`${args.channel} is not a channel`);
      return { body: { channel, force } };
    },
    *lines({ channel, frequency_mhz: mhz, proved, reverted, reason }) {
      const frequency = mhz === null ? '' : ` (${mhz} MHz)`;
      const confirmed = proved ? ', and the other end has confirmed it' : '';
      yield `${reverted ? 'Went back: the' : 'The'} radio is on channel ${channel}${frequency}${confirmed}.`;
      if (reason !== null) yield reason;
    },
  }),
  'radio:power': requestCommand('PUT /api/wfb/tx-power', {
    summary: 'Set the transmit power of the radio.',
    examples: ['radio power 15'],
    args: { dbm: Args.string({ description: '1 to 30 dBm', required: true }) },
    flags: forceFlag,
    ask: ({ args, flags: { force } }) => {
      const dbm = Number(args.dbm);
      if (!Number.isInteger(dbm)) throw usageError(`${args.dbm} is not a whole number of dBm`);
      return { body: { tx_power_dbm: dbm, force } };
    },
    *lines({ effective_dbm: effective, tx_power_max_dbm: limit }, { args: { dbm } }) {
      yield `The card reports ${effective === null ? 'no power' : `${effective} dBm`}.`;
      if (limit !== null && Number(dbm) > limit) yield `The region allows ${limit} dBm on this channel.`;
    },
  }),
  'radio:survey': requestCommand('GET /api/wfb/survey', {
    summary: 'Listen on every channel with a spare card, and show where it is quiet.',
    examples: ['radio survey'],
    *lines({ card, channels }) {
      yield `with ${card}`;
      yield* tableOf(
        ['CHANNEL', 'MHZ', 'FRAMES', 'NOISE (DBM)', ''],
        channels.map(({ channel, frequency_mhz: mhz, allowed, frames, noise_dbm: noise, best }) => [
          channel,
          mhz,
          frames,
          noise,
          best ? 'best' : allowed ? '' : 'not allowed to send',
        ]),
      );
    },
  }),
};

function shown(value: number | null | undefined, unit = ''): string {
  return value === null || value === undefined ? 'unknown' : `${value} ${unit}`.trim();
}
