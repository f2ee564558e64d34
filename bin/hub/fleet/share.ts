import type { Queries } from '../database/tables.ts';

/** What one of several hubs of a fleet does of what must be done once. */
export interface Share {
  /** Alone with its database: it hears all nodes at once, and nobody else writes. */
  readonly alone: boolean;
  /** Its name at the broker; null: it has none at the moment. */
  readonly name: string | null;
  /** Whether it is the one that looks after the whole fleet: policy, retention. */
  readonly upkeep: boolean;
  /** Whether it is the one that hears this node. */
  has(node: string): boolean;
  /** Why this hub should not be asked: what is wrong with it among the others; null: nothing. */
  problem(): string | null;
  /**
   * In the transaction that writes what these nodes have said: it ends before anybody else may hear them.
   * @throws LeaseLost if somebody else does already
   */
  check(on: Queries, nodes: Iterable<string>): Promise<void>;
}

/** Somebody else has it now; what was to be written is not. */
export class LeaseLost extends Error {
  constructor() {
    super('another replica hears these nodes now');
  }
}
