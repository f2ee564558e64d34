import { deferred } from '../../../shared/async/deferred.ts';
import { contained, every } from '../../../shared/async/every.ts';
import { LINK_FOLDER } from '../../../shared/link-file.ts';
import { hasMachineWork, noNetworkManager, withoutMesh } from '../../../shared/machine-work.ts';
import { groundStationRows } from '../../../shared/routes/ground-station.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import { networkRows } from '../../../shared/routes/network.ts';
import { clientOf, type ParamsOf } from '../../../shared/rpc/contract.ts';
import type { FleetUplink } from '../../../shared/rpc/fleet.ts';
import { type Iw, MACHINE, type MachineHandlers, type MacRow } from '../../../shared/rpc/machine.ts';
import type { Base } from '../node/base.ts';
import { MacPins } from './mac.ts';

/** How often it is looked whether svc-machine has to know something new; what decides about a request is sent with it. */
const LOOK_MS = 1000;
/** How often it is looked whether svc-machine has got something to do. */
const LATE_MS = 5000;
/** How long a request waits for svc-machine, which may just be starting. */
const WAIT_MS = 3000;

type Facts = ParamsOf<typeof MACHINE, 'know'>;

interface NetworkParts {
  readonly port: () => number;
  readonly paired: () => boolean;
  /** Interfaces that the radio has. */
  readonly radioCards: () => readonly string[];
  /** The host of the hub's broker; null: the node is in no fleet. */
  readonly hub: () => string | null;
  /** What svc-fleet has to know of the uplink in use. */
  readonly onUplink: (uplink: FleetUplink) => void;
}

/** The machine's network, as svc-machine tells it, which runs the programs for it and parses their words. */
export function openNetwork(
  { config, paths, identity, helper, supervisor, sysDir, env }: Base,
  { port, paired, radioCards, hub, onUplink }: NetworkParts,
) {
  const facts = (): Facts => ({
    device_id: identity.device_id,
    port: port(),
    paired: paired(),
    radio_cards: radioCards(),
    hub: hub(),
  });
  let isThere = hasMachineWork(config, env);
  const machine = clientOf(MACHINE, {
    path: paths.machineSocket,
    onConnection: (connected) => {
      known = '';
      if (!connected) return;
      for (const go of waiting) go();
      tellContained();
    },
    listeners: {
      uplink: ({ metered, change }) => {
        const hz = Math.min(config.network.metered_telemetry_hz, config.fleet.telemetry_hz);
        onUplink({
          telemetry_hz: metered ? hz : null,
          change: change === null ? null : { ...change, metered },
        });
      },
    },
  });
  const { calls } = machine;
  const waiting = new Set<() => void>();
  let known = '';
  const tell = async (): Promise<void> => {
    const now = facts();
    const text = JSON.stringify(now);
    if (text === known || !machine.connected) return;
    await calls.know(now);
    known = text;
  };
  const tellContained = contained('svc-machine', tell);
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    clearInterval(timer);
    machine.start();
    timer = setInterval(tellContained, LOOK_MS);
  };
  let beginning: Promise<void> | null = null;
  /** NetworkManager starts after this node, or is installed while it runs. */
  const beginLate = async (): Promise<void> => {
    if (isThere || !hasMachineWork(config, env)) return;
    beginning ??= supervisor.calls
      .restart({ name: 'svc-machine' })
      .then(() => {
        isThere = true;
        start();
      })
      .finally(() => {
        beginning = null;
      });
    await beginning;
  };
  /** Without it the call says that it is away. */
  const connected = async (): Promise<void> => {
    if (machine.connected || !isThere) return;
    const { promise, resolve } = deferred();
    waiting.add(resolve);
    const late = setTimeout(resolve, WAIT_MS);
    await promise;
    clearTimeout(late);
    waiting.delete(resolve);
  };
  const macPins = new MacPins({ helper, sysDir, linkDir: env['SVC_LINK_DIR'] ?? LINK_FOLDER });
  const macHandlers: Pick<HandlersOf<typeof networkRows, 'front'>, MacRow> = {
    'network.mac.adapters.get': async () => ({ adapters: await macPins.adapters() }),
    'network.mac.pin.post': async ({ body: { iface, mac } }) => ({
      iface,
      ...(await macPins.pin(iface, mac)),
    }),
    'network.mac.iface.delete': async ({ params: { iface } }) => ({
      iface,
      removed: await macPins.unpin(iface),
    }),
  };
  return {
    /** What `iw` says of a card, which svc-machine asks. */
    iw: {
      card_setting: async (asked) => connected().then(async () => calls.card_setting(asked)),
      channel_rules: async (asked) => connected().then(async () => calls.channel_rules(asked)),
      noise: async (asked) => connected().then(async () => calls.noise(asked)),
    } satisfies Iw,
    handlers: {
      ...macHandlers,
      ...handlersBy(async (asked) => {
        await beginLate();
        if (!isThere)
          throw asked.row.startsWith('ground-station.mesh.') ? withoutMesh('batctl') : noNetworkManager(env);
        await connected();
        return calls.answer({ ...asked, node: facts() });
      }),
    },
    /** As GET /api/v1/ground-station/network. */
    ground: async () => calls.ground({ node: facts() }),
    service: {
      start: () => {
        if (isThere) start();
        else timer = every(LATE_MS, 'svc-machine', beginLate);
      },
      stop: () => {
        clearInterval(timer);
        machine.stop();
      },
    },
  };
}

/** The ids of the rows that svc-machine answers. */
const MACHINE_ROWS = [...networkRows, ...groundStationRows]
  .map(({ id }) => id)
  .filter((id) => /^(?:network\.(?!mac\.)|ground-station\.(?:network|mesh)\.)/.test(id));

type Ask = (asked: {
  row: string;
  params: Readonly<Record<string, string>>;
  body?: unknown;
}) => Promise<unknown>;

/** Each of its rows is answered by svc-machine, whose handlers have the types of the rows. */
function handlersBy(ask: Ask): MachineHandlers {
  const handlers = MACHINE_ROWS.map((row) => [
    row,
    async ({ params, body }: Omit<Parameters<Ask>[0], 'row'>) =>
      ask({ row, params, ...(body === undefined ? {} : { body }) }),
  ]);
  return Object.fromEntries(handlers) as MachineHandlers;
}
