/** What the parts of svc-fleet write to: the process's own log, also from another thread, or a list in a test. */
export interface FleetLog {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}
