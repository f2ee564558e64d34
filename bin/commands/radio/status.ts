import type { FromSchema } from 'json-schema-to-ts';
import type { radioStatus } from '../../../shared/schemas/radio.ts';
import { NodeCommand } from '../../node-command.ts';

type RadioStatus = FromSchema<typeof radioStatus>;

export default class RadioStatusCommand extends NodeCommand {
  static override summary = 'Show the radio link: what is heard, what is lost, and what is wrong with it.';
  static override examples = ['<%= config.bin %> radio status'];

  async run(): Promise<RadioStatus> {
    await this.parse(RadioStatusCommand);
    const radio = (await this.api('GET', '/api/wfb')) as RadioStatus;
    const { bitrate_kbps: rate, fec_recovered: rebuilt, packets_lost: lost } = radio;
    this.log(`radio      ${radio.state}, ${radio.quality} (${radio.mode})`);
    this.log(
      `channel    ${shown(radio.channel)}, ${shown(radio.frequency_mhz, 'MHz')}, ${shown(radio.tx_power_dbm, 'dBm')}`,
    );
    this.log(`signal     ${shown(radio.rssi_dbm, 'dBm')}, SNR ${shown(radio.snr_db, 'dB')}`);
    this.log(
      `loss       ${shown(radio.loss_before_fec_percent, '%')} before FEC, ${shown(radio.loss_percent, '%')} after; rebuilt ${shown(rebuilt)}, lost ${shown(lost)}`,
    );
    this.log(`video      ${shown(rate, 'kbit/s')}${radio.camera_silent ? ', CAMERA SILENT' : ''}`);
    for (const { name, driver, rssi_dbm: rssi, sends } of radio.cards)
      this.log(`card       ${name} (${driver}), ${shown(rssi, 'dBm')}${sends ? ', sends' : ''}`);
    for (const { slot, name, device_id: id, state, quality } of radio.links)
      if (id !== null) this.log(`slot ${slot}     ${name ?? id}: ${state}, ${quality}`);
    if (radio.diagnosis !== null) this.log(`diagnosis  ${radio.diagnosis.sentence}`);
    if (radio.problem !== null) this.log(`problem    ${radio.problem}`);
    return radio;
  }
}

function shown(value: number | null | undefined, unit = ''): string {
  return value === null || value === undefined ? 'unknown' : `${value} ${unit}`.trim();
}
