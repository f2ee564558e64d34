import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/wfb', {
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
});

function shown(value: number | null | undefined, unit = ''): string {
  return value === null || value === undefined ? 'unknown' : `${value} ${unit}`.trim();
}
