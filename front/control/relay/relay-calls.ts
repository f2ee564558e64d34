/** Requests of a ground station itself, not of a caller of it, to a drone over the tunnel. */
export interface RelayCalls {
  /**
   * Sends a small JSON request, once.
   * @param timeoutMs from the start to the end of the answer
   * @throws ApiError E_NOT_FOUND (no such drone is bound), E_UPSTREAM_DOWN (no connection), E_TIMEOUT
   */
  call(
    deviceId: string,
    request: {
      readonly method: string;
      readonly path: string;
      readonly body?: unknown;
      readonly timeoutMs: number;
    },
  ): Promise<{ readonly status: number; readonly body: unknown }>;
}
