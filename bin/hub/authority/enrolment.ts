import { type Authority, issueCertificate } from '../../../shared/certificates/authority.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { type Enrolled, type EnrollRequest, MAX_TAGS, type NodeTags } from '../../../shared/fleet/hub-api.ts';
import { GROUP, labelsOf } from '../../../shared/fleet/node-labels.ts';
import { NotBelieved, verifyStatement } from '../../../shared/fleet/signed.ts';
import { isNodeId } from '../../../shared/fleet/topics.ts';
import { type Reach, sees } from '../../../shared/hub-api/caller.ts';
import { parseJson } from '../../../shared/member.ts';
import type { Renew } from '../../../shared/schemas/fleet-statements.ts';
import type { BrokerRules } from '../broker/broker-rules.ts';
import type { BrokerUrls } from '../config.ts';
import type { Queries } from '../database/tables.ts';
import type { Events } from '../fleet/events.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { tagsIn } from '../fleet/labels.ts';
import type { Codes } from '../stores/codes.ts';
import type { Denied } from '../stores/denied.ts';
import { useStatement } from '../stores/renewals.ts';
import type { PolicyMaker } from './policy.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Paths of the API, which a node's id must not be. */
const NO_NODES: ReadonlySet<string> = new Set(['stream', 'clusters']);

export interface EnrolmentOptions {
  readonly db: Queries;
  readonly authority: Authority;
  readonly fleetId: string;
  readonly brokers: BrokerUrls;
  readonly fleet: Fleet;
  readonly events: Events;
  readonly codes: Codes;
  readonly denied: Denied;
  readonly policy: PolicyMaker;
  readonly rules: BrokerRules;
  /** Whether an operator or a sign-in still counts. */
  readonly isThere: (id: string) => Promise<boolean>;
  /** A node that is enrolled already enrols again: whoever has its code takes its place. */
  readonly onReplaced: (node: string, by: string) => void;
  /** Wall clock, ms. */
  readonly now: () => number;
}

/**
 * How nodes come, stay and go. A node that enrols again has a new key, and the hub believes only that one: in renewals, and for
 * those who ask it which key signs the replies. Its earlier certificate has the same name, so the broker takes it until it ends;
 * what it says there is noticed as a second machine.
 */
export class Enrolment {
  readonly #options: EnrolmentOptions;

  constructor(options: EnrolmentOptions) {
    this.#options = options;
  }

  /** @throws ApiError E_CODE, E_INVALID_VALUE; then the code is still good */
  async enroll(request: EnrollRequest): Promise<Enrolled> {
    const { db, codes, fleet, denied, events, rules } = this.#options;
    const { secret, device_id: id, csr } = request;
    const code = await codes.find(secret);
    // It ends with whoever made it: their sign-in, their group, their right.
    if (code === null || !(await this.#options.isThere(code.by))) throw noCode();
    if (!isNodeId(id) || NO_NODES.has(id)) throw invalid('/device_id', `${id} cannot be the id of a node`);
    const certificate = await this.#certify(id, csr);
    const isReplaced = await db.transaction().execute(async (on) => {
      if (!(await codes.use(secret, on))) throw noCode();
      await this.#checkReach(code, id, on);
      if (code.replaces !== null && code.replaces !== id)
        throw new ApiError('E_CODE', `This code is for ${code.replaces} alone.`);
      const wasThere = await fleet.store(request, tagsBy(code, id), on);
      if (wasThere && code.replaces !== id)
        throw new ApiError(
          'E_CODE',
          `${id} is enrolled already. Its place takes who has a code for it alone: svc-hub code --node ${id}, by an operator with the scope destructive.`,
        );
      await events.forget(id, on);
      await denied.remove(id, on);
      return wasThere;
    });
    if (isReplaced) this.#options.onReplaced(id, code.by);
    await fleet.reload(id);
    await rules.apply();
    return this.#answer(id, certificate);
  }

  /**
   * A new certificate for an enrolled node. @throws ApiError E_UNAUTHENTICATED, E_CLOCK, E_INVALID_VALUE
   */
  async renew(jws: string): Promise<{ readonly node: string; readonly answer: Enrolled }> {
    const { db, fleet, now } = this.#options;
    const { node, csr, at, jti } = await this.#believed(jws);
    checkClock(at, now());
    const certificate = await this.#certify(node, csr);
    // Again with the node's present key: it may have been removed meanwhile.
    if (!fleet.has(node)) throw unknownKey();
    await useUp(db, node, jti, now());
    return { node, answer: await this.#answer(node, certificate) };
  }

  /** Replaces what rights go by. @throws ApiError E_NOT_FOUND */
  async tag(id: string, tags: NodeTags): Promise<void> {
    const { db, fleet } = this.#options;
    const isThere = await db.transaction().execute(async (on) => fleet.tag(id, tags, on));
    if (!isThere) throw new ApiError('E_NOT_FOUND', `There is no node ${id}.`);
    await fleet.reload(id);
  }

  /** @throws the database's error; or that of the rules, and then the node is gone, but not cut off before the next start */
  async remove(id: string): Promise<void> {
    const { db, fleet, denied, events, rules } = this.#options;
    await db.transaction().execute(async (on) => {
      await fleet.erase(id, on);
      await denied.add([id], on);
      await events.forget(id, on);
    });
    await fleet.reload(id);
    await rules.apply();
  }

  /**
   * A code by tags enrols a new node, or one that has a tag of it now. One that was removed has events of its own, which a node of
   * the same name must not bring to others: it comes back by its name or by the whole fleet. @throws ApiError E_CODE
   */
  async #checkReach(code: Reach, id: string, on: Queries): Promise<void> {
    const { denied } = this.#options;
    if (code.nodes === null || code.nodes.includes(id)) return;
    const tags = await tagsIn(on, id);
    const isIn =
      tags === null ? code.tags.length > 0 && !(await denied.has(id, on)) : sees(code, id, labelsOf(tags));
    if (!isIn) throw new ApiError('E_CODE', `This code does not enrol ${id}.`);
  }

  async #believed(jws: string): Promise<Renew> {
    const { fleet } = this.#options;
    try {
      const claimed = claimedNode(jws);
      const { payload } = await verifyStatement('svc-renew', jws, () => fleet.keyOf(claimed));
      return payload;
    } catch (error) {
      if (error instanceof NotBelieved) throw unknownKey();
      throw error;
    }
  }

  async #certify(id: string, csr: string): Promise<string> {
    const { authority, now } = this.#options;
    try {
      return await issueCertificate(authority, csr, { client: id }, now());
    } catch (error) {
      throw invalid('/csr', messageOf(error));
    }
  }

  async #answer(node: string, certificate: string): Promise<Enrolled> {
    const { fleetId: fleet, brokers, authority, policy } = this.#options;
    return {
      fleet,
      node,
      ...brokers,
      ca: authority.certificate,
      certificate,
      policy: await policy.current(),
    };
  }
}

/** What a new node has: the tags of the code, and the first group. One that the code names has none. */
function tagsBy({ nodes, tags }: Reach, id: string): NodeTags {
  if (nodes?.includes(id) === true) return { tags: [], group: null };
  const group = tags.find((tag) => tag.startsWith(GROUP))?.slice(GROUP.length) ?? null;
  return { tags: tags.filter((tag) => !tag.startsWith(GROUP)).slice(0, MAX_TAGS), group };
}

/** @param at of a statement, seconds @throws ApiError E_CLOCK */
export function checkClock(at: number, now: number): void {
  if (Math.abs(at * 1000 - now) <= DAY_MS) return;
  throw new ApiError('E_CLOCK', "The node's clock and the hub's differ by more than a day. Set them right.");
}

/** A statement of a node counts once. @throws ApiError E_INVALID_VALUE */
export async function useUp(db: Queries, node: string, jti: string, now: number): Promise<void> {
  if (!(await useStatement(db, { node, jti, at: now }, now - 2 * DAY_MS)))
    throw invalid('/statement', 'it was used already; sign a new one');
}

/** Who a statement says that it is by, before that is verified. */
export function claimedNode(jws: string): string {
  try {
    const value: unknown = parseJson(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString('utf8'));
    if (typeof value === 'object' && value !== null && 'node' in value) return String(value.node);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new NotBelieved('no statement');
}

function noCode(): ApiError {
  return new ApiError('E_CODE', 'This code is wrong, was used already or has expired. Ask for a new one.');
}

export function unknownKey(): ApiError {
  return new ApiError(
    'E_UNAUTHENTICATED',
    'This is not signed by the key of an enrolled node. Enrol it again.',
  );
}

function invalid(path: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `${path.slice(1)}: ${message}.`, {
    violations: [{ path, message }],
  });
}
