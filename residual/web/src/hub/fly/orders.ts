import { useRef, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import type { CommandName } from '../../../../../shared/flight/command-catalogue.ts';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { type JsonObject, listOf, memberOf, recordOf } from '../../../../../shared/member.ts';
import { Refused } from '../../api/client.ts';
import { ALWAYS, type Commands, type Order } from '../../commands/orders.ts';
import { farText, refusedText } from '../../commands/refused-text.ts';
import { t } from '../../strings.ts';
import { me } from '../client.ts';
import { hub } from '../hub-words.ts';
import { callNode, prepare } from './calls.ts';
import { type Facts, readiness } from './facts.ts';
import { lacksKeys } from './keys.ts';

/** Commands to a node's vehicle, each signed by the operator's key while a button is held. */

const WANTS_ARMED: ReadonlySet<CommandName> = new Set(['disarm', 'land', 'rtl', 'stop', 'goto']);

/** @param live what the node says now; null: nothing */
export function useCommands(entry: NodeEntry, facts: Facts, live: JsonObject | null): Commands {
  const [state, setState] = useState<Pick<Commands, 'running' | 'outcome'>>({ running: null, outcome: null });
  const newest = useRef(0);
  const none = whyNone(entry, facts);
  return {
    ...state,
    ready: () => void prepare(entry).catch(() => undefined), // the call itself says why not
    give: (name, ...orders) => {
      // Nobody holds a button of a page that is not shown.
      if (document.hidden) return;
      if (state.running !== null && orders.some(({ cmd }) => !ALWAYS.has(cmd))) return;
      const mine = ++newest.current;
      setState({ running: name, outcome: null });
      void run(entry, orders, () => mine === newest.current).then((words) => {
        if (mine !== newest.current) return;
        setState({
          running: null,
          outcome:
            words === null
              ? { text: t.fly.accepted({ name }), tone: 'good' }
              : {
                  text: words === '' ? t.fly.noAnswer({ name }) : t.fly.refused({ name, words }),
                  tone: 'bad',
                },
        });
      });
    },
    // What is in the way of all stands above them, once.
    whyNot: (cmd) => (none === null ? whyNot(cmd, facts, live) : ''),
    offers: () => true,
    readiness: readiness(facts),
  };
}

/**
 * @param isWanted no later command has taken the place of this one: nobody takes off after they said stop
 * @returns null: all taken; else why not, empty where there was no answer
 */
async function run(
  entry: NodeEntry,
  orders: readonly Order[],
  isWanted: () => boolean,
): Promise<string | null> {
  for (const { cmd, args = [] } of orders) {
    if (!isWanted()) return null;
    try {
      const body = { cmd, args: [...args] };
      const answer = await callNode(entry, {
        method: 'POST',
        path: '/api/command',
        body,
        held: true,
      });
      const {
        observed,
        accepted,
        result_name: result,
        statustext,
        reasons,
        hint,
      } = recordOf(memberOf(answer, 'ack'));
      if (observed !== true) return '';
      if (accepted === true) continue;
      if (memberOf(answer, 'status') === 'unconfirmed') return t.fly.unconfirmed;
      const said = listOf(reasons).length > 0 ? listOf(reasons) : [statustext];
      return refusedText(
        typeof result === 'string' ? result : null,
        [...said, hint].filter((each) => typeof each === 'string'),
      );
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return wordsOf(error);
    }
  }
  return null;
}

function wordsOf({ code, message, extras }: Refused): string {
  if (code === 'E_TOO_FAR') return farText(extras);
  // A call that may have reached the node must not look as if it had not.
  return (code === 'E_AWAY' || code === 'E_TIMEOUT') && extras['sent'] !== false
    ? `${message} ${hub.fly.maybe}`
    : message;
}

/** What stands between this person and every command; null: nothing. */
export function whyNone(entry: NodeEntry, { key, listedAs, scopes }: Facts): string | null {
  const why = hub.fly.why;
  const lack = lacksKeys();
  if (me.value !== null && !me.value.scopes.includes('flight')) return why.rights;
  if (lack !== null) return hub.keys.lacks[lack];
  if (key === null) return hub.keys.none;
  if (!entry.online) return why.offline;
  if (listedAs === undefined) return why.notListed;
  if (scopes !== null && !scopes.includes('flight')) return why.noFlight;
  return null;
}

/** Why it cannot be given now; null: it can. @param live what the node says now; null: nothing */
function whyNot(cmd: CommandName, facts: Facts, live: JsonObject | null): string | null {
  const why = t.fly.why;
  const { alive, armed, phase } = seenIn(live);
  if (live === null || !alive) return ALWAYS.has(cmd) ? null : hub.fly.why.silent;
  // Its heartbeats stay away, and everything else comes: the vehicle decides.
  if (armed === null) return null;
  if (WANTS_ARMED.has(cmd)) return armed ? null : why.disarmed;
  if (cmd === 'takeoff' && phase === 'in_air') return why.flying;
  if (cmd === 'arm' && armed) return why.armed;
  const ready = (cmd === 'arm' || cmd === 'takeoff') && !armed ? readiness(facts) : null;
  return ready?.canArm === false && ready.first === null
    ? why.prearm({ words: ready.reasons.join('; ') })
    : null;
}
