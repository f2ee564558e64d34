import { MavBatteryChargeState } from '../mavlink-values.ts';
import type { Channel } from './channel.ts';
import { BatteryStatus } from './messages.ts';
import type { TelemetryView } from './telemetry-view.ts';

const UNKNOWN16 = 0xffff;
const PLACES = 10;
const CELLS = 3;

/** BATTERY_STATUS of ArduPilot without a cell monitor: the pack's voltage stands in the first place. */
export function packBattery(channel: Channel, view: TelemetryView): void {
  send(channel, view, [view.volts() * 1000]);
}

/** BATTERY_STATUS of PX4: the voltage of each cell, which PX4 too gets by dividing. */
export function cellBattery(channel: Channel, view: TelemetryView): void {
  send(
    channel,
    view,
    Array.from({ length: CELLS }, () => (view.volts() * 1000) / CELLS),
  );
}

function send(channel: Channel, view: TelemetryView, voltages: readonly number[]): void {
  const { vehicle, params } = view;
  const { battery } = vehicle;
  const rest = Array.from({ length: PLACES - voltages.length }, () => UNKNOWN16);
  channel.send(BatteryStatus, {
    id: 0,
    type: 1, // MAV_BATTERY_TYPE_LIPO
    temperature: 0x7fff,
    voltages: [...voltages, ...rest],
    currentBattery: battery.amps * 100,
    currentConsumed: battery.usedMah,
    energyConsumed: (battery.usedMah * view.volts() * 3.6) / 100, // hJ
    batteryRemaining: battery.remaining(params.get('BATT_CAPACITY')),
    chargeState: view.batteryLow() ? MavBatteryChargeState.LOW : MavBatteryChargeState.OK,
  });
}
