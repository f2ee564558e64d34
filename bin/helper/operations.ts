import { ApiError, messageOf } from '../../shared/errors.ts';
import { maskSecrets } from '../../shared/mask.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { type Handlers, methodsOf, type ParamsOf } from '../../shared/rpc/contract.ts';
import { type Done, HELPER } from '../../shared/rpc/helper.ts';
import type { RpcMethod } from '../../shared/rpc/rpc.ts';
import type { InstallPlaces } from '../../shared/update/install-places.ts';
import { findProgram, programRunner } from './find-program.ts';
import { FirstBootOperations } from './first-boot-operations.ts';
import { NetworkOperations } from './network-operations.ts';
import { PluginOperations } from './plugin-operations.ts';
import { RadioOperations, type RadioPlaces } from './radio-operations.ts';
import { boundTunnel } from './tunnel-operation.ts';
import { UpdateOperations } from './update/update-operations.ts';

type Helper = typeof HELPER;

interface Operation<Params> {
  /** Its name; its path is looked up in the helper's own list of folders. */
  readonly program: string;
  readonly args: (params: Params) => readonly string[];
  /** Shorter than the caller's time-out, so that the caller gets the result. */
  readonly timeoutMs: number;
}

/** The operations that run one program. */
type Single = 'power' | 'unit_restart' | 'host_name';

/** What runs as root. Every argument is from a fixed set, or cannot be taken for an option. */
const OPERATIONS: { readonly [M in Single]: Operation<ParamsOf<Helper, M>> } = {
  power: { program: 'systemctl', args: ({ action }) => [action], timeoutMs: 5000 },
  unit_restart: {
    program: 'systemctl',
    args: ({ name }) => ['restart', `${name}.service`],
    timeoutMs: 15_000,
  },
  // Not by writing /etc/hostname: hostnamed replaces the file, sets the kernel's name and notifies other programs.
  host_name: { program: 'hostnamectl', args: ({ name }) => ['set-hostname', name], timeoutMs: 10_000 },
};

interface OperationDeps {
  /** Absolute folders, separated by colons, in which programs are searched. */
  readonly searchPath: string;
  /** The folder of systemd's run-time units. */
  readonly unitFolder: string;
  readonly radio: RadioPlaces;
  /** The folder of NetworkManager's connections. */
  readonly profileFolder: string;
  /** The folder of systemd's .link files. */
  readonly linkFolder: string;
  readonly install: InstallPlaces;
  /** The folder of what NetworkManager adds to the dnsmasq of its hotspots. */
  readonly sharedDnsFolder: string;
  /** Where the file for the first boot may be. */
  readonly cards: readonly string[];
  readonly log: Logger;
  /** Called when an operation starts, and when it has ended. */
  readonly onUse: () => void;
}

/** They only ask, again and again. */
const ASKING: ReadonlySet<string> = new Set<keyof Helper['methods']>(['plugin_status', 'update_status']);

/** The handlers for `RpcServer`; each operation is logged with its result. */
export function operationMethods(deps: OperationDeps): Readonly<Record<string, RpcMethod>> {
  const { log, onUse } = deps;
  const logged = Object.entries(methodsOf(HELPER, handlers(deps))).map(
    ([name, method]): [string, RpcMethod] => [
      name,
      async (params, signal) => {
        onUse();
        try {
          const result = await method(params, signal);
          if (!ASKING.has(name)) log.info(`${name}: done`, shown(name, params));
          return result;
        } catch (error) {
          log.warn(`${name}: ${messageOf(error)}`, shown(name, params));
          throw error;
        } finally {
          onUse();
        }
      },
    ],
  );
  return Object.fromEntries(logged);
}

/** What the log may have of a request, before it was checked: the parameters of `radio_apply` hold keys. */
function shown(name: string, params: unknown): { readonly params?: unknown } {
  if (name === 'radio_apply') return {};
  return { params: maskSecrets(params) };
}

function handlers({
  searchPath,
  unitFolder,
  radio: radioPlaces,
  profileFolder,
  linkFolder,
  install,
  sharedDnsFolder,
  cards,
  log,
}: OperationDeps): Handlers<Helper> {
  const run = programRunner(searchPath);
  const plugins = new PluginOperations(run, unitFolder);
  const radio = new RadioOperations(run, async (program) => findProgram(program, searchPath), radioPlaces);
  const network = new NetworkOperations(run, { profiles: profileFolder, links: linkFolder });
  const update = new UpdateOperations(run, install);
  const firstBoot = new FirstBootOperations(run, { sharedDns: sharedDnsFolder, cards });
  const lane = () => {
    let running: string | null = null;
    return <Params>(name: string, work: (params: Params) => Promise<unknown>) =>
      async (params: Params): Promise<Done> => {
        // Refused, not queued: the caller knows best whether it still makes sense after the first one.
        if (running !== null)
          throw new ApiError('E_BUSY', `svc-helper is busy with ${running}. Try again when that has ended.`);
        running = name;
        try {
          log.info(`${name}: requested`, shown(name, params));
          await work(params);
          return { done: true };
        } finally {
          running = null;
        }
      };
  };
  const alone = lane();
  const aloneOnNetwork = lane();
  const uplink = lane();
  const single = <M extends Single>(name: M): ((params: ParamsOf<Helper, M>) => Promise<Done>) => {
    const { program, args, timeoutMs }: Operation<ParamsOf<Helper, M>> = OPERATIONS[name];
    return alone(name, async (params) => run(program, args(params), timeoutMs));
  };
  return {
    power: single('power'),
    unit_restart: single('unit_restart'),
    host_name: single('host_name'),
    plugin_start: alone('plugin_start', async (params) => plugins.start(params)),
    plugin_stop: alone('plugin_stop', async ({ id }) => plugins.stop(id)),
    plugin_status: async ({ id }) => plugins.status(id),
    plugin_forget: alone('plugin_forget', async ({ id }) => plugins.forget(id)),
    radio_apply: alone('radio_apply', async (params) => radio.apply(params)),
    radio_stop: alone('radio_stop', async () => radio.stop()),
    radio_tune: async (params) => radio.tune(params),
    tunnel_priority: async (params) => boundTunnel(run, radioPlaces.sys, params),
    radio_power: async (params) => radio.power(params),
    network_profile: aloneOnNetwork('network_profile', async (profile) => network.profile(profile)),
    network_up: aloneOnNetwork('network_up', async (params) => network.up(params)),
    network_down: aloneOnNetwork('network_down', async ({ uuid }) => network.down(uuid)),
    network_leave: aloneOnNetwork('network_leave', async (params) => network.leave(params.interface)),
    network_forget: aloneOnNetwork('network_forget', async ({ uuid }) => network.forget(uuid)),
    network_scan: aloneOnNetwork('network_scan', async (params) => network.scan(params.interface)),
    network_metric: aloneOnNetwork('network_metric', async (params) => network.metric(params)),
    // Not beside a join that takes 30 s: the node may be flying.
    uplink_prefer: uplink('uplink_prefer', async (params) => network.preferUplink(params)),
    uplink_release: uplink('uplink_release', async () => network.releaseUplink()),
    modem_signal: aloneOnNetwork('modem_signal', async (params) => network.modemSignal(params)),
    mac_pin: aloneOnNetwork('mac_pin', async (params) => network.pin(params)),
    update_start: alone('update_start', async (params) => update.start(params)),
    update_status: async () => update.status(),
    mac_unpin: aloneOnNetwork('mac_unpin', async (params) => network.unpin(params.interface)),
    captive_portal: aloneOnNetwork('captive_portal', async (params) => firstBoot.captive(params)),
    wifi_on: aloneOnNetwork('wifi_on', async (params) => firstBoot.wifiOn(params)),
    first_boot_done: alone('first_boot_done', async () => firstBoot.done()),
  };
}
