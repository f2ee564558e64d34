const NO_MSP = 'this node speaks MAVLink with its vehicle, not MSP';
const NO_JOBS = 'this node has nothing that runs computing jobs';
const NO_CLOUD = 'this node keeps no data of the operator elsewhere';
const NO_SENSORS =
  'nothing on this node reads such a sensor; what it measures goes out with telemetry.extend';

/**
 * What other hosts of such extensions offer, and this node does not: why, as half a sentence, and what helps. A
 * grant that does nothing would be a lie to the operator, so nobody is granted any of it.
 */
export const NOT_OFFERED: Readonly<Record<string, string>> = {
  'msp.read': NO_MSP,
  'msp.write': NO_MSP,
  'sensor.depth.register': NO_SENSORS,
  'sensor.lidar.register': NO_SENSORS,
  'sensor.imu.register': NO_SENSORS,
  'sensor.payload.register': NO_SENSORS,
  'estimator.pose.inject': 'poses go to the vehicle as those of a component; ask for mavlink.component.vio',
  'flight.guided_setpoint':
    'set-points are sent as frames; ask for mavlink.write, or for command.send and its goto',
  'flight.rate_setpoint': 'the node sends no rates of turn; ask for mavlink.write',
  'mavlink.tunnel': 'TUNNEL is a message like any other; ask for mavlink.write and mavlink.read',
  'video.source.set':
    'the operator chooses the picture with video.source; a camera of its own is sensor.camera.register',
  'vision.model.read': 'models run in the detector of the node, which shows them to no extension',
  'vision.model.register':
    'models are installed by the operator; bring the model along, and report with vision.detection.publish',
  'display.oled.page': 'this node drives no small display; ask for hardware.i2c',
  'button.subscribe': 'this node reads no buttons; ask for hardware.gpio',
  'compute.job.read': NO_JOBS,
  'compute.job.submit': NO_JOBS,
  'compute.dataset.write': NO_JOBS,
  'compute.stream.open': NO_JOBS,
  'cloud.read': NO_CLOUD,
  'cloud.write': NO_CLOUD,
  'perception.subscribe': 'the page is not told of each object; ask for perception.read and read again',
  'radio.aux_stream': 'the radio carries the picture, MAVLink and the API, and nothing of an extension',
};

/** Why nobody can be granted this, as half a sentence; null if it is merely not known, or is offered. */
export function notOffered(id: string): string | null {
  return Object.hasOwn(NOT_OFFERED, id) ? (NOT_OFFERED[id] ?? null) : null;
}
