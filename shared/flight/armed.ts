/** `unknown`: the newest heartbeat is older than 3 s. The armed guard treats it as armed. */
export type Armed = boolean | 'unknown';
