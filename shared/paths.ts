import { basename, dirname, join } from 'node:path';

/** The files with the actions and refusals of operators: key, session, this machine. */
export const AUDIT_FILE = 'audit.ndjson';
/** The files of tokens, tickets, extensions, and callers of the fleet and the relay; separate for the same reason. */
export const PROGRAMS_FILE = 'programs.ndjson';
/**
 * The files with refusals of callers without a credential; separate, so that strangers cannot push out the operators' records.
 */
export const STRANGERS_FILE = 'strangers.ndjson';

/** The paths of a node's files (docs/contract/node.md#processes). Every file name of the node is made here. */
export interface Paths {
  readonly etc: string;
  readonly run: string;
  readonly state: string;
  readonly config: string;
  /** The newest valid config; used if `config` is not valid. */
  readonly configLastGood: string;
  /** What was made of `config` when it was checked last. */
  readonly configChecked: string;
  /** The guarded keys of each process as they were when the vehicle armed; only while it is armed. */
  readonly heldConfig: string;
  readonly pairing: string;
  readonly dashboardPin: string;
  /** The authority that vouches for the node by HTTPS: certificate and private key. */
  readonly tlsAuthority: string;
  /** The node's certificate for HTTPS, with its private key. */
  readonly tlsLeaf: string;
  readonly sessions: string;
  /** The time that the node has lived, which no clock that is set changes. */
  readonly livedTime: string;
  /** Tokens and sessions that were once seen expired. */
  readonly ended: string;
  /** Peers with failed credentials, and until when they are locked. */
  readonly peerLocks: string;
  /** The scoped tokens' salt, denylist and registry. */
  readonly mcpToken: string;
  readonly deviceId: string;
  /** The node's enrolment with a fleet: keys, certificate, where the broker is. */
  readonly fleet: string;
  /** The newest policy of the hub. */
  readonly fleetPolicy: string;
  /** Events that the hub has not acknowledged. */
  readonly fleetQueue: string;
  /** Flights for the fleet, a file each: svc-residual writes them, svc-fleet takes them. */
  readonly flights: string;
  /** Of which telemetry logs flights were told. */
  readonly flightsTold: string;
  /** Credentials for the hub's TURN servers, from svc-control for svc-video. */
  readonly fleetTurn: string;
  /** svc-control, for svc-fleet. */
  readonly fleetSocket: string;
  /** svc-machine, for svc-control. */
  readonly machineSocket: string;
  /** The bound radios of the other ends, with the secrets of their relays. */
  readonly radioPairs: string;
  /** Keys in wfb-ng's own form, a file for each bound radio. */
  readonly radioKeys: string;
  /** A change of the radio's channel that has not been proved yet. */
  readonly radioChange: string;
  /** The order of uplinks, whether they are shared, and the mesh. */
  readonly network: string;
  /** What was active before a change of the network that is not over. */
  readonly networkChange: string;
  /** Whether the uplink in use is metered: svc-control writes it, svc-residual reads it. */
  readonly uplink: string;
  /** What modems are connected with, the PINs of their SIMs, and the PIN that was refused. */
  readonly modems: string;
  readonly controlSocket: string;
  readonly residualSocket: string;
  /** Which vehicle was chosen behind the source: svc-link writes and reads it. */
  readonly chosenVehicle: string;
  readonly linkSocket: string;
  /** What the armed guard says, for whoever restarts the node from outside (front/link/vehicle/guard-file.ts). */
  readonly linkGuard: string;
  /** Raw MAVLink for the front's WebSockets. */
  readonly mavlinkSocket: string;
  readonly supervisorSocket: string;
  /** Beside the run directory, not in it: systemd holds it open, and removes the directory whenever the node stops. */
  readonly helperSocket: string;
  readonly videoSocket: string;
  /** The main encode as fragmented MP4, one stream a connection. */
  readonly liveSocket: string;
  /** Raw pictures of svc-video, one a request (shared/video/frames.ts). */
  readonly framesSocket: string;
  /** Where svc-residual hands the cameras of extensions to svc-video. */
  readonly cameraSockets: string;
  readonly visionSocket: string;
  /** Models of detectors, with what is known of each. */
  readonly models: string;
  /** The folder for recordings and stored pictures, unless the config names another. */
  readonly recordings: string;
  /** The base profile, which survives a restart. */
  readonly videoProfile: string;
  /** Map files, PMTiles. */
  readonly maps: string;
  /** That the file for the first boot was read, and what came of it. */
  readonly firstBoot: string;
  /** The boot of the machine in which the hotspot of the set-up has ended. */
  readonly setupHotspot: string;
  /** What a person said about the steps of the set-up. */
  readonly setup: string;
  /** Manifests of peripherals that the operator wrote, and the configurations of peripherals. */
  readonly peripherals: string;
  /** A ground station: the slot of the active drone. */
  readonly activeDrone: string;
  /** A ground station: its screens and buttons. */
  readonly groundUi: string;
  /** A factory reset that is not over. */
  readonly factoryReset: string;
  readonly paramsDir: string;
  /** The newest plan file that was written to the vehicle. */
  readonly missionPlan: string;
  /** Vehicles' own descriptions of their parameters, as files. */
  readonly componentMetadata: string;
  /** The operator's files with descriptions of parameters. */
  readonly paramMetadata: string;
  /** Logs of vehicles that were fetched. */
  readonly flightLogs: string;
  /** Telemetry logs. */
  readonly tlogs: string;
  /** What was uploaded, and when. */
  readonly uploads: string;
  /** MAVLink signing keys, one file each. */
  readonly signingDir: string;
  /** Installed extensions, a folder each; and the file with their records. */
  readonly plugins: string;
  readonly pluginState: string;
  /** What extensions store, a folder each. Installed, systemd has folders of its own for this. */
  readonly pluginData: string;
  /** Settings of extensions, a file each. */
  readonly pluginConfig: string;
  /** Sockets of running extensions, a folder each. */
  readonly pluginSockets: string;
  /** The public keys of whose extensions are trusted, and the signers that no longer are. */
  readonly pluginKeys: string;
  readonly pluginRevocations: string;
  /** A bundle that came over the API, for svc-helper. */
  readonly updateUpload: string;
  readonly logDir: string;
  /** Where log lines are shipped to. */
  readonly logSocket: string;
  readonly logStore: string;
  readonly auditDir: string;
  /** Signs the heads of the audit's chains. */
  readonly auditKey: string;
  /** The heads of the audit's chains once more, outside of its folder. */
  readonly auditHeads: string;
}

/** @param env `SVC_ETC_DIR`, `SVC_RUN_DIR`, `SVC_STATE_DIR`; otherwise the system's directories. */
export function pathsFrom(env: Readonly<Record<string, string | undefined>>): Paths {
  const etc = env['SVC_ETC_DIR'] ?? '/etc/svc';
  const run = env['SVC_RUN_DIR'] ?? '/run/svc';
  const state = env['SVC_STATE_DIR'] ?? '/var/lib/svc';
  return {
    etc,
    run,
    state,
    config: join(etc, 'config.yaml'),
    configLastGood: join(state, 'config.last-good.yaml'),
    configChecked: join(state, 'config.checked.json'),
    heldConfig: join(state, 'held-config.json'),
    pairing: join(etc, 'pairing.json'),
    dashboardPin: join(etc, 'dashboard-pin.json'),
    tlsAuthority: join(etc, 'tls-authority.pem'),
    tlsLeaf: join(state, 'tls-leaf.pem'),
    sessions: join(state, 'sessions.json'),
    livedTime: join(state, 'lived-time.json'),
    ended: join(state, 'ended-credentials'),
    peerLocks: join(state, 'peer-locks.json'),
    mcpToken: join(etc, 'mcp-token.json'),
    deviceId: join(etc, 'device-id'),
    fleet: join(etc, 'fleet.json'),
    fleetPolicy: join(state, 'fleet-policy.json'),
    fleetQueue: join(state, 'fleet-queue.db'),
    flights: join(state, 'flights'),
    flightsTold: join(state, 'flights-told.json'),
    fleetTurn: join(state, 'fleet-turn.json'),
    fleetSocket: join(run, 'fleet.sock'),
    machineSocket: join(run, 'machine.sock'),
    radioPairs: join(etc, 'radio-pairs.json'),
    radioKeys: join(etc, 'radio-keys'),
    radioChange: join(state, 'radio-change.json'),
    network: join(state, 'network.json'),
    networkChange: join(state, 'network-change.json'),
    uplink: join(run, 'uplink.json'),
    modems: join(state, 'modems.json'),
    controlSocket: join(run, 'control.sock'),
    residualSocket: join(run, 'api-internal.sock'),
    chosenVehicle: join(state, 'vehicle.json'),
    linkSocket: join(run, 'link.sock'),
    linkGuard: join(run, 'link-guard'),
    mavlinkSocket: join(run, 'mavlink.sock'),
    supervisorSocket: join(run, 'supervisor.sock'),
    helperSocket: join(dirname(run), `${basename(run)}-helper.sock`),
    videoSocket: join(run, 'video.sock'),
    liveSocket: join(run, 'live.sock'),
    framesSocket: join(run, 'frames.sock'),
    cameraSockets: join(run, 'cameras'),
    visionSocket: join(run, 'vision.sock'),
    models: join(state, 'models'),
    recordings: join(state, 'recordings'),
    videoProfile: join(state, 'video-profile.json'),
    maps: join(state, 'maps'),
    firstBoot: join(state, 'first-boot.json'),
    setupHotspot: join(state, 'setup-hotspot.json'),
    setup: join(state, 'setup.json'),
    peripherals: join(etc, 'peripherals'),
    activeDrone: join(state, 'active-drone.json'),
    groundUi: join(state, 'ground-station-ui.json'),
    factoryReset: join(state, 'factory-reset.json'),
    paramsDir: join(state, 'params'),
    missionPlan: join(state, 'mission-plan.json'),
    componentMetadata: join(state, 'component-metadata'),
    paramMetadata: join(state, 'param-metadata'),
    flightLogs: join(state, 'flight-logs'),
    tlogs: join(state, 'tlogs'),
    uploads: join(state, 'uploads.json'),
    signingDir: join(state, 'signing'),
    plugins: join(state, 'plugins'),
    pluginState: join(state, 'plugin-state.json'),
    pluginData: join(state, 'plugin-data'),
    pluginConfig: join(state, 'plugin-config'),
    pluginSockets: join(run, 'plugins'),
    pluginKeys: join(etc, 'plugin-keys'),
    pluginRevocations: join(etc, 'plugin-revocations.json'),
    updateUpload: join(state, 'update', 'upload'),
    logDir: join(state, 'log'),
    logSocket: join(run, 'logs.sock'),
    logStore: join(state, 'logs', 'logs.db'),
    auditDir: join(state, 'audit'),
    auditKey: join(etc, 'audit.key'),
    auditHeads: join(state, 'audit-heads'),
  };
}
