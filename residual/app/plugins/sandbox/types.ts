/** What the plugin host asks of a sandbox. All folders and files are absolute paths. */
export interface SandboxSpec {
  /** The extension's id, `^[a-z0-9]+(\.[a-z0-9-]+)+$`, at most 128 characters. */
  readonly id: string;
  readonly runtime: 'node' | 'binary' | 'python';
  /** The folder of its files; read-only inside, as /extension. */
  readonly install: string;
  /** Relative to `install`. */
  readonly entrypoint: string;
  /** Its data folder, /data inside. Made by the caller in a checkout; installed, it is systemd's. */
  readonly data: string;
  /** The folder with `host.sock`, in which the extension makes `http.sock`; /run/svc-extension inside. */
  readonly sockets: string;
  /** Ids of the capabilities that it was granted. */
  readonly grants: ReadonlySet<string>;
  readonly resources: {
    readonly max_ram_mb: number;
    readonly max_cpu_percent: number;
    readonly max_pids: number;
  };
  /** The TCP ports it declared. */
  readonly listenPorts: readonly number[];
  /** The node's profile. */
  readonly profile: string;
  /** Whether it serves HTTP. */
  readonly http: boolean;
  /** Devices that no grant opens, for example the flight controller's serial port. */
  readonly closedDevices: readonly string[];
}

export interface Ended {
  /** For people: `code 1`, `SIGKILL`, `out of memory`. */
  readonly exit: string;
}

export interface RunningExtension {
  /** Of its first process, as this process sees it; null if unknown. */
  readonly pid: number | null;
  /** Resolves once none of its processes is left and all of its lines were told; never rejects. */
  readonly ended: Promise<Ended>;
  /** SIGTERM to its first process, after 5 s SIGKILL to all. Resolves when it has ended. */
  stop(): Promise<void>;
}

export type OnLine = (stream: 'stdout' | 'stderr', line: string) => void;

export interface Sandbox {
  readonly kind: 'systemd' | 'bwrap' | 'none';
  /** Why it cannot run with these grants, as a sentence; null if it can. */
  refusal(spec: SandboxSpec): string | null | Promise<string | null>;
  /**
   * @param onLine gets its output, at most 8 KiB a line and 1000 lines in 10 s
   * @throws Error that says why it did not start
   */
  start(spec: SandboxSpec, onLine: OnLine): Promise<RunningExtension>;
  /** Removes what it has stored. It must not run. */
  forget(id: string, data: string): Promise<void>;
}
