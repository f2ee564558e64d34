/** What a firmware says as MAVLink events (https://mavlink.io/en/services/events.html), with the files that describe them. */
export interface VehicleEvents {
  /** Reports all checks that fail, when they have changed. */
  update(reasons: readonly string[]): void;
  report(reasons: readonly string[]): void;
  /** It was to disarm in the air. */
  notLanded(): void;
  /** COMPONENT_METADATA: where the files are. */
  metadata(): void;
  /** A file for MAVLink FTP; undefined where there is none at that path. */
  file(path: string): Buffer | undefined;
}
