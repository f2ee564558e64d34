import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../../shared/config/schema.ts';
import type { Paths } from '../../shared/paths.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { Call } from '../../shared/routes/handler.ts';
import type { Row } from '../../shared/routes/row.ts';
import type { LinkConnection } from './link-connection.ts';

/** What every part is opened with. */
export interface Base {
  readonly config: Config;
  readonly paths: Paths;
  readonly link: LinkConnection;
  /** Where the kernel shows its devices and processes. */
  readonly trees: { readonly sys: string; readonly dev: string; readonly proc: string };
  readonly log: Logger;
}

/** Completes or refuses the handshake of a WebSocket row. */
export type UpgradeHandler = (call: Call<Row>, req: IncomingMessage, socket: Duplex, head: Buffer) => void;
