import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { entriesOf } from '../../../shared/member.ts';
import type { Client } from '../../../shared/rpc/contract.ts';
import type { SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import type { SystemMonitor } from '../node/health.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import type { RadioLink } from '../radio/radio-link.ts';
import type { WfbRadio } from '../radio/wfb-radio.ts';
import type { AuditState } from '../stores/audit.ts';

interface MetricsDeps {
  readonly version: string;
  readonly monitor: SystemMonitor;
  readonly vehicle: VehicleView;
  readonly supervisor: Client<typeof SUPERVISOR>;
  readonly audit: () => AuditState;
  readonly radio: WfbRadio;
}

/** The figures of each link. */
const RADIO: Readonly<Record<string, readonly [help: string, value: (link: RadioLink) => number | null]>> = {
  active: ['1 while the other end is heard', ({ state }) => (state === 'active' ? 1 : 0)],
  rssi_dbm: ['of the best antenna', ({ figures }) => figures.rssi_dbm],
  snr_db: ['of the best antenna', ({ figures }) => figures.snr_db],
  loss_percent: ['after FEC', ({ figures }) => figures.loss_percent],
  loss_before_fec_percent: ['before FEC', ({ figures }) => figures.loss_before_fec_percent],
  bitrate_kbps: ['of the video', ({ figures }) => figures.bitrate_kbps],
  tx_dropped_percent: ['of what was to be sent', ({ figures }) => figures.tx_dropped_percent],
  packets_received: ['distinct packets since wfb-ng started', ({ figures }) => figures.packets_received],
  packets_lost: ['missing after FEC since wfb-ng started', ({ figures }) => figures.packets_lost],
  fec_recovered: ['rebuilt since wfb-ng started', ({ figures }) => figures.fec_recovered],
  decrypt_errors: [
    'frames that did not decrypt since wfb-ng started',
    ({ figures }) => figures.decrypt_errors,
  ],
};

/** Prometheus text, made on request from counters that the processes keep anyway. Unknown values are left out. */
export class Metrics {
  readonly #deps: MetricsDeps;
  readonly #registry = new Registry();
  #making: Promise<string> | null = null;
  readonly #gauges = new Map<string, Gauge>();

  constructor(deps: MetricsDeps) {
    this.#deps = deps;
    collectDefaultMetrics({ register: this.#registry, prefix: 'svc_control_' });
    this.#gauge('svc_info', 'version of the node', ['version']).set({ version: deps.version }, 1);
  }

  get mediaType(): string {
    return this.#registry.contentType;
  }

  /** Concurrent requests share one result: two runs at once would reset each other's gauges. */
  async text(): Promise<string> {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #make(): Promise<string> {
    await Promise.all([this.#system(), this.#services(), this.#link()]);
    this.#radio();
    const { lost, problem } = this.#deps.audit();
    this.#set('svc_audit_lost_records', 'records that could not be written since the start', lost);
    this.#set('svc_audit_writable', '1 while records can be written', problem === null ? 1 : 0);
    return this.#registry.metrics();
  }

  async #system(): Promise<void> {
    const facts = this.#deps.monitor.facts;
    this.#set('svc_cpu_percent', 'CPU of the machine', facts.cpu_percent);
    this.#set('svc_memory_percent', 'memory in use', facts.memory_percent);
    this.#set('svc_disk_percent', 'disk in use', facts.disk_percent);
    const temperatures = this.#gauge('svc_temperature_celsius', 'thermal zones', ['zone']);
    for (const [zone, value] of Object.entries(facts.temperatures)) temperatures.set({ zone }, value);
  }

  async #services(): Promise<void> {
    const up = this.#gauge('svc_service_up', '1 while the process runs', ['name']);
    const restarts = this.#gauge('svc_service_restarts', 'restarts since the supervisor started', ['name']);
    up.reset();
    // A supervisor that is away leaves its figures out.
    const answer = await this.#deps.supervisor.calls.status({}).catch(() => null);
    for (const { name, state, restarts: count } of answer?.services ?? []) {
      up.set({ name }, state === 'running' ? 1 : 0);
      restarts.set({ name }, count);
    }
  }

  async #link(): Promise<void> {
    const { vehicle } = this.#deps;
    const { state } = vehicle;
    this.#set(
      'svc_fc_connected',
      '1 while the flight controller is heard',
      state?.mavlink_alive === true ? 1 : 0,
    );
    const { armed } = vehicle;
    this.#set(
      'svc_fc_armed',
      '1 armed, 0 not; absent while unknown',
      armed === 'unknown' ? null : Number(armed),
    );
    for (const [name, value] of Object.entries(state?.counters ?? {}))
      this.#set(`svc_mavlink_${name}`, 'counted since svc-link started', value);
    const battery = state?.mavlink_alive === true ? state.telemetry.battery : null;
    this.#set('svc_battery_volts', 'of the vehicle', battery?.voltage ?? null);
    this.#set('svc_battery_remaining_percent', 'of the vehicle', battery?.remaining ?? null);
    await this.#endpoints();
  }

  async #endpoints(): Promise<void> {
    const labels = ['endpoint', 'peer'];
    const gauges = {
      tx_frames: this.#gauge('svc_endpoint_tx_frames', 'frames sent to a ground station', labels),
      tx_dropped: this.#gauge('svc_endpoint_tx_dropped', 'frames it did not read', labels),
      rx_frames: this.#gauge('svc_endpoint_rx_frames', 'frames received from it', labels),
      rx_refused: this.#gauge('svc_endpoint_rx_refused', 'frames kept from the vehicle', labels),
    } as const;
    for (const gauge of Object.values(gauges)) gauge.reset(); // peers come and go
    const endpoints = await this.#deps.vehicle.link.endpoints({}).catch(() => []); // without a link there are none
    for (const { name: endpoint, peers } of endpoints) {
      for (const peer of peers) {
        for (const [name, gauge] of entriesOf(gauges)) gauge.set({ endpoint, peer: peer.name }, peer[name]);
      }
    }
  }

  #radio(): void {
    const { links } = this.#deps.radio;
    for (const [name, [help, value]] of Object.entries(RADIO)) {
      const gauge = this.#gauge(`svc_radio_${name}`, help, ['slot']);
      gauge.reset(); // slots come and go
      for (const link of links) {
        const now = value(link);
        if (now !== null) gauge.set({ slot: link.slot }, now);
      }
    }
  }

  #set(name: string, help: string, value: number | null): void {
    const gauge = this.#gauge(name, help, []);
    if (value === null) gauge.remove();
    else gauge.set(value);
  }

  #gauge(name: string, help: string, labelNames: readonly string[]): Gauge {
    let gauge = this.#gauges.get(name);
    if (gauge === undefined) {
      gauge = new Gauge({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
      this.#gauges.set(name, gauge);
    }
    return gauge;
  }
}
