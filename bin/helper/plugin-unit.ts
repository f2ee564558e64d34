import { createHash } from 'node:crypto';
import { dataLimit } from '../../shared/process/data-limit.ts';
import type { ParamsOf } from '../../shared/rpc/contract.ts';
import type { HELPER } from '../../shared/rpc/helper.ts';
import type { UnitGrant } from '../../shared/rpc/plugin-unit.ts';

export type PluginStart = ParamsOf<typeof HELPER, 'plugin_start'>;

/** What the unit needs to know of this machine. Nothing of it comes from the caller. */
export interface Machine {
  /** The Node binary. */
  readonly node: string;
  /** The groups that there are: a unit with another one would not start. */
  readonly groups: ReadonlySet<string>;
  /** The file that names servers which can be reached without loopback. */
  readonly resolvConf: string;
  /** Folders at the root that no Linux has, for example of a person or of another program. */
  readonly foreignRoots: readonly string[];
}

/** V8 collects its garbage before the limit of the unit is reached. */
const HEAP_SHARE = 0.75;
const NODE = '/opt/node';

/** What each grant opens: classes of devices as in /proc/devices, and the groups that own them. */
const DEVICES: Partial<
  Record<UnitGrant, { readonly classes: readonly string[]; readonly groups: readonly string[] }>
> = {
  'hardware.uart': { classes: ['ttyUSB', 'ttyACM', 'ttyAMA', 'ttyS', 'ttyTHS'], groups: ['dialout'] },
  'hardware.i2c': { classes: ['i2c'], groups: ['i2c'] },
  'hardware.spi': { classes: ['spi'], groups: ['spi'] },
  'hardware.gpio': { classes: ['gpiochip'], groups: ['gpio'] },
  'hardware.gpio_out': { classes: ['gpiochip'], groups: ['gpio'] },
  'hardware.usb': { classes: ['usb_device'], groups: ['plugdev'] },
  'hardware.usb.uvc': { classes: ['video4linux', 'media'], groups: ['video'] },
  'hardware.camera.csi': { classes: ['video4linux', 'media', 'dma_heap'], groups: ['video'] },
  'hardware.gpu': { classes: ['drm'], groups: ['video', 'render'] },
};

/** The unit's name. */
export function unitOf(id: string): string {
  return `svc-plugin@${id}.service`;
}

/**
 * A user of its own for each extension. Without a name, systemd would give one to the template, and all extensions could signal
 * each other.
 */
function userOf(id: string): string {
  return `svc-plg-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

/**
 * Asks loopback for an answer, and succeeds only if there is none, not even a refusal: systemd only warns if this kernel cannot
 * filter addresses. Runs in the unit, before the extension.
 */
const NO_LOOPBACK = [
  "const no=()=>process.exit(1);require('net').connect(9,'127.0.0.1').on('connect',no)",
  ".on('error',(e)=>e.code==='EPERM'||no());setTimeout(()=>process.exit(0),300)",
].join('');

const SHELL = 'exec >/run/svc-extension/stdout 2>/run/svc-extension/stderr || exit 1; echo; exec "$$0" "$$@"';

/** What an extension's manifest and grants add to `svc-plugin@.service`, as the text of a drop-in. Pure. */
export function renderDropIn(params: PluginStart, machine: Machine): string {
  const { id, installed_at: at, grants, max_ram_mb, max_cpu_percent, max_pids, http, profile } = params;
  const granted = (grant: UnitGrant): boolean => grants.includes(grant);
  return [
    '# Written by svc-helper from the verified manifest and the grants.',
    '[Service]',
    `User=${userOf(id)}`,
    `BindReadOnlyPaths=/var/lib/svc/plugins/${id}/${at}:/extension`,
    `BindReadOnlyPaths=${machine.node}:${NODE}`,
    'ExecStart=',
    // A shell opens its output, as the extension's own user: systemd would open as root what the node's user has put there. An
    // empty line tells the host that it is open.
    `ExecStart=/bin/sh -c '${SHELL}' ${command(params)}`,
    `Environment=SVC_NODE_PROFILE=${profile}`,
    ...(http ? ['Environment=SVC_PLUGIN_HTTP_SOCKET=/run/svc-extension/http.sock'] : []),
    `MemoryMax=${max_ram_mb}M`,
    `CPUQuota=${max_cpu_percent}%`,
    `TasksMax=${max_pids}`,
    // Per process and per user; some boards' kernels do not limit the memory of a unit.
    `LimitDATA=${dataLimit(params.runtime, max_ram_mb)}`,
    `LimitNPROC=${max_pids}`,
    ...machine.foreignRoots.map((path) => `InaccessiblePaths=-${path}`),
    ...(granted('network.outbound') ? network(params, machine) : []),
    ...(granted('filesystem.host') ? ['BindPaths=-/srv -/mnt -/media'] : []),
    ...devices(params, machine),
    '',
  ].join('\n');
}

function command({ id, runtime, entrypoint, max_ram_mb }: PluginStart): string {
  const program = `/extension/${entrypoint}`;
  switch (runtime) {
    case 'node': {
      const heap = Math.max(16, Math.floor(max_ram_mb * HEAP_SHARE));
      return `${NODE} --max-old-space-size=${heap} --v8-pool-size=1 ${program}`;
    }
    case 'python':
      return `/usr/bin/python3 ${program}`;
    case 'binary':
      return `${program} ${id} --socket /run/svc-extension/host.sock`;
  }
}

function network({ grants, listen_ports }: PluginStart, { resolvConf }: Machine): readonly string[] {
  const ports = grants.includes('network.listen') ? listen_ports : [];
  return [
    'PrivateNetwork=no',
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6',
    'IPAddressDeny=',
    'IPAddressDeny=localhost',
    // Clients of UDP bind too.
    'SocketBindAllow=udp',
    ...ports.map((port) => `SocketBindAllow=tcp:${port}`),
    `BindReadOnlyPaths=-${resolvConf}:/etc/resolv.conf -/etc/hosts -/etc/ssl/certs`,
    `ExecStartPre=${NODE} -e "${NO_LOOPBACK}"`,
  ];
}

function devices({ grants, closed_devices }: PluginStart, machine: Machine): readonly string[] {
  const open = grants.flatMap((grant) => DEVICES[grant] ?? []);
  if (open.length === 0) return [];
  const classes = new Set(open.flatMap((of) => of.classes));
  const groups = new Set(open.flatMap((of) => of.groups).filter((group) => machine.groups.has(group)));
  return [
    'PrivateDevices=no',
    'DevicePolicy=closed',
    ...[...classes].map((name) => `DeviceAllow=char-${name} rw`),
    ...(groups.size === 0 ? [] : [`SupplementaryGroups=${[...groups].join(' ')}`]),
    // Also by another name: that is a link to one of these.
    ...closed_devices.map((path) => `InaccessiblePaths=-${path}`),
  ];
}
