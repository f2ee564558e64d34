import type { Principal, PrincipalKind } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import { personCode } from '../../../shared/person-code.ts';
import { plainText } from '../../../shared/plain-text.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';

const CODE_LENGTH = 8;
const WAITING_MS = 120_000;
/** As long as the signature of `svc operator confirm` is good. */
const SIGNED_MS = 60_000;
/** More than a person could look at. */
const MAX_EACH = 4;
const MAX_ALL = 32;
/** A person, or who may do what a person may: a token never signs, whatever it holds. */
const SIGNERS: ReadonlySet<PrincipalKind> = new Set<PrincipalKind>(['key', 'local', 'session']);

type Shown = MadeAnswer<'confirmations.id.get'>;

/** What an asker says of a call. */
export interface Asked {
  readonly tool: string;
  readonly args: unknown;
  readonly summary?: string | undefined;
  readonly place?: Shown['place'] | undefined;
  readonly call_hash: string;
}

interface Entry extends Omit<Shown, 'expires_in_s' | 'state'> {
  readonly owner: string;
  /** Whether who asked still holds what he asked with. */
  readonly isHeld: () => boolean;
  state: Shown['state'];
  /** Monotonic ms. */
  ends: number;
  signer: { readonly name: string; readonly isHeld: () => boolean } | null;
}

interface ConfirmationsOptions {
  /** ms */
  readonly monotonic: () => number;
  /** Whether a principal is still one, asked whenever it counts. */
  readonly holds: (principal: Principal) => () => boolean;
  /** What people call a token; empty: nothing. */
  readonly labelOf: (id: string) => string;
}

/**
 * Calls of programs that wait for a person at this node, in memory alone: a restart forgets them, so nobody has signed. Who asked sees and
 * uses his own; a person sees all. Everything that is not sure is no signature.
 */
export class Confirmations {
  readonly #options: ConfirmationsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ConfirmationsOptions) {
    this.#options = options;
  }

  /** The oldest of the same asker makes room. @throws ApiError E_RATE_LIMITED while others have taken all */
  file({ tool, args, summary, place = null, call_hash }: Asked, principal: Principal): Shown {
    this.#sweep();
    const owner = ownerOf(principal);
    const own = [...this.#entries.values()].filter((each) => each.owner === owner);
    const [oldest] = own;
    if (oldest !== undefined && own.length >= MAX_EACH) this.#entries.delete(oldest.code);
    if (this.#entries.size >= MAX_ALL)
      throw new ApiError(
        'E_RATE_LIMITED',
        'Too many calls wait for a person. Try again in a minute.',
        {},
        {
          'retry-after': '60',
        },
      );
    const entry: Entry = {
      code: this.#newCode(),
      owner,
      isHeld: this.#options.holds(principal),
      state: 'waiting',
      tool,
      args: plainText(JSON.stringify(args)),
      summary: summary === undefined ? null : summary.split('\n').map(plainText).join('\n'),
      place,
      call_hash,
      asked_by: this.#nameOf(principal.id),
      ends: this.#options.monotonic() + WAITING_MS,
      signer: null,
    };
    this.#entries.set(entry.code, entry);
    return this.#shown(entry);
  }

  list(principal: Principal): readonly Shown[] {
    this.#sweep();
    return [...this.#entries.values()]
      .filter((entry) => maySee(entry, principal))
      .toReversed()
      .map((entry) => this.#shown(entry));
  }

  /** @throws ApiError E_NOT_FOUND */
  get(code: string, principal: Principal): Shown {
    return this.#shown(this.#find(code, principal));
  }

  /** Once. @throws ApiError E_SCOPE, E_NOT_FOUND, E_BUSY, E_CONFIRM where another call was looked at */
  sign(
    code: string,
    { agree, call_hash }: { agree: boolean; call_hash: string },
    principal: Principal,
  ): Shown {
    if (!SIGNERS.has(principal.kind))
      throw new ApiError('E_SCOPE', 'A person signs, with PIN or pairing key.');
    const entry = this.#find(code, principal);
    if (entry.call_hash !== call_hash)
      throw new ApiError('E_CONFIRM', 'This is another call. Look at it again.');
    if (entry.state !== 'waiting') throw new ApiError('E_BUSY', 'This call has its answer already.');
    entry.state = agree ? 'signed' : 'refused';
    entry.signer = { name: principal.id, isHeld: this.#options.holds(principal) };
    entry.ends = this.#options.monotonic() + SIGNED_MS;
    return this.#shown(entry);
  }

  /** Uses the signature up, whatever comes of the call. @throws ApiError E_NOT_FOUND, E_CONFIRM */
  use(code: string, hash: string, principal: Principal): { readonly signed_by: string } {
    const entry = this.#find(code, principal);
    const { state, signer, call_hash, owner } = entry;
    if (owner !== ownerOf(principal)) throw new ApiError('E_NOT_FOUND', 'No such call waits here.');
    if (call_hash !== hash) throw new ApiError('E_CONFIRM', 'What was signed is another call.');
    if (state !== 'signed' || signer === null)
      throw new ApiError('E_CONFIRM', `Nobody has signed this call: ${state}.`);
    this.#entries.delete(code);
    return { signed_by: signer.name };
  }

  #find(code: string, principal: Principal): Entry {
    this.#sweep();
    const entry = this.#entries.get(code);
    if (entry === undefined || !maySee(entry, principal))
      throw new ApiError(
        'E_NOT_FOUND',
        'No such call waits here: it has expired, was used, or the node has restarted.',
      );
    return entry;
  }

  /** What has expired, and what somebody asked or signed who is nobody any more. */
  #sweep(): void {
    const now = this.#options.monotonic();
    for (const [code, { ends, isHeld, signer }] of this.#entries)
      if (ends <= now || !isHeld() || signer?.isHeld() === false) this.#entries.delete(code);
  }

  /** With the id, which nobody chooses. */
  #nameOf(id: string): string {
    const label = plainText(this.#options.labelOf(id));
    return label === '' ? id : `${label} (${id})`;
  }

  #newCode(): string {
    for (;;) {
      const code = personCode(CODE_LENGTH);
      if (!this.#entries.has(code)) return code;
    }
  }

  #shown({ code, state, tool, args, summary, place, call_hash, asked_by, ends }: Entry): Shown {
    const left = Math.max(0, ends - this.#options.monotonic()) / 1000;
    return { code, state, tool, args, summary, place, call_hash, asked_by, expires_in_s: Math.round(left) };
  }
}

function ownerOf({ kind, id }: Principal): string {
  return `${kind} ${id}`;
}

function maySee({ owner }: Pick<Entry, 'owner'>, principal: Principal): boolean {
  return SIGNERS.has(principal.kind) || owner === ownerOf(principal);
}
