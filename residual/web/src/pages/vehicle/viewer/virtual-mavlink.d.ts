/** Made by residual/web/vite.config.ts from mavlink-mappings, for the worker alone. */
declare module 'virtual:mavlink' {
  const messages: readonly import('./read/mavlink-message.ts').MavlinkMessage[];
  export default messages;
}
