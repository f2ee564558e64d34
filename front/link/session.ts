import { MSG } from '../../shared/mavlink/messages.ts';
import { OWN_COMPONENT } from './encode.ts';
import type { Parts } from './parts.ts';
import type { SessionReason } from './vehicle/vehicle.ts';

/** Each part hears what of the vehicle is for it. Nothing here decides. */
export function followVehicle(parts: Parts): void {
  followState(parts);
  followTexts(parts);
  followMessages(parts);
}

function followState(parts: Parts): void {
  const { vehicle, feed, exchange, streams, prearm, params, texts, evidence } = parts;
  vehicle.listen({
    onSession: (reason) => beginSession(parts, reason),
    onHeartbeat: () => {
      exchange.onHeartbeat();
      streams.onMessage(MSG.HEARTBEAT, false);
      prearm.onHeartbeat();
      if (vehicle.armed === true) prearm.forget();
      parts.keepChosen();
      feed.importantChanged();
    },
    onArmedChange: () => feed.importantChanged(),
    onTelemetry: (id) => {
      if (id === MSG.SYS_STATUS) prearm.onStatus();
      streams.onMessage(id, true);
      feed.telemetryChanged();
    },
    onVersion: () => params.onVersion(),
    onStatusText: (part, component) => texts.add(part, component),
    onMessage: (id) => {
      streams.onMessage(id, false);
      evidence.message(id);
    },
  });
}

function followTexts({ vehicle, texts, statusLog, prearm, refusals, calibration, feed }: Parts): void {
  texts.listen((line) => {
    vehicle.onLine(line);
    statusLog.write(line);
    prearm.onLine(line);
    refusals.onLine(line);
    calibration.onLine(line);
    feed.telemetryChanged();
  });
}

function followMessages(parts: Parts): void {
  const { encoder, exchange, evidence, params, feed, ftp, events, metadata, missions, calibration, logs } =
    parts;
  const { messages } = parts.vehicle;
  messages.on('ack', (ack) => exchange.onAck(ack));
  messages.on('param', (value) => {
    evidence.parameter(value.name);
    params.onValue(value);
    feed.telemetryChanged();
  });
  messages.on('ftp', (message) => {
    // Addressed to us, not to a ground station whose answers pass through here too.
    const { targetSystem, targetComponent } = message;
    if (targetSystem === encoder.system && targetComponent === OWN_COMPONENT) ftp.onMessage(message);
  });
  messages.on('event', (event) => events.onEvent(event));
  messages.on('eventSequence', (sequence) => events.onSequence(sequence));
  messages.on('metadataUri', (uri) => metadata.onUri(uri));
  messages.on('mission', (message) => missions.onMessage(message));
  messages.on('missionIds', (ids) => missions.onIds(ids));
  messages.on('calibration', (message) => calibration.onMessage(message));
  if (logs !== null) {
    messages.on('logEntry', (entry) => logs.onEntry(entry));
    messages.on('logData', (data) => logs.onData(data));
  }
}

/** Earlier requests are void; what is known of another vehicle, or from before its reboot, is forgotten. */
function beginSession(parts: Parts, reason: SessionReason): void {
  const { target } = parts.vehicle;
  if (target === null) return;
  for (const encoder of parts.encoders) encoder.system = target.system;
  parts.log.info(`vehicle ${target.system}/${target.component} ${reason}`);
  const other = reason === 'learned' || reason === 'rebooted';
  if (reason !== 'connected') parts.prearm.forget();
  if (other) parts.warnings.forget();
  parts.evidence.clear(); // another vehicle may be connected; real evidence comes again
  if (reason === 'learned') {
    parts.texts.clear();
    parts.signing.forget();
  }
  parts.asking.forget();
  parts.missions.onSession();
  parts.calibration.onSession(reason);
  parts.streams.request();
  parts.events.begin(other);
  if (other) parts.metadata.forget();
  if (other) parts.logs?.forget();
  parts.params.download(reason === 'learned');
}
