/**
 * What an extension may ask its node for: method -> the capability that it needs; null where none is needed, or where the
 * topic decides (`mayPublish`, `maySubscribe`).
 */
export const METHOD_CAPABILITIES: Readonly<Record<string, string | null>> = {
  hello: null,
  ping: null,
  'config.get': null,
  'config.set': null,
  'event.publish': null,
  'event.subscribe': null,
  'state.publish': null,
  'telemetry.subscribe': 'telemetry.read',
  'mavlink.subscribe': 'mavlink.read',
  'mavlink.send': 'mavlink.write',
  'mission.read': 'mission.read',
  'recording.start': 'recording.write',
  'recording.stop': 'recording.write',
  'vision.publish_detection': 'vision.detection.publish',
  'vision.subscribe_detections': 'vision.detection.subscribe',
};
