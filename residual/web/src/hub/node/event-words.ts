import {
  ArrowLeftRight,
  type IconNode,
  Info,
  OctagonAlert,
  Plug,
  Power,
  PowerOff,
  Shuffle,
  TriangleAlert,
  Unplug,
  Waypoints,
} from 'lucide';
import type { FleetEvent } from '../../../../../shared/fleet/told.ts';
import { hub } from '../hub-words.ts';

/** What happened at a node, for people. The node's and the vehicle's own texts are shown as they are. */
interface EventLine {
  readonly icon: IconNode;
  readonly tone: 'calm' | 'busy' | 'warn' | 'bad';
  readonly text: string;
}

/** MAV_SEVERITY: up to 3 is an error, 4 a warning. */
const ERROR = 3;
const WARNING = 4;

export function eventWords({ kind, detail }: Pick<FleetEvent, 'kind' | 'detail'>): EventLine {
  const words = hub.node.timeline;
  const text = (name: string): string | null => {
    const value = detail[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const count = typeof detail['count'] === 'number' ? detail['count'] : 1;
  switch (kind) {
    case 'vehicle.armed':
      return { icon: Power, tone: 'busy', text: words.armed({ mode: text('mode') }) };
    case 'vehicle.disarmed':
      return { icon: PowerOff, tone: 'calm', text: words.disarmed };
    case 'vehicle.mode':
      return {
        icon: Shuffle,
        tone: 'calm',
        text: words.mode({ mode: text('mode') ?? '', from: text('from') }),
      };
    case 'vehicle.connected': {
      const firmware = [text('firmware'), text('firmware_version')].filter((part) => part !== null);
      return { icon: Plug, tone: 'calm', text: words.connected({ firmware: firmware.join(' ') || null }) };
    }
    case 'vehicle.lost': {
      const wasArmed = detail['armed'] === true;
      return { icon: Unplug, tone: wasArmed ? 'bad' : 'warn', text: words.lost({ armed: wasArmed }) };
    }
    case 'vehicle.messages_omitted':
      return { icon: Info, tone: 'calm', text: words.omitted({ count }) };
    case 'uplink.changed':
      return { icon: ArrowLeftRight, tone: 'calm', text: words.uplink };
    case 'telemetry':
      return { icon: Waypoints, tone: 'calm', text: words.telemetry({ count }) };
    default:
      return ofMessage(kind, detail, text('text'), count);
  }
}

function ofMessage(
  kind: string,
  detail: FleetEvent['detail'],
  text: string | null,
  count: number,
): EventLine {
  const severity = typeof detail['severity'] === 'number' ? detail['severity'] : null;
  const tone = severity === null || severity > WARNING ? 'calm' : severity <= ERROR ? 'bad' : 'warn';
  const icon = { calm: Info, warn: TriangleAlert, bad: OctagonAlert }[tone];
  const rest = Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const said = text ?? [kind, rest.join(', ')].filter((part) => part !== '').join(': ');
  return { icon, tone, text: count > 1 ? `${hub.node.timeline.times({ count })} ${said}` : said };
}
