/** Made by residual/web/vite.config.ts from the route table; typed in api/rows.ts. */
declare module 'virtual:rows' {
  const rows: unknown;
  export default rows;
}
