/** Made by residual/web/vite.config.ts from the route table; typed in api/rows.ts. */
declare module 'virtual:rows' {
  const rows: unknown;
  export default rows;
}

/** Made by residual/web/vite.config.ts from mavlink-mappings, for the worker of the log viewer. */
declare module 'virtual:mavlink' {
  const messages: readonly import('./pages/vehicle/viewer/read/mavlink-message.ts').MavlinkMessage[];
  export default messages;
}
