import { call, Refused } from '../api/client.ts';
import type { Body } from '../api/rows.ts';
import { t } from '../strings.ts';

/** What the page of an extension may ask, and what the node is asked for it (docs/extensions.md, "The page of an extension"). */

type Args = Readonly<Record<string, unknown>>;

interface Method {
  /** The grant that it needs; null: nothing of the node is touched but the extension itself. */
  readonly needs: string | null;
  /** A person has to confirm each one, in the page and not in the frame. */
  readonly confirm?: (args: Args) => string;
  readonly run: (id: string, args: Args, notify: Notify) => Promise<unknown>;
}

/** Says something in passing, with the extension's name before it. @throws Error where it says too much */
type Notify = (text: string, tone: 'info' | 'warn' | 'bad') => void;

const PARTS = { mission: 'mission.get', fence: 'fence.get', rally: 'rally.get' } as const;
const PUTS = { mission: 'mission.put', fence: 'fence.put', rally: 'rally.put' } as const;

export const METHODS: Readonly<Record<string, Method>> = {
  'state.read': {
    needs: null,
    run: async (id) => call('plugins.id.state.get', { params: { id } }),
  },
  'telemetry.subscribe': {
    needs: 'telemetry.subscribe',
    run: async () => ({}),
  },
  'mission.read': {
    needs: 'mission.read',
    run: async (_, { part }) => call(PARTS[partOf(part)]),
  },
  'mission.write': {
    needs: 'mission.write',
    confirm: ({ part }) => t.extensions.frame.mission({ part: partOf(part) }),
    run: async (_, { part, plan }) => call(PUTS[partOf(part)], { body: plan as Body<'mission.put'> }),
  },
  'recording.write': {
    needs: 'recording.write',
    run: async (_, { action }) =>
      action === 'stop'
        ? call('video.record.stop.post', { body: {} })
        : call('video.record.start.post', { body: {} }),
  },
  'perception.read': {
    needs: 'perception.read',
    run: async () => call('vision.detections.latest.get'),
  },
  'notification.publish': {
    needs: 'ui.slot.notification-channel',
    run: async (_, args, notify) => {
      notify(textOf(args), toneOf(args['severity']));
      return {};
    },
  },
  'command.send': {
    needs: 'command.send',
    confirm: ({ cmd, args }) =>
      t.extensions.frame.command({ text: JSON.stringify([cmd, ...(Array.isArray(args) ? args : [])]) }),
    run: async (_, { cmd, args = [] }) => {
      if (typeof cmd !== 'string' || !Array.isArray(args)) throw invalid();
      return call('command.post', { body: { cmd, args } });
    },
  },
};

function partOf(part: unknown): keyof typeof PARTS {
  if (part !== 'mission' && part !== 'fence' && part !== 'rally') throw invalid();
  return part;
}

function invalid(): Refused {
  return new Refused(0, 'E_INVALID_VALUE', t.extensions.frame.invalid);
}

function textOf({ title, body }: Args): string {
  const parts = [title, body].filter((part) => typeof part === 'string' && part !== '');
  if (parts.length === 0) throw invalid();
  return parts.map((part) => String(part).slice(0, 200)).join(': ');
}

function toneOf(severity: unknown): 'info' | 'warn' | 'bad' {
  if (severity === 'critical' || severity === 'error') return 'bad';
  return severity === 'warning' ? 'warn' : 'info';
}
