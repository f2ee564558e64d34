/** The first line that svc-video sends on `live.sock`, as JSON; after it comes the fragmented MP4. */
export interface LiveHead {
  /** RFC 6381, for example `avc1.42c01f`. */
  readonly codec: string;
  /** Of the first picture, from which the times count: RFC 3339 with milliseconds. */
  readonly captured_at: string;
}
