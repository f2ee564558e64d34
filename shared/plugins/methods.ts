/**
 * What an extension may ask for on its socket: method -> the capability that it needs; null where none is needed, or where the
 * arguments decide (`mayPublish`, `maySubscribe`, the kind of a component).
 */
export const METHOD_CAPABILITIES = {
  ping: null,
  'config.get': null,
  'config.set': null,
  'event.publish': null,
  'event.subscribe': null,
  'state.publish': null,
  'telemetry.subscribe': 'telemetry.read',
  'telemetry.extend': 'telemetry.extend',
  'mavlink.subscribe': 'mavlink.read',
  'mavlink.send': 'mavlink.write',
  'mavlink.register_component': null,
  'mavlink.component_send': null,
  'command.send': 'command.send',
  'mission.read': 'mission.read',
  'mission.write': 'mission.write',
  'recording.start': 'recording.write',
  'recording.stop': 'recording.write',
  'camera.register': 'sensor.camera.register',
  'vision.read_frame': 'vision.frame.read',
  'vision.publish_detection': 'vision.detection.publish',
  'vision.subscribe_detections': 'vision.detection.subscribe',
  'vision.designate_track': 'vision.track.designate',
} as const satisfies Readonly<Record<string, string | null>>;

export type MethodName = keyof typeof METHOD_CAPABILITIES;
