import { networkInterfaces } from 'node:os';
import { setupPages } from '../../../shared/first-boot/setup-pages.ts';
import type { Base } from './base.ts';

interface Setup extends Pick<Base, 'identity' | 'log'> {
  readonly port: () => number;
  readonly paired: () => boolean;
  /** Whether this node serves the page of the set-up. */
  readonly hasPage: boolean;
}

/** Says in the log where a node that nobody owns yet is set up. */
export function tellSetup({ identity, port, paired, hasPage, log }: Setup): void {
  if (paired()) return;
  const pages = setupPages(networkInterfaces(), identity.mdns_host, port()).join(' or ');
  log.info(
    hasPage
      ? `not paired yet; the page of the set-up: ${pages}`
      : 'not paired yet; this node has no page of the set-up: svc pair pairs it',
  );
}
