import type { TurnGrant } from '../../../shared/fleet/hub-api.ts';
import { NotBelieved, verifyStatement } from '../../../shared/fleet/signed.ts';
import { TURN_LIFE_S, turnCredentials } from '../../../shared/video/turn-credentials.ts';
import type { HubConfig } from '../config.ts';
import type { Queries } from '../database/tables.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { checkClock, claimedNode, unknownKey, useUp } from './enrolment.ts';

/** What a fleet without TURN servers is asked again after, seconds. */
const NONE_S = 3600;

interface TurnOptions {
  readonly db: Queries;
  readonly fleet: Pick<Fleet, 'keyOf'>;
  readonly turn: HubConfig['turn'];
  /** Wall clock, ms. */
  readonly now: () => number;
}

/** Credentials that end for the fleet's TURN servers; their secret stays here. */
export class Turn {
  readonly #options: TurnOptions;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /**
   * @param jws a `svc-turn` statement by an enrolled node
   * @throws ApiError E_UNAUTHENTICATED, E_CLOCK, E_INVALID_VALUE
   */
  async grant(jws: string): Promise<{ readonly node: string; readonly answer: TurnGrant }> {
    const { db, fleet, turn, now } = this.#options;
    const claimed = claimedBy(jws);
    const { payload } = await verifyStatement('svc-turn', jws, () => fleet.keyOf(claimed)).catch(
      (error: unknown) => {
        throw error instanceof NotBelieved ? unknownKey() : error;
      },
    );
    const { node, at, jti } = payload;
    checkClock(at, now());
    await useUp(db, node, jti, now());
    if (turn === undefined) return { node, answer: { ice_servers: [], ttl_s: NONE_S } };
    const { urls, secret, ttl_s: wanted } = turn;
    const ttl = Math.min(wanted, TURN_LIFE_S);
    const credentials = turnCredentials(secret, node, now() / 1000 + ttl);
    return { node, answer: { ice_servers: [{ urls: [...urls], ...credentials }], ttl_s: ttl } };
  }
}

/** @throws ApiError E_UNAUTHENTICATED */
function claimedBy(jws: string): string {
  try {
    return claimedNode(jws);
  } catch (error) {
    throw error instanceof NotBelieved ? unknownKey() : error;
  }
}
