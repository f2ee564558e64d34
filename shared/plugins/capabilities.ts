import { higher, type Scope } from '../auth/scopes.ts';
import { telemetryPart } from './telemetry-part.ts';

export type Half = 'agent' | 'gcs';
export type Risk = 'low' | 'medium' | 'high' | 'critical';
type Category = 'hardware' | 'flight_control' | 'data_network' | 'compute_process' | 'ui_slot' | 'plugin';

interface Capability {
  readonly halves: readonly Half[];
  readonly risk: Risk;
  readonly category: Category;
  /** What it means, for a person. */
  readonly label: string;
  /** The least class of a token with which somebody may call what uses it. */
  readonly class: Scope;
}

const BOTH = ['agent', 'gcs'] as const satisfies readonly Half[];

function row(
  risk: Risk,
  scope: Scope,
  category: Category,
  label: string,
  halves: readonly Half[] = ['agent'],
): Capability {
  return { halves, risk, category, label, class: scope };
}

function slot(place: string): Capability {
  return row('low', 'read', 'ui_slot', `shows something in ${place}`, ['gcs']);
}

/** A place that the page does not have: what is meant for it is the extension's own page. */
function own(place: string): Capability {
  return row('low', 'read', 'ui_slot', `has a page below Extensions (here it is not put into ${place})`, [
    'gcs',
  ]);
}

/** Everything that an extension can be granted, each with an effect. Of what does not stand here, `not-offered.ts` says why. */
export const CAPABILITIES: Readonly<Record<string, Capability>> = {
  'event.publish': row('low', 'safe_write', 'plugin', 'publishes events under names other than its own'),
  'event.subscribe': row('low', 'read', 'plugin', 'hears events of the node'),
  'mavlink.read': row('low', 'read', 'flight_control', 'reads every message of the vehicle'),
  'telemetry.read': row('low', 'read', 'flight_control', 'reads position, attitude, battery and state'),
  'telemetry.extend': row('low', 'safe_write', 'flight_control', 'adds own values to the telemetry'),
  'mission.read': row('low', 'read', 'flight_control', 'reads mission, fence and rally points', BOTH),
  'recording.write': row('low', 'safe_write', 'data_network', 'starts and stops recordings', BOTH),
  'vision.detection.publish': row('low', 'safe_write', 'compute_process', 'reports objects that it has seen'),
  'vision.detection.subscribe': row('low', 'read', 'compute_process', 'hears which objects were seen'),

  'mavlink.component.camera': row(
    'medium',
    'safe_write',
    'flight_control',
    'appears to the vehicle as camera',
  ),
  'mavlink.component.gimbal': row(
    'medium',
    'safe_write',
    'flight_control',
    'appears to the vehicle as gimbal',
  ),
  'mavlink.component.payload': row('medium', 'safe_write', 'flight_control', 'appears as payload'),
  'mavlink.component.peripheral': row('medium', 'safe_write', 'flight_control', 'appears as peripheral'),
  'sensor.camera.register': row(
    'medium',
    'safe_write',
    'hardware',
    'offers its pictures as a camera of the node',
  ),
  'hardware.uart': row('medium', 'admin', 'hardware', 'uses serial ports'),
  'hardware.i2c': row('medium', 'admin', 'hardware', 'uses the I2C buses'),
  'hardware.spi': row('medium', 'admin', 'hardware', 'uses the SPI buses'),
  'hardware.gpio': row('medium', 'admin', 'hardware', 'uses the GPIO lines'),
  'hardware.usb': row('medium', 'admin', 'hardware', 'uses USB devices'),
  'hardware.usb.uvc': row('medium', 'admin', 'hardware', 'uses USB cameras'),
  'hardware.camera.csi': row('medium', 'admin', 'hardware', 'uses the cameras of the board'),
  'hardware.gpu': row('medium', 'admin', 'hardware', 'uses the graphics processor'),
  'network.outbound': row('medium', 'admin', 'data_network', 'connects to other machines'),
  'network.listen': row('medium', 'admin', 'data_network', 'accepts connections of other machines'),
  'filesystem.host': row('medium', 'admin', 'data_network', 'reads and writes files of this machine'),
  'vision.frame.read': row('medium', 'read', 'compute_process', 'sees the pictures of the cameras'),
  'vision.track.designate': row(
    'medium',
    'safe_write',
    'compute_process',
    'chooses which object is followed',
  ),
  'mcp.expose': row('medium', 'read', 'plugin', 'offers its tools to AI clients', BOTH),

  'mavlink.write': row('high', 'flight', 'flight_control', 'sends any message to the vehicle'),
  'mavlink.component.vio': row('high', 'flight', 'flight_control', 'tells the vehicle where it is'),
  'hardware.gpio_out': row('high', 'flight', 'hardware', 'switches outputs of the board'),
  'command.send': row('high', 'flight', 'flight_control', 'commands the vehicle', BOTH),
  'mission.write': row('high', 'flight', 'flight_control', 'replaces mission, fence and rally points', BOTH),
  'process.spawn': row('high', 'admin', 'compute_process', 'runs programs that it brings along'),

  'ui.slot.fc-tab': slot("the flight controller's page"),
  'ui.slot.hardware-tab': own('the hardware page'),
  'ui.slot.mission-template': own('the list of mission templates'),
  'ui.slot.map-overlay': own('the map'),
  'ui.slot.video-overlay': slot('the picture'),
  'ui.slot.notification-channel': slot('the notifications'),
  'ui.slot.settings-section': slot('the settings'),
  'ui.slot.flight-skill': own('the list of flight skills'),
  'ui.slot.node-detail-tab': own("the node's page"),
  'ui.slot.cockpit-panel': own('the cockpit'),
  'telemetry.subscribe': row('low', 'read', 'flight_control', 'reads position, attitude and state', ['gcs']),
  'perception.read': row('low', 'read', 'compute_process', 'reads which objects were seen', ['gcs']),
};

/** Null for what is not known. */
function lookUp(id: string): Capability | null {
  const part = telemetryPart(id);
  if (part !== null) return row('low', 'read', 'flight_control', `reads of the telemetry: ${part}`, ['gcs']);
  return (Object.hasOwn(CAPABILITIES, id) ? CAPABILITIES[id] : null) ?? null;
}

/** Whether it can be granted at all: a record of an earlier version may hold what this one does not offer. */
export function isCapability(id: string): boolean {
  return lookUp(id) !== null;
}

/** Null for what is not known, or not for this half. */
export function capabilityOf(id: string, half: Half): Capability | null {
  const found = lookUp(id);
  return found?.halves.includes(half) === true ? found : null;
}

/** Why a person should think before granting it; one sentence. */
export function riskReason({ risk, class: scope, category }: Capability): string {
  if (risk === 'critical') return 'A fault in it can crash the vehicle at once.';
  if (scope === 'flight') return 'It can change what the vehicle does in flight.';
  if (category === 'hardware' && scope === 'admin') return 'It reaches devices that are wired to this node.';
  if (scope === 'admin') return 'It reaches beyond the files and processes of the extension.';
  if (risk !== 'low') return 'It sees or changes what others on this node rely on.';
  return scope === 'read' ? 'It only reads or shows.' : 'It changes little, and nothing that flies.';
}

/** What an author may declare for a tool; everything else counts as admin. */
const DECLARED: ReadonlyMap<unknown, Scope> = new Map<unknown, Scope>([
  ['read', 'read'],
  ['safe_write', 'safe_write'],
  ['admin', 'admin'],
  ['flight', 'flight'],
  ['flight_action', 'flight'],
  ['destructive', 'destructive'],
]);

/**
 * The class of an extension's tool: what it declares, raised by everything that the extension was granted, since nobody can
 * see which grants a tool uses.
 */
export function toolClass(declared: unknown, grants: Iterable<string>): Scope {
  let result = DECLARED.get(declared) ?? 'admin';
  for (const id of grants) {
    result = higher(result, lookUp(id)?.class ?? 'admin');
  }
  return result;
}

/** One last segment only: `com.a` must not reach the topics of `com.a.b`. */
const OWN_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const TOPIC = /^[a-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+$/;
const MAX_TOPIC = 256;

const RESERVED = [
  'vehicle',
  'mavlink',
  'mission',
  'safety',
  'agent',
  'swarm',
  'gps',
  'vision',
  'peripheral',
  'plugin',
];

const OF_THE_NODE: ReadonlySet<string> = new Set([
  'vehicle.armed',
  'vehicle.disarmed',
  'vehicle.mode_changed',
  'vehicle.battery_low',
  'vehicle.geofence_breach',
  'mission.started',
  'mission.completed',
  'mission.aborted',
  'vision.seen',
  'agent.ready',
  'agent.shutdown',
  'peripheral.added',
  'peripheral.removed',
]);

/** `plugin.<id>.<name>`: the topics that are an extension's own. */
function isOwnTopic(id: string, topic: string): boolean {
  const prefix = `plugin.${id}.`;
  return topic.startsWith(prefix) && OWN_NAME.test(topic.slice(prefix.length));
}

/** Own topics always; others with the grant `event.publish`, unless they are the node's or another extension's. */
export function mayPublish(id: string, topic: string, grants: ReadonlySet<string>): boolean {
  if (topic.length > MAX_TOPIC) return false;
  if (isOwnTopic(id, topic)) return true;
  return (
    grants.has('event.publish') && TOPIC.test(topic) && !RESERVED.includes(topic.slice(0, topic.indexOf('.')))
  );
}

/** With the grant `event.subscribe`: own topics, and the events of the node that are meant for extensions. */
export function maySubscribe(id: string, topic: string, grants: ReadonlySet<string>): boolean {
  if (topic.length > MAX_TOPIC || !grants.has('event.subscribe')) return false;
  return isOwnTopic(id, topic) || OF_THE_NODE.has(topic);
}
