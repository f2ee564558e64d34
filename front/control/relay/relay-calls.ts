/** Requests of a ground station itself, not of a caller of it, to a drone over the tunnel. */
export interface RelayCalls {
  /**
   * Sends a small JSON request, once.
   * @param timeoutMs from the start to the end of the answer
   * @param fresh by a connection of its own: one that was open may wait for seconds to send again what the radio has lost
   * @throws ApiError E_NOT_FOUND (no such drone is bound), E_UPSTREAM_DOWN (no connection), E_TIMEOUT
   */
  call(
    deviceId: string,
    request: {
      readonly method: string;
      readonly path: string;
      readonly body?: unknown;
      readonly timeoutMs: number;
      readonly fresh?: boolean;
    },
  ): Promise<{ readonly status: number; readonly body: unknown }>;
}
