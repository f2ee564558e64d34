import { frameCrc } from '../../../shared/mavlink/crc.ts';
import { STX_V2 } from '../../../shared/mavlink/frame-head.ts';
import type { ReceiverReport } from './receiver.ts';

/** MAVLink common: RADIO_STATUS. */
const ID = 109;
const CRC_EXTRA = 185;
const LENGTH = 9;
/** wfb-ng's own system and component, its flag in `remnoise` and its RSSI for a link that is lost. */
const SYSTEM = 3;
const COMPONENT = 68;
const LOST = 1;
const NO_RSSI = 128;
const UNKNOWN = 255;

/** What wfb-ng tells MAVLink peers of its link each second: a frame of MAVLink 2. @param seq 0..255 */
export function radioStatus({ packets, rx_ant_stats: [antenna] }: ReceiverReport, seq: number): Buffer {
  const count = (name: string): number => Math.min(65_535, packets[name]?.[0] ?? 0);
  const payload = Buffer.alloc(LENGTH);
  const rssi = antenna === undefined ? NO_RSSI : antenna.rssi_avg & 0xff;
  const noise = antenna === undefined ? NO_RSSI : (antenna.rssi_avg - antenna.snr_avg) & 0xff;
  payload.writeUInt16LE(Math.min(65_535, count('dec_err') + count('bad') + count('lost')), 0);
  payload.writeUInt16LE(count('fec_rec'), 2);
  payload.writeUInt8(rssi, 4);
  payload.writeUInt8(UNKNOWN, 5); // remrssi
  payload.writeUInt8(100, 6); // txbuf, percent
  payload.writeUInt8(noise, 7);
  payload.writeUInt8(antenna === undefined ? LOST : 0, 8);
  const end = payload.findLastIndex((byte) => byte !== 0) + 1;
  const header = Buffer.from([STX_V2, end, 0, 0, seq & 0xff, SYSTEM, COMPONENT, ID, 0, 0]);
  const frame = Buffer.concat([header, payload.subarray(0, end), Buffer.alloc(2)]);
  frame.writeUInt16LE(frameCrc(frame, 1, frame.length - 2, CRC_EXTRA), frame.length - 2);
  return frame;
}
