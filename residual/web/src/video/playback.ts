/** A picture that plays in a `<video>`, whatever brings it. */
export interface Playback {
  /** Resolves when it has broken off, or was stopped. */
  readonly ended: Promise<void>;
  readonly stop: () => void;
  /** How old the shown picture is, ms; null: not known. */
  readonly delayMs: () => number | null;
  /** When the shown picture was taken, Unix ms of this page's clock; null: not known. */
  readonly takenAt: () => number | null;
}
